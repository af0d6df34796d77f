/** A ledger with transactions of every kind, its exports, and the view of the receiver of an export. */
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { WHOLE_SCOPE } from '../../actors/account-scope.ts'
import type { ExportRecord } from '../../api/schemas/requests/export-records.ts'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import { decryptBalance, decryptKeySalt } from '../../infra/keys/balance-jwe.ts'
import type { PrivateKeyOf } from '../../infra/keys/compact-jwe.ts'
import { checkExport } from '../../infra/portability/export-check.ts'
import {
  createLedgerExports,
  type ExportsOptions,
  type PostgresExports,
} from '../../infra/portability/export-postgres.ts'
import type { AttestationStore } from '../../runtime/ports/attestation-store.ts'
import { createAttestationStore } from '../../infra/postgres/access/attestation-store-postgres.ts'
import { createLedgerReads } from '../../infra/postgres/reads/ledger-reads-postgres.ts'
import { newAttestationId } from '../../api/routes/attestations/create-attestation.ts'
import { createSystemRandom } from '../../infra/system/random-system.ts'
import { actorKey } from '../../actors/address.ts'
import type { LedgerReads } from '../../runtime/ports/ledger-reads.ts'
import { type BegunExport, type ExportOrder, ExportsUnavailable } from '../../runtime/ports/ledger-exports.ts'
import type { LogFields } from '../../runtime/ports/log.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Told,
} from '../support/audited-ledger.ts'
import { Closing } from '../support/closing.ts'
import { DEFAULT_SHARD_COUNT } from '../support/postgres/ledger-database.ts'
import { AUDIENCE, RECIPIENT } from '../unit/portability/export-scene.ts'

export interface ExportsLedger extends AuditedLedger {
  readonly exports: PostgresExports
  readonly parties: Parties
  readonly told: Told
  readonly reads: LedgerReads
  readonly attestations: AttestationStore
  readonly logged: readonly LogLine[]
  readonly exportsWith: (options: Partial<Pick<ExportsOptions, 'longestMs' | 'vault' | 'gateway'>>) => PostgresExports
}

interface LogLine {
  readonly event: string
  readonly fields: LogFields
}

export const EXPORTS_LOG_KEY = Buffer.alloc(32, 6)
export const OTHER_LEDGER = '7d3c1b34-0d9a-4a52-8a5e-3f0a5e2f7a10'

export const ORDER: ExportOrder = {
  caller: { clientId: 'operations', role: 'admin', boundary: true },
  trail: { requestId: 'request' },
  scope: WHOLE_SCOPE,
  accountIds: null,
  mode: 'copy',
  audience: AUDIENCE,
  recipient: RECIPIENT.key,
  requester: 'Example Operations Ltd',
}

/** Provides a ledger to the tests of a file or `describe`, after `prepare`. */
export function withExportsLedger(prepare?: (ledger: ExportsLedger) => Promise<void>): () => ExportsLedger {
  let open: ExportsLedger | undefined
  beforeAll(async () => {
    open = await createExportsLedger()
    await prepare?.(open)
  })
  afterAll(() => open?.close())
  return () => {
    if (open === undefined) throw new Error('there is no ledger')
    return open
  }
}

/** The code, field and text of a refused export; the kind of any other. */
export function outcomeOf(begun: BegunExport): string {
  return begun.kind === 'refused' ? `${begun.code} ${begun.field ?? '-'}: ${begun.detail}` : begun.kind
}

async function createExportsLedger(): Promise<ExportsLedger> {
  const closing = new Closing()
  return closing.unlessStarted(async () => {
    const ledger = await createAuditedLedger()
    closing.add(ledger.close)
    const { url, ledgerId, node, vault } = ledger
    // The key is that of `lone-node.ts`.
    const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
    const homeOf = (actor: Parameters<typeof actorKey>[0]): number => shardOf(actorKey(actor))
    const reads = createLedgerReads({ url, ledgerId, shardOf, homeOf, vault })
    closing.add(reads.close)
    const attestations = createAttestationStore({ url, homeOf, vault })
    closing.add(attestations.close)
    const logged: LogLine[] = []
    const note = (event: string, fields: LogFields = {}): void => void logged.push({ event, fields })
    const exportsWith: ExportsLedger['exportsWith'] = (options) => {
      const made = createLedgerExports({
        url,
        ledgerId,
        shardOf,
        vault,
        saltKey: Buffer.alloc(32, 5),
        logKey: EXPORTS_LOG_KEY,
        serviceKeys: node.keys,
        gateway: node.gateway,
        clock: { now: () => Date.now() },
        log: { info: note, warn: note, error: note },
        ...options,
      })
      closing.add(() => Promise.resolve(made.close()))
      return made
    }
    const parties = new Parties(ledger)
    const told = await everythingOnce(parties, 'told')
    return {
      ...ledger,
      exports: exportsWith({}),
      parties,
      told,
      reads,
      attestations,
      logged,
      exportsWith,
      close: () => closing.close(),
    }
  })
}

let stated = 0

/** Attests an NFT. */
export async function attest(
  { attestations }: ExportsLedger,
  nftId: string,
  attester: string,
  statement = 'It is in good condition.',
): Promise<string> {
  const [subjectClass = '', subjectInstance = ''] = nftId.split('/')
  stated += 1
  const createdAtMs = 1_760_000_000_000 + stated
  const attestationId = newAttestationId(createSystemRandom(), createdAtMs)
  await attestations.create(
    {
      attestationId,
      attester,
      subjectClass,
      subjectInstance,
      attestationType: 'condition',
      statement,
      evidenceUrl: null,
      submittedBy: 'tester',
      attesterVerified: false,
      createdAtMs,
      seal: { keyId: 'key', signature: 'c2lnbmVk' },
      revocation: null,
    },
    null,
  )
  return attestationId
}

/** Throws if the export is refused or does not complete. */
export async function contentOf(exports: PostgresExports, order: Partial<ExportOrder> = {}): Promise<string> {
  const begun = await begunOnce(exports, { ...ORDER, ...order })
  if (begun.kind !== 'begun') throw new Error(JSON.stringify(begun))
  return text(begun.content)
}

/** Like a client, begins anew if PostgreSQL was too slow. */
async function begunOnce(exports: PostgresExports, order: ExportOrder): Promise<BegunExport> {
  for (;;) {
    try {
      return await exports.begin(order)
    } catch (error) {
      if (!(error instanceof ExportsUnavailable)) throw error
    }
  }
}

type RecordOf<Kind extends ExportRecord['record']> = Extract<ExportRecord, { readonly record: Kind }>

/** The records of an export as its receiver reads them, after a check of all proofs. */
export class Received {
  readonly text: string
  private readonly records: readonly ExportRecord[]

  private constructor(text: string, records: readonly ExportRecord[]) {
    this.text = text
    this.records = records
  }

  static async of({ ledgerId, node }: ExportsLedger, text: string): Promise<Received> {
    const lines = text.slice(0, -1).split('\n')
    const checked = await checkExport(given(lines), { ledgerId, keys: node.keys.published() })
    if (!checked.ok) throw new Error(`line ${checked.problem.line}: ${checked.problem.problem}`)
    return new Received(
      text,
      lines.map((line) => JSON.parse(line) as ExportRecord),
    )
  }

  all<Kind extends ExportRecord['record']>(kind: Kind): readonly RecordOf<Kind>[] {
    return this.records.filter((record): record is RecordOf<Kind> => record.record === kind)
  }

  account(accountId: string): RecordOf<'account'> {
    const found = this.all('account').find(({ account_id: id }) => id === accountId)
    if (found === undefined) throw new Error(`${accountId} is not there`)
    return found
  }

  /** By token. */
  balances(accountId: string): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.account(accountId).balances.map(({ token_id: tokenId, encrypted_balance: jwe }) => {
        const balance = decryptBalance(privateKeyOf, { accountId, tokenId }, jwe)
        if (balance === undefined) throw new Error(`the balance of ${accountId} in ${tokenId} does not open`)
        return [tokenId, balance]
      }),
    )
  }

  keySalt(): string {
    const [ledger] = this.all('ledger')
    return decryptKeySalt(privateKeyOf, ledger?.encrypted_key_salt ?? '') ?? ''
  }

  usedKeys(accountId: string): ReadonlySet<string> {
    return new Set(this.all('used_keys').flatMap(({ account_id: id, hashes }) => (id === accountId ? hashes : [])))
  }
}

const privateKeyOf: PrivateKeyOf = (keyId) => (keyId === RECIPIENT.key.keyId ? RECIPIENT.privateKey : undefined)

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
