/**
 * The administrative chain in PostgreSQL. Invariants N1 to N4 of the port, and:
 *   N5. Writers of all processes take turns, in the order in which they came (an advisory lock). One that holds a turn and hangs
 *       loses it after `TURN_MS`. Waiting is bounded: an act that could not begin within `WAIT_MS` is refused, and never
 *       recorded. Neither can one client take all places.
 *   N6. The payload is sealed for its sequence. A row that does not open, does not have its hash, or has another account than its
 *       payload, is shown without payload; the next entry continues its stored hash.
 */
import { randomBytes } from 'node:crypto'
import { GENESIS } from '../../../actors/audit-chain.ts'
import { administrativeEntry } from '../../../runtime/audit/administrative-entry.ts'
import { createSharedSlots, createSlots, SlotsExhausted } from '../../../runtime/common/slots.ts'
import {
  type AdministrativeChain,
  AdministrativeChainUnavailable,
  type AdministrativePage,
  type AdministrativeQuery,
  type AdministrativeRecord,
} from '../../../runtime/ports/administrative-chain.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import type { Sql } from '../connection/connection.ts'
import { createQueryPool } from '../connection/query-pool.ts'
import {
  type AdministrativeEntryRow,
  openAdministrativeEntry,
  sealAdministrativePayload,
} from '../rows/administrative-entry-row.ts'
import { readNowMs } from '../store/sessions.ts'

export interface PostgresAdministrativeChain extends AdministrativeChain {
  readonly close: () => Promise<void>
}

export interface AdministrativeChainOptions {
  readonly url: string
  readonly ledgerId: string
  readonly vault: RowVault
}

/** Acts of one process that wait for a connection, and of one client. */
const ACTS = { concurrency: 2, maxWaiting: 256, maxPerHolder: 64 }
const WAIT_MS = 2_000
const TURN_MS = 2_000
/** Serializes writers: any number that no other advisory lock of the ledger has. */
const APPEND_LOCK = 0x61_64_6d
const SALT_BYTES = 16

export function createAdministrativeChain(options: AdministrativeChainOptions): PostgresAdministrativeChain {
  const { url, vault } = options
  const unavailable = (message: string, cause: ErrorOptions) => new AdministrativeChainUnavailable(message, cause)
  const common = { url, unavailable }
  const settings = { lock_timeout: String(WAIT_MS), idle_in_transaction_session_timeout: String(TURN_MS) }
  // Outcomes have a connection of their own: they do not wait behind acts.
  const writing = createQueryPool({
    ...common,
    name: 'ledger administrative chain',
    size: ACTS.concurrency + 1,
    statementTimeoutMs: TURN_MS,
    settings,
  })
  const reading = createQueryPool({ ...common, name: 'ledger administrative reads', size: 1, readsOnly: true })
  const acts = createSharedSlots(ACTS)
  const outcomes = createSlots({ concurrency: 1, maxWaiting: ACTS.maxWaiting })
  const append = (recorded: AdministrativeRecord): Promise<number> =>
    writing.run(async (sql) => {
      await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
      return record(sql, options, recorded)
    })
  return {
    record: async (recorded) => {
      if (recorded.of !== null) return outcomes.run(() => append(recorded)).catch(asUnavailable)
      const cameAt = performance.now()
      const inTime = (): Promise<number> => {
        if (performance.now() - cameAt < WAIT_MS) return append(recorded)
        throw new AdministrativeChainUnavailable('The act waited too long for its turn.')
      }
      return acts.run(recorded.clientId ?? '', inTime).catch(asUnavailable)
    },
    entries: (query) =>
      reading.run(async (sql) => {
        await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
        return readEntries(sql, vault, query)
      }),
    close: async () => {
      await Promise.all([writing.close(), reading.close()])
    },
  }
}

function asUnavailable(cause: unknown): never {
  if (!(cause instanceof SlotsExhausted)) throw cause
  throw new AdministrativeChainUnavailable('Too many acts are waiting.', { cause })
}

/** N5. */
async function record(
  sql: Sql,
  { ledgerId, vault }: AdministrativeChainOptions,
  { accountId, ...recorded }: AdministrativeRecord,
): Promise<number> {
  const accountRef = accountId === null ? null : vault.accountRef(accountId)
  return await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${APPEND_LOCK})`
    const [last] = await transaction<{ sequence: string; audit_hash: Buffer }[]>`
      SELECT sequence, audit_hash FROM administrative_entries ORDER BY sequence DESC LIMIT 1`
    const { sequence, previousHash, auditHash, payload } = administrativeEntry({
      ...recorded,
      ledgerId,
      sequence: last === undefined ? 0 : Number(last.sequence) + 1,
      previousHash: last?.audit_hash.toString('hex') ?? GENESIS,
      accountRef,
      atMs: Math.floor(await readNowMs(transaction)),
      salt: randomBytes(SALT_BYTES).toString('hex'),
    })
    const document = sealAdministrativePayload(vault, sequence, payload)
    await transaction`
      INSERT INTO administrative_entries (sequence, account_id, previous_hash, audit_hash, document)
      VALUES (${sequence}, ${accountRef}, decode(${previousHash}, 'hex'), decode(${auditHash}, 'hex'),
              decode(${document}, 'hex'))`
    return sequence
  })
}

interface NoRow {
  readonly sequence: null
}

interface Counted {
  readonly total: string
}

/** In one statement: an entry that is added meanwhile is in the total if it is among the rows. */
async function readEntries(
  sql: Sql,
  vault: RowVault,
  { after, limit, accountId }: AdministrativeQuery,
): Promise<AdministrativePage> {
  const accountRef = accountId === null ? null : vault.accountRef(accountId)
  const about = accountRef === null ? sql`true` : sql`account_id = ${accountRef}`
  const rows = await sql<(Counted & (AdministrativeEntryRow | NoRow))[]>`
    SELECT c.total, e.* FROM (SELECT coalesce(max(sequence) + 1, 0) AS total FROM administrative_entries) c
      LEFT JOIN (SELECT sequence, account_id, previous_hash, audit_hash, document FROM administrative_entries
                  WHERE sequence > ${after} AND ${about} ORDER BY sequence LIMIT ${limit + 1}) e ON true
     ORDER BY e.sequence`
  const found = rows.flatMap((row) => (row.sequence === null ? [] : [row]))
  const entries = found.slice(0, limit).map((row) => openAdministrativeEntry(row, vault))
  const next = found.length > limit ? (entries.at(-1)?.sequence ?? null) : null
  return { entries, next, total: Number(rows[0]?.total ?? 0) }
}
