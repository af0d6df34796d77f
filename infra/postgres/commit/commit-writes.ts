/**
 * The writes of a commit's statement, one a section: each takes the rows that arrive for it, and of them only those of
 * shards that the fence let pass (F2).
 */
import type { TRANSACTION_SECTIONS } from './commit-rows-transactions.ts'
import { SECTIONS } from './commit-rows.ts'
import type { SectionName } from './commit-section.ts'

/** F2. `i` is a row that came in. */
export const FENCED = '(i.shard_id IN (SELECT fence.shard_id FROM fence)) IS TRUE'

/** F3: what is broken when a section has written another number of rows than it was asked for. */
export const DEMANDS: Readonly<Partial<Record<SectionName, string>>> = {
  changed_accounts: 'an account is not in the version that its next state was computed from',
  pending_transactions: 'a pending transaction has the idempotency key of one that has ended',
  pending_holds: 'a transaction whose hold has changed is not pending',
  ended_transactions: 'a transaction that has ended was not pending',
  compensations: 'a transaction that was compensated is not there, or was compensated before',
  changed_actors: 'an actor is not in the version that its next state was computed from',
  removed_keys: 'an account that is to be erased has no data key',
  removed_actors: 'an actor is not in the version that its end was computed from',
  sent: 'a message does not follow the last one that was sent',
  marks: 'a mark does not lie above the one before',
}

/** `arriving`: a table `i` of the section's rows. Of sections in `DEMANDS`, a row comes back for each row written. */
export function writeOf(name: SectionName, arriving: string, sections: readonly SectionName[]): string {
  switch (name) {
    case 'changed_accounts':
      return update('accounts', name, ['account_id'], arriving, ['lasting_version', 'lasting'])
    case 'changed_actors':
      return update('actors', name, ['kind', 'actor_id'], arriving)
    case 'new_accounts':
      return insertInto('accounts', name, arriving)
    case 'new_actors':
      return insertInto('actors', name, arriving)
    case 'new_channels':
      return insertInto('outbox_channels', name, arriving)
    case 'balances':
      return upsert(name, name, ['account_id', 'token_id'], arriving)
    case 'holds':
      return upsert(name, name, ['account_id', 'hold_id'], arriving)
    case 'marks':
      return `${upsert('inbox_marks', name, ['source_shard'], arriving)}
 WHERE inbox_marks.mark < excluded.mark
RETURNING shard_id`
    case 'transactions':
    case 'pending_transactions':
    case 'pending_holds':
    case 'ended_transactions':
    case 'compensations':
      return writeOfTransactions(name, arriving, sections)
    case 'removed_actors':
      return `${deleteFrom('actors', ['kind', 'actor_id'], arriving)} AND t.version = i.previous_version
RETURNING t.shard_id`
    case 'removed_holds':
      return deleteFrom('holds', ['account_id', 'hold_id'], arriving)
    case 'removed_balances':
      return deleteFrom('balances', ['account_id'], arriving)
    case 'removed_keys':
      return `${deleteFrom('data_keys', ['scope', 'ref'], arriving)}
RETURNING t.shard_id`
    case 'sent':
      return `UPDATE outbox_channels t
   SET sent = i.sent
  FROM ${arriving}
 WHERE ${FENCED}
   AND ${equal(['target_shard'])} AND t.sent = i.sent_before
RETURNING t.shard_id`
    case 'data_keys':
    case 'account_keys':
    case 'audit_entries':
    case 'operations':
    case 'nft_events':
    case 'outbox':
      return insertInto(name, name, arriving)
  }
}

function writeOfTransactions(
  name: keyof typeof TRANSACTION_SECTIONS,
  arriving: string,
  sections: readonly SectionName[],
): string {
  switch (name) {
    case 'transactions':
      return insertFinal(arriving, sections.includes('ended_transactions'))
    case 'pending_transactions':
      return `${insertInto(name, name, arriving)}
   AND ${KEY_UNUSED}
RETURNING txn_id`
    case 'pending_holds':
      return `UPDATE pending_transactions t
   SET hold = i.hold
  FROM ${arriving}
 WHERE ${FENCED}
   AND ${SAME_TRANSACTION}
RETURNING t.shard_id`
    case 'ended_transactions':
      return `DELETE FROM pending_transactions t
 USING ${arriving}
 WHERE ${FENCED}
   AND ${SAME_TRANSACTION}
RETURNING t.shard_id, t.txn_id, t.entered_xid`
    case 'compensations':
      return `UPDATE transactions t
   SET compensated_by = i.compensated_by
  FROM ${arriving}
 WHERE ${FENCED}
   AND ${SAME_TRANSACTION} AND t.compensated_by IS NULL
RETURNING t.shard_id`
  }
}

/**
 * `+ 0` leaves the planner no index but that of the ID: while the table is empty, the others that lead with `shard_id` promise as
 * little.
 */
const SAME_TRANSACTION = 't.txn_id = i.txn_id AND t.shard_id + 0 = i.shard_id'

/** No unique index spans both tables. A key that a pending transaction has already is refused when that transaction ends. */
const KEY_UNUSED = `NOT EXISTS (
     SELECT FROM transactions f
      WHERE f.shard_id = i.shard_id AND f.account_id = i.account_id AND f.idempotency_key = i.idempotency_key)`

function columnsOf(name: SectionName): string[] {
  return SECTIONS[name].columns.map((column) => column.name)
}

/** `t` is the row that is there. */
function equal(key: readonly string[]): string {
  return ['shard_id', ...key].map((column) => `t.${column} = i.${column}`).join(' AND ')
}

function insertInto(table: string, name: SectionName, arriving: string): string {
  const columns = ['shard_id', ...columnsOf(name)]
  return `INSERT INTO ${table} (${columns.join(', ')})
SELECT ${columns.map((column) => `i.${column}`).join(', ')}
  FROM ${arriving}
 WHERE ${FENCED}`
}

function upsert(table: string, name: SectionName, key: readonly string[], arriving: string): string {
  const changes = columnsOf(name).filter((column) => !key.includes(column))
  return `${insertInto(table, name, arriving)}
ON CONFLICT (shard_id, ${key.join(', ')}) DO UPDATE
  SET ${changes.map((column) => `${column} = excluded.${column}`).join(', ')}`
}

/** I1b: every column but the key is the next state's. `kept`: columns of which null leaves what is there. */
function update(
  table: string,
  name: SectionName,
  key: readonly string[],
  arriving: string,
  kept: readonly string[] = [],
): string {
  const changes = columnsOf(name).filter((column) => column !== 'previous_version' && !key.includes(column))
  return `UPDATE ${table} t
   SET ${changes.map((column) => `${column} = ${kept.includes(column) ? `coalesce(i.${column}, t.${column})` : `i.${column}`}`).join(', ')}
  FROM ${arriving}
 WHERE ${FENCED}
   AND ${equal(key)} AND t.version = i.previous_version
RETURNING t.shard_id`
}

function deleteFrom(table: string, key: readonly string[], arriving: string): string {
  return `DELETE FROM ${table} t
 USING ${arriving}
 WHERE ${FENCED}
   AND ${equal(key)}`
}

/** One that was pending keeps the number of the commit that entered it. */
function insertFinal(arriving: string, withEnded: boolean): string {
  const columns = ['shard_id', ...columnsOf('transactions')]
  const entered = withEnded ? 'coalesce(e.entered_xid, pg_current_xact_id())' : 'pg_current_xact_id()'
  const ended = withEnded ? ' LEFT JOIN ended_transactions_written e ON e.txn_id = i.txn_id' : ''
  return `INSERT INTO transactions (${columns.join(', ')}, entered_xid)
SELECT ${columns.map((column) => `i.${column}`).join(', ')}, ${entered}
  FROM ${arriving}${ended}
 WHERE ${FENCED}
RETURNING txn_id, entered_xid`
}

/** The row of the log of commits: the transactions that the commit entered and ended; none without any. */
export function noteOf(sections: readonly SectionName[]): string {
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
