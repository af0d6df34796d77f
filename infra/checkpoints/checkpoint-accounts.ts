/**
 * Reads the positions of all accounts for a checkpoint file, and finds the accounts of a file that have gone back since.
 *   A1. A file's accounts come from one snapshot of the database.
 *   A2. An account never goes back: its sequence and version only grow, and its entries never change.
 */
import type postgres from 'postgres'
import { column } from '../postgres/connection/array-literal.ts'
import { type LogState, readLogState } from '../log/log-state.ts'
import { ACCOUNT_COLUMNS, type AccountRow, openAccount } from '../postgres/rows/account-document.ts'
import { fetchKeys } from '../postgres/rows/opened-rows.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { AccountPoint } from './checkpoint-file.ts'

const BATCH_ROWS = 2_000

export interface Moment {
  readonly asOfMs: number
  readonly log: LogState
}

interface PointRow {
  readonly shard_id: number
  readonly account_id: string
  readonly sequence: string
  readonly version: string
  readonly tip: string
}

/** Passes all accounts to `take` in batches, ordered by shard and reference, from one snapshot (A1). */
export async function readAccounts(
  sql: postgres.Sql,
  take: (points: readonly AccountPoint[]) => Promise<void>,
): Promise<Moment> {
  return sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    const [row] = await transaction<{ now: Date }[]>`SELECT now() AS now`
    const log = await readLogState(transaction)
    const batches = transaction<PointRow[]>`
      SELECT shard_id, account_id, sequence, version, encode(tip, 'hex') AS tip
        FROM accounts ORDER BY shard_id, account_id`.cursor(BATCH_ROWS)
    for await (const rows of batches) await take(rows.map(pointFrom))
    return { asOfMs: row?.now.getTime() ?? 0, log }
  })
}

function pointFrom(row: PointRow): AccountPoint {
  return {
    shardId: row.shard_id,
    accountRef: row.account_id,
    sequence: Number(row.sequence),
    version: Number(row.version),
    tip: row.tip,
  }
}

export interface AccountRegression {
  readonly accountRef: string
  /** null: the row is gone or cannot be decrypted. */
  readonly accountId: string | null
  readonly problem: string
}

interface FoundRow {
  readonly sequence: string | null
  readonly version: string | null
  readonly audit_hash: string | null
}

/** In the order of the points. */
const FOUND = `
SELECT a.sequence, a.version, encode(e.audit_hash, 'hex') AS audit_hash
  FROM unnest($1::integer[], $2::text[], $3::bigint[]) WITH ORDINALITY AS g (shard_id, account_id, sequence, place)
  LEFT JOIN accounts a ON a.shard_id = g.shard_id AND a.account_id = g.account_id
  LEFT JOIN LATERAL (
    SELECT audit_hash FROM chain_entries e
     WHERE e.shard_id = g.shard_id AND e.account_id = g.account_id AND e.sequence = g.sequence LIMIT 1) e ON true
 ORDER BY g.place`

/** Finds the accounts that have gone back since the points were recorded (A2). */
export async function findRegressions(
  sql: postgres.Sql,
  vault: RowVault,
  points: readonly AccountPoint[],
): Promise<readonly AccountRegression[]> {
  const rows = await sql.unsafe<FoundRow[]>(FOUND, [
    column('integer', points, ({ shardId }) => shardId),
    column('text', points, ({ accountRef }) => accountRef),
    column('bigint', points, ({ sequence }) => sequence),
  ])
  const wrong = points.flatMap((point, index) => {
    const problem = problemOf(point, rows[index])
    return problem === undefined ? [] : [{ point, problem }]
  })
  if (wrong.length === 0) return []
  const ids = await idsOf(
    sql,
    vault,
    wrong.map(({ point }) => point),
  )
  return wrong.map(({ point: { accountRef }, problem }) => {
    return { accountRef, accountId: ids.get(accountRef) ?? null, problem }
  })
}

function problemOf(point: AccountPoint, found: FoundRow | undefined): string | undefined {
  const { sequence, version, tip } = point
  if (found === undefined || found.sequence === null || found.version === null) return 'it is gone'
  const now = Number(found.sequence)
  if (now < sequence) return `it ended with entry ${sequence} and ends with entry ${now} now`
  if (found.audit_hash === null) return `its entry ${sequence} is gone`
  if (found.audit_hash !== tip) return `its entry ${sequence} has changed`
  if (Number(found.version) < version) {
    return `its row was version ${version} and is version ${found.version} now, with the same entries`
  }
  return undefined
}

/** Account IDs by reference. Accounts without a readable row are left out. */
export async function idsOf(
  sql: postgres.Sql,
  vault: RowVault,
  points: readonly Pick<AccountPoint, 'shardId' | 'accountRef'>[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.unsafe<AccountRow[]>(
    `SELECT ${ACCOUNT_COLUMNS} FROM accounts a
      JOIN unnest($1::integer[], $2::text[]) AS g (shard_id, account_id)
        ON g.shard_id = a.shard_id AND g.account_id = a.account_id`,
    [column('integer', points, ({ shardId }) => shardId), column('text', points, ({ accountRef }) => accountRef)],
  )
  await fetchKeys(
    sql,
    rows.map((row) => accountKeyName(row.account_id)),
    vault,
  )
  const ids = new Map<string, string>()
  for (const row of rows) {
    try {
      ids.set(row.account_id, openAccount(row, vault).accountId)
    } catch {
      // The report names this account by its reference only.
    }
  }
  return ids
}
