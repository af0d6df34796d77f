/**
 * Fills a migrated ledger that is empty with accounts, as the ledger itself would have written them: for tests and
 * benchmarks. Nobody may serve the ledger meanwhile.
 *   L1. Every row is made by the ledger's own code: commands read and stepped, entries hashed, receipts signed with its
 *       receipt key, columns described as for commits. Only the way into the tables is another.
 *   L2. A ledger that has anything in it, or whose shards have owners, is refused.
 *   L3. Each table is filled in one transaction. A load that fails between their commits leaves a ledger that L2 refuses.
 */
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'
import { openLedgerSecrets } from '../../../infra/main/ledger-secrets.ts'
import { connect } from '../../../infra/postgres/connection.ts'
import { readLedgerAt } from '../../../infra/postgres/migrate.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../../../infra/postgres/service-keys-postgres.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { createAccountSource, type LoadSetup } from './account-source.ts'
import { fillTables, type FillingTimes } from './fill-tables.ts'
import type { LoadSums } from './load-chunk.ts'
import { LoadPlan, type LoadSpan } from './load-plan.ts'
import { type LoadShape, shapeOf } from './load-shape.ts'
import { type AccountMaker, defaultThreads, inPlace, startThread } from './load-threads.ts'
import { noteSums, refuseUnlessEmpty, settleTables } from './loaded-ledger.ts'
import { type SharedKey, sharedKeys } from './shared-keys.ts'

export interface LoadOptions extends Partial<LoadShape> {
  /** A migrated database. */
  readonly url: string
  /** That the ledger was made with. */
  readonly masterKey: WrappingKeys
  /** How far back the first registration lies, unless the receipt key in use is younger. */
  readonly spanMs?: number
  /** Who registers and submits everything. */
  readonly clientId?: string
  /** That make accounts, beside this one that copies; 0: this one does both. */
  readonly threads?: number
  /** A line about how far it is, every few seconds. */
  readonly say?: (line: string) => void
}

export interface LoadedLedger {
  /** Names of accounts and tokens, by number. */
  readonly plan: LoadPlan
  /** In the order of `plan.keyNumberOf`. */
  readonly keys: readonly SharedKey[]
  readonly span: LoadSpan
  /** What is in the ledger now. */
  readonly sums: LoadSums
  readonly times: LoadTimes
}

export interface LoadTimes extends FillingTimes {
  /** Statistics for the planner, and a checkpoint. */
  readonly settleMs: number
  readonly totalMs: number
}

const DEFAULT_SPAN_MS = 30 * 86_400_000
const DEFAULT_CLIENT = 'loader'

/** Throws a RangeError for a shape that cannot be, an error that says why where the ledger is refused (L2). */
export async function loadLedger(options: LoadOptions): Promise<LoadedLedger> {
  const { url, masterKey, spanMs = DEFAULT_SPAN_MS, clientId = DEFAULT_CLIENT, threads = defaultThreads() } = options
  const startedMs = performance.now()
  const shape = shapeOf(options)
  const ledger = await readLedgerAt(url)
  if (ledger === undefined) throw new Error('the database has no ledger of this schema in it')
  await refuseUnlessEmpty(url)
  const endMs = Date.now()
  const wantedMs = endMs - spanMs
  const clock = { ...createSystemClock(), now: () => wantedMs }
  const secrets = openLedgerSecrets({ current: masterKey, previous: [] }, ledger)
  const keys = await createServiceKeys({ url, seals: secrets.serviceKeys, clock })
  const { receiptKeyId, activeFromMs } = receiptKeyOf(keys, endMs)
  const span: LoadSpan = { startMs: Math.max(wantedMs, activeFromMs), endMs }
  const setup: LoadSetup = { shape, span, ledger, masterKey, receiptKeyId, clientId }
  const source = createAccountSource(setup, keys)
  const makers: AccountMaker[] = []
  const connection = await connect({ url, applicationName: 'load keys' })
  try {
    for (let thread = 0; thread < threads; thread += 1) makers.push(startThread({ setup, url }))
    if (threads === 0) makers.push(inPlace(source))
    const plan = new LoadPlan(shape)
    const { say = () => undefined } = options
    const founded = source.founders(connection.sql)
    const { sums, times } = await fillTables({ url, shape, founded, founders: plan.founders, makers, say })
    await noteSums(url, secrets.vault, sums, span)
    const settleStartedMs = performance.now()
    await settleTables(url)
    const endedMs = performance.now()
    return {
      plan,
      keys: sharedKeys(shape.seed, shape.keys),
      span,
      sums,
      times: { ...times, settleMs: endedMs - settleStartedMs, totalMs: endedMs - startedMs },
    }
  } finally {
    await Promise.all([...makers.map((maker) => maker.close()), keys.close(), connection.end()])
  }
}

/** The one that nodes would sign with. */
function receiptKeyOf(keys: PostgresServiceKeys, nowMs: number) {
  const [key] = keys
    .published()
    .filter(
      ({ purpose, activeFromMs, retiredAtMs }) =>
        purpose === 'receipt' && activeFromMs <= nowMs && retiredAtMs === null,
    )
    .sort((one, other) => other.activeFromMs - one.activeFromMs)
  if (key === undefined) throw new Error('the ledger has no receipt key in use')
  return { receiptKeyId: key.keyId, activeFromMs: key.activeFromMs }
}
