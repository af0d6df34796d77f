/**
 * Fills a migrated ledger that is empty with accounts, as the ledger itself would have written them: for tests and
 * benchmarks. No node may serve the ledger meanwhile.
 *   L1. Every row is made by the ledger's own code: commands read and stepped, entries hashed, receipts signed with its
 *       receipt key, columns described as for commits. Each batch is a commit with a transaction number of its own, and the
 *       log has all of them. Only the way into the tables is another.
 *   L2. A ledger that has anything in it, or whose shards have owners, is refused.
 *   L3. Each table is filled in one transaction. A load that fails between their commits leaves a ledger that L2 refuses.
 */
import { receiptPayload } from '../../../actors/account/receipt.ts'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import { BASE_UNIT, formatQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'
import { openLedgerSecrets } from '../../../infra/ledger/ledger-secrets.ts'
import { arrayLiteral } from '../../../infra/postgres/connection/array-literal.ts'
import { crossingsOf } from '../../../infra/postgres/rows/boundary-crossings.ts'
import { connect, type Sql } from '../../../infra/postgres/connection/connection.ts'
import { readLedger } from '../../../infra/postgres/migrations/migrate.ts'
import { PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../../../infra/postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { createSystemRandom } from '../../../infra/system/random-system.ts'
import { LEDGER_KEY_NAME } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { ShardDraft } from '../../../runtime/node/shard/draft.ts'
import { processedIn, rowsOf } from '../../../runtime/node/commit/rows.ts'
import type { BoundaryCrossing, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { AccountDrafts } from './account-drafts.ts'
import { copyTextOf, type TableRows } from './copy-text.ts'
import { extendLog } from './loaded-log.ts'
import { type LoadShape, type LoadSpan, shapeOf } from './load-plan.ts'
import { type SharedKey, sharedKeys } from './shared-keys.ts'
import { TableLoads } from './table-load.ts'

export interface LoadOptions extends Partial<LoadShape> {
  /** A migrated database. */
  readonly url: string
  /** That the ledger was made with. */
  readonly masterKey: WrappingKeys
  /** A line about how far it is, every few seconds. */
  readonly say?: (line: string) => void
}

export interface LoadedLedger {
  /** Those of the accounts, by turns. */
  readonly keys: readonly SharedKey[]
  /** The contents of the ledger. */
  readonly sums: LoadSums
  readonly tookMs: number
}

interface LoadSums {
  readonly accounts: number
  readonly completed: number
  readonly failed: number
  readonly boundary: readonly BoundaryCrossing[]
}

/** How far back the first registration lies, unless the receipt key in use is younger. */
const SPAN_MS = 30 * 86_400_000
/** About how many transactions are made in one piece: of more at once, more is alive when memory is cleared. */
const CHUNK_TRANSACTIONS = 300
const SAY_EVERY_MS = 3_000
const FILLED = [
  'accounts',
  'transactions',
  'commits',
  'log_head',
  'actors',
  'outbox_channels',
  'inbox_marks',
  'boundary_crossings',
]

/** Throws a RangeError for a shape that cannot be, an error that says why where the ledger is refused (L2). */
export async function loadLedger(options: LoadOptions): Promise<LoadedLedger> {
  const { url, masterKey, say = () => undefined } = options
  const startedMs = performance.now()
  const shape = shapeOf(options)
  const { sql, end } = await connect({ url, applicationName: 'load' })
  const closing: (() => Promise<void>)[] = [end]
  try {
    const ledger = await readLedger(sql)
    if (ledger === undefined) throw new Error('the database has no ledger of this schema in it')
    await refuseUnlessEmpty(sql)
    const endMs = Date.now()
    const wantedMs = endMs - SPAN_MS
    const clock = { ...createSystemClock(), now: () => wantedMs }
    const {
      serviceKeys: seals,
      shardOf,
      vault,
      derive,
    } = openLedgerSecrets({ current: masterKey, previous: [] }, ledger)
    const signing = await createServiceKeys({ url, seals, clock })
    closing.push(signing.close)
    const { keyId, activeFromMs } = receiptKeyOf(signing, endMs)
    const span: LoadSpan = { startMs: Math.max(wantedMs, activeFromMs), endMs }
    const keys = sharedKeys(shape.seed, shape.keys)
    const { ledgerId } = ledger
    const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))
    const drafts = new AccountDrafts({ shape, span, keys, ledgerId, homeOf, random: createSystemRandom() })
    const batchesOf = async (taken: readonly ShardDraft[]): Promise<readonly ShardBatch[]> => {
      const payloads = taken.flatMap(processedIn).map((transaction) => receiptPayload(transaction, ledgerId, keyId))
      const signatures = [...(await signing.sign(keyId, payloads))]
      return taken.map((draft) => rowsOf(draft, () => ({ keyId, signature: signatures.shift() ?? '' })))
    }
    const rowsOfCommit = async (taken: readonly ShardDraft[]): Promise<readonly TableRows[]> =>
      copyTextOf(await batchesOf(taken), vault, await newTransactionNumber(sql))
    const sums = await fillTables(url, shape, drafts, rowsOfCommit, say)
    await noteSums(sql, vault, sums, span)
    await extendLog({ url, ledgerId, derive, entries: sums.accounts + sums.completed, say })
    await settleTables(sql)
    return { keys, sums, tookMs: performance.now() - startedMs }
  } finally {
    await Promise.all(closing.map((close) => close()))
  }
}

/** Throws an error that says why. */
async function refuseUnlessEmpty(sql: Sql): Promise<void> {
  const [owned] = await sql`SELECT 1 FROM shards WHERE session IS NOT NULL LIMIT 1`
  if (owned !== undefined) throw new Error('the ledger is being served: stop its nodes in order')
  for (const table of FILLED) {
    const [found] = await sql`SELECT 1 FROM ${sql(table)} LIMIT 1`
    if (found !== undefined) throw new Error(`the ledger is not empty: there are rows in ${table}`)
  }
}

/** Of a transaction that writes nothing: PostgreSQL gives it to no other. */
async function newTransactionNumber(sql: Sql): Promise<string> {
  const [row] = await sql<{ xid: string }[]>`SELECT pg_current_xact_id()::text AS xid`
  if (row === undefined) throw new Error('the server gave no transaction number')
  return row.xid
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
  return key
}

async function fillTables(
  url: string,
  shape: LoadShape,
  drafts: AccountDrafts,
  textOf: (taken: readonly ShardDraft[]) => Promise<readonly TableRows[]>,
  say: (line: string) => void,
): Promise<LoadSums> {
  const tables = new TableLoads(url)
  const sums = new Sums()
  const startedMs = performance.now()
  const size = Math.max(1, Math.floor(CHUNK_TRANSACTIONS / shape.transactions))
  let saidMs = startedMs
  try {
    for (let number = 0; number < shape.accounts; number += 1) {
      drafts.add(number)
      if ((number + 1) % size !== 0 && number + 1 < shape.accounts) continue
      const taken = drafts.take()
      sums.add(taken)
      await tables.write(await textOf(taken))
      const nowMs = performance.now()
      if (nowMs - saidMs < SAY_EVERY_MS) continue
      saidMs = nowMs
      say(
        `${number + 1} of ${shape.accounts} accounts: ${Math.round(((number + 1) * 1000) / (nowMs - startedMs))} a second`,
      )
    }
    say('making the indexes ...')
    await tables.finish()
    return sums.told()
  } catch (error) {
    tables.abandon()
    throw error
  }
}

class Sums {
  private accounts = 0
  private completed = 0
  private failed = 0
  private credited: Quantity = ZERO
  private debited: Quantity = ZERO

  add(drafts: readonly ShardDraft[]): void {
    for (const { changed, transactions, boundary } of drafts) {
      this.accounts += changed.size
      this.completed += transactions.filter(({ status }) => status === 'completed').length
      this.failed += transactions.filter(({ status }) => status === 'failed').length
      for (const { credited, debited } of boundary.values()) {
        this.credited += credited
        this.debited += debited
      }
    }
  }

  told(): LoadSums {
    const { accounts, completed, failed } = this
    const [credited, debited] = [formatQuantity(this.credited), formatQuantity(this.debited)]
    return { accounts, completed, failed, boundary: [{ tokenId: BASE_UNIT, credited, debited }] }
  }
}

/** As one session that has committed all of it counts them, what crossed the boundary in one commit. */
async function noteSums(sql: Sql, vault: RowVault, sums: LoadSums, { startMs, endMs }: LoadSpan): Promise<void> {
  const session = createSystemRandom().hex(16)
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  const { shards, text } = crossingsOf(sums.boundary)
  const sealed = vault.seal(LEDGER_KEY_NAME, PLACES.crossings(session, 1), text)
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO sessions (session, node_id, started_at, probed_at)
      VALUES (${session}, 'load', ${isoTimestamp(startMs)}, ${isoTimestamp(endMs)})`
    await transaction`
      INSERT INTO shard_counts (shard_id, completed, failed)
      SELECT shard_id, sum(completed_count), sum(failed_count) FROM accounts GROUP BY shard_id`
    await transaction`
      INSERT INTO boundary_crossings (session, number, shards, document)
      VALUES (${session}, 1, ${arrayLiteral('bigint', shards)}::integer[], ${Buffer.from(sealed, 'hex')})`
  })
}

/** Statistics, and everything out of the log: what comes next pays for neither. */
async function settleTables(sql: Sql): Promise<void> {
  await sql`ANALYZE`
  const [user] = await sql<{ superuser: boolean }[]>`
    SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = current_user`
  if (user?.superuser === true) await sql`CHECKPOINT`
}
