/** A complete export to be imported: every kind of record, signed by a trusted ledger. */
import { chainHash, GENESIS, showHash } from '../../../actors/audit-chain.ts'
import { NFT_EVENT_FORMAT } from '../../../actors/nft-instance/state.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { Caller } from '../../../actors/account/commands.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { EventRecord, ExportedAttestation } from '../../../api/schemas/requests/export-records.ts'
import type { PinnedKey, TrustedLedgers } from '../../../infra/config/trusted-ledgers.ts'
import { decryptBalance, decryptKeySalt } from '../../../infra/keys/balance-jwe.ts'
import type { RecordBody } from '../../../infra/portability/export-lines.ts'
import { createImportIntake } from '../../../infra/portability/import-intake.ts'
import type { PartContext } from '../../../infra/portability/import-part.ts'
import type { GivenRecord, ImportPart, LedgerImports } from '../../../runtime/ports/ledger-imports.ts'
import {
  anAccount,
  AUDIENCE,
  createKeys,
  ledgerBody,
  makeExport,
  RECIPIENT,
  SOURCE,
  TOKEN_BODY,
} from './export-scene.ts'
import type { FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'

export const CLASS_ID = 'cls_01K6ZZZZZZ0000000000000000'
type IntakeOptions = Parameters<typeof createImportIntake>[0]

const ATTESTATION_ID = 'att_01K6ZZZZZZ0000000000000000'
const NOW_MS = 1_760_000_000_000
export const AT = isoTimestamp(NOW_MS)

export const IMPORT_ID = '6b1c2f0a-3d47-4e58-8a69-0b1c2d3e4f50'
export const ADMIN: Caller = { clientId: 'operations', role: 'admin', boundary: true }

export function trustedOf(keys: FakeServiceKeys, changes: Partial<PinnedKey> = {}): TrustedLedgers {
  const pinned = keys.published().flatMap((key): PinnedKey[] => {
    const { purpose } = key
    return purpose === 'assertion' || purpose === 'attestation' ? [{ ...key, purpose, ...changes }] : []
  })
  return new Map([[SOURCE, pinned]])
}

export function contextOf(keys: FakeServiceKeys): PartContext {
  const privateKeyOf = (keyId: string) => (keyId === RECIPIENT.key.keyId ? RECIPIENT.privateKey : undefined)
  return {
    ledgerId: AUDIENCE,
    trusted: trustedOf(keys),
    keys: {
      openBalance: (of, jwe) => decryptBalance(privateKeyOf, of, jwe),
      openKeySalt: (jwe) => decryptKeySalt(privateKeyOf, jwe),
    },
  }
}

export function aClass(name = 'Paintings', issuer = 'alice', classId = CLASS_ID): RecordBody {
  return {
    record: 'nft_class',
    class_id: classId,
    name,
    description: 'Of the collection.',
    issuer,
    metadata_schema: { type: 'object' },
    created_at: AT,
  }
}

/** Minted to the first and passed on to those after. */
export function anInstance(instanceId: string, owners: readonly string[], burned = false): RecordBody {
  const history: EventRecord[] = []
  let previous = GENESIS
  const add = (type: EventRecord['type'], from: string | null, to: string): void => {
    const number = history.length
    const txnId = `txn_01K6ZZZZZZ000000000000000${number}`
    const payload = canonicalJson({
      class_id: CLASS_ID,
      format: NFT_EVENT_FORMAT,
      from,
      instance_id: instanceId,
      number,
      salt: 'ab'.repeat(16),
      timestamp: AT,
      to,
      txn_id: txnId,
      type,
    })
    const eventHash = chainHash(previous, payload)
    history.push({
      type,
      from,
      to,
      txn_id: txnId,
      timestamp: AT,
      previous_hash: showHash(previous),
      event_hash: showHash(eventHash),
      payload,
    })
    previous = eventHash
  }
  for (const [index, owner] of owners.entries()) {
    if (index === 0) add('mint', null, owner)
    else add('transfer', owners[index - 1] ?? null, owner)
  }
  const owner = owners.at(-1) ?? ''
  if (burned) add('burn', owner, owner)
  return {
    record: 'nft_instance',
    class_id: CLASS_ID,
    instance_id: instanceId,
    owner,
    status: burned ? 'burned' : 'active',
    metadata: { title: 'The Milkmaid' },
    minted_at: AT,
    acquired_at: AT,
    history,
  }
}

export function anAttestation(keys: FakeServiceKeys, changes: Partial<ExportedAttestation> = {}): RecordBody {
  const signed: Omit<ExportedAttestation, 'signature'> = {
    attestation_id: ATTESTATION_ID,
    attester: 'museum@example',
    subject_class: CLASS_ID,
    subject_instance: 'milkmaid',
    attestation_type: 'condition',
    statement: 'In good condition.',
    created_at: AT,
    status: 'active',
    submitted_by: 'backend',
    attester_verified: false,
    key_id: keys.current('attestation'),
    ...changes,
  }
  const signature = keys.signWith(keys.current('attestation'), canonicalJson(signed))
  return { record: 'attestation', attestation: { ...signed, signature } }
}

export function usedKeys(accountId: string, part: number, letter = 'A'): RecordBody {
  return { record: 'used_keys', account_id: accountId, part, hashes: [letter.repeat(43)] }
}

/** The issuer of GOLD, `mint`, is not among the accounts. */
export function wholeFile(keys: FakeServiceKeys): readonly RecordBody[] {
  return [
    ledgerBody(),
    TOKEN_BODY,
    aClass(),
    anInstance('milkmaid', ['alice', 'bob']),
    anInstance('nightwatch', ['bob'], true),
    anAttestation(keys),
    anAccount('alice', { GOLD: '5', BASE: '1.5' }),
    usedKeys('alice', 0),
    usedKeys('alice', 1, 'B'),
    anAccount('bob', { GOLD: '0.25' }),
  ]
}

export interface SentFile {
  readonly keys: FakeServiceKeys
  readonly records: readonly JsonObject[]
}

export async function fileOf(
  bodies: (keys: FakeServiceKeys) => readonly RecordBody[] = wholeFile,
  keys: FakeServiceKeys = createKeys(),
): Promise<SentFile> {
  const { lines } = await makeExport(bodies(keys), keys)
  return { keys, records: lines.map((line) => JSON.parse(line) as JsonObject) }
}

export function given(records: readonly JsonObject[]): readonly GivenRecord[] {
  return records.map((record) => ({ record, wellFormed: true }))
}

/** The file in parts of `size` lines. */
export function partsOf(records: readonly JsonObject[], size: number, importId = IMPORT_ID): readonly ImportPart[] {
  const count = Math.ceil(records.length / size)
  return Array.from({ length: count }, (_, part) => ({
    importId,
    part,
    records: given(records.slice(part * size, (part + 1) * size)),
    last: part === count - 1,
    caller: ADMIN,
  }))
}

/** An intake that trusts a ledger with these keys. Without `drive`, no import is driven. */
export function intakeOf(
  keys: FakeServiceKeys,
  options: Pick<IntakeOptions, 'store' | 'clock'> & Partial<Pick<IntakeOptions, 'drive'>>,
): LedgerImports {
  return createImportIntake({
    context: contextOf(keys),
    keys: { current: () => ({ keyId: '', x: '', y: '' }) },
    drive: () => Promise.resolve(),
    ...options,
  })
}
