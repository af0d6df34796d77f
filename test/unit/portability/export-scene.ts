/** A complete export as the ledger makes it, and functions that forge it. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { type PublicKey, readPublicKey } from '../../../infra/keys/public-key.ts'
import { encryptBalance, encryptKeySalt } from '../../../infra/keys/balance-jwe.ts'
import { type ExportKeys, checkExport, type ExportVerdict } from '../../../infra/portability/export-check.ts'
import { ExportLines, proofLine, type RecordBody } from '../../../infra/portability/export-lines.ts'
import { createFakeServiceKeys, type FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'

export const SOURCE = '5a0c0d5e-54a5-4f0e-8f63-0c8e5a7d1b11'
export const AUDIENCE = '0b8b7c62-5a0c-4f0e-9c3f-6d2b1a7e4c55'
const NOW_MS = 1_760_000_000_000
const AT = isoTimestamp(NOW_MS)
const HASH = `sha256:${'ab'.repeat(32)}`

export interface Recipient {
  readonly key: PublicKey
  readonly privateKey: KeyObject
}

export function createRecipient(): Recipient {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = readPublicKey(publicKey.export({ format: 'pem', type: 'spki' }))
  if (key === undefined) throw new Error('The key was not read.')
  return { key, privateKey }
}

export const RECIPIENT = createRecipient()

export function anAccount(accountId: string, balances: Readonly<Record<string, string>> = {}): RecordBody {
  return {
    record: 'account',
    account_id: accountId,
    status: 'active',
    incoming: 'accept',
    public_key: null,
    balances: Object.entries(balances).map(([tokenId, balance]) => ({
      token_id: tokenId,
      encrypted_balance: encryptBalance(RECIPIENT.key, { accountId, tokenId }, balance),
    })),
    txn_count: 3,
    audit_hash: HASH,
    created_at: AT,
    updated_at: AT,
  }
}

export function ledgerBody(ledgerId = SOURCE): RecordBody {
  return {
    record: 'ledger',
    format: 1,
    ledger_id: ledgerId,
    audience: AUDIENCE,
    mode: 'copy',
    partial: true,
    exported_at: AT,
    encrypted_key_salt: encryptKeySalt(RECIPIENT.key, '0123456789abcdef0123456789abcdef'),
  }
}

export const TOKEN_BODY: RecordBody = {
  record: 'token',
  symbol: 'GOLD',
  decimals: 2,
  issuer: 'mint',
  initial_supply: '10',
  total_supply: '15',
  created_at: AT,
}

export const USED_KEYS_BODY: RecordBody = {
  record: 'used_keys',
  account_id: 'alice',
  part: 0,
  hashes: ['A'.repeat(43)],
}

export const BODIES: readonly RecordBody[] = [
  ledgerBody(),
  TOKEN_BODY,
  anAccount('alice', { GOLD: '5' }),
  USED_KEYS_BODY,
  anAccount('bob', { GOLD: '5' }),
  anAccount('carol', { GOLD: '5' }),
]

export interface MadeExport {
  /** Without line feeds. */
  readonly lines: readonly string[]
  readonly keys: FakeServiceKeys
}

/** Keys of the ledger that signs. */
export function createKeys(): FakeServiceKeys {
  return createFakeServiceKeys(NOW_MS - 1_000)
}

export async function makeExport(
  bodies: readonly RecordBody[] = BODIES,
  keys: FakeServiceKeys = createKeys(),
  ledgerId = SOURCE,
): Promise<MadeExport> {
  const lines = new ExportLines()
  const texts = bodies.map((body) => lines.add(body))
  const order = { audience: AUDIENCE, requester: 'Example Operations Ltd' }
  texts.push(await proofLine(lines, order, { ledgerId, serviceKeys: keys, clock: { now: () => NOW_MS } }))
  return { lines: texts.map((text) => text.trimEnd()), keys }
}

export function jwksOf(keys: FakeServiceKeys, ledgerId: string | undefined = SOURCE): ExportKeys {
  return { ledgerId, keys: keys.published() }
}

export function check(lines: readonly string[], keys: ExportKeys): Promise<ExportVerdict> {
  return checkExport(given(lines), keys)
}

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
