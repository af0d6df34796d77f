/**
 * Ways to write the rows of a section: each takes the rows that arrive for it, and of them only those of shards that the
 * fence let pass (F2).
 */
import type { Write } from './commit-section.ts'

/** F2. `i` is a row that came in. */
export const FENCED = '(i.shard_id IN (SELECT fence.shard_id FROM fence)) IS TRUE'

/** `further`: conditions, and what it returns. `derived`: values of further columns. */
export function insertInto(into: string, further = '', derived: Readonly<Record<string, string>> = {}): Write {
  return ({ columns, table }) => `INSERT INTO ${into} (${[...columns, ...Object.keys(derived)].join(', ')})
SELECT ${[...columns.map((column) => `i.${column}`), ...Object.values(derived)].join(', ')}
  FROM ${table}
 WHERE ${FENCED}${further}`
}

export function upsert(into: string, key: readonly string[], further = ''): Write {
  const keys = ['shard_id', ...key]
  return (arriving) => {
    const changes = arriving.columns.filter((column) => !keys.includes(column))
    return `${insertInto(into)(arriving)}
ON CONFLICT (${keys.join(', ')}) DO UPDATE
  SET ${changes.map((column) => `${column} = excluded.${column}`).join(', ')}${further}`
  }
}

/** `same`: a condition on `t`, the row that is there, and `i`. */
export function update(target: string, changes: string, same: string): Write {
  return ({ table }) => `UPDATE ${target} t
   SET ${changes}
  FROM ${table}
 WHERE ${FENCED}
   AND ${same}
RETURNING t.shard_id`
}

/**
 * I1b: every column but the key is the next state's. `kept`: columns of which null leaves what is there. `derived`: further
 * assignments.
 */
export function nextVersion(
  target: string,
  key: readonly string[],
  { kept = [], derived = [] }: { readonly kept?: readonly string[]; readonly derived?: readonly string[] } = {},
): Write {
  const isChange = (column: string): boolean => !['shard_id', 'previous_version', ...key].includes(column)
  const next = (column: string): string =>
    kept.includes(column) ? `coalesce(i.${column}, t.${column})` : `i.${column}`
  return (arriving) => {
    const changes = arriving.columns.filter(isChange).map((column) => `${column} = ${next(column)}`)
    return update(target, [...changes, ...derived].join(', '), `${equal(...key)} AND ${SAME_VERSION}`)(arriving)
  }
}

export function deleteFrom(target: string, same: string, returned = ''): Write {
  return ({ table }) => `DELETE FROM ${target} t
 USING ${table}
 WHERE ${FENCED}
   AND ${same}${returned}`
}

/** The columns of the primary key of `t`, after `shard_id`. */
export function equal(...key: readonly string[]): string {
  return ['shard_id', ...key].map((column) => `t.${column} = i.${column}`).join(' AND ')
}

export const SAME_VERSION = 't.version = i.previous_version'

/** The row of the log of commits: the transactions that the commit entered and ended; none without any. */
export function noteOf(sections: readonly string[]): string {
  const idsOf = (written: string): string => `(SELECT array_agg(w.txn_id ORDER BY w.txn_id) FROM ${written} w)`
  const [pending, ended] = sections.includes('pending_transactions')
    ? [idsOf('pending_transactions_written'), idsOf('ended_transactions_written')]
    : ['NULL::text[]', 'NULL::text[]']
  const final = idsOf('(SELECT txn_id FROM transactions_written WHERE entered_xid = pg_current_xact_id())')
  return `INSERT INTO commits (final, pending, ended)
SELECT coalesce(n.final, '{}'), coalesce(n.pending, '{}'), coalesce(n.ended, '{}')
  FROM (SELECT ${final} AS final, ${pending} AS pending, ${ended} AS ended) n
 WHERE n.final IS NOT NULL OR n.pending IS NOT NULL OR n.ended IS NOT NULL`
}
