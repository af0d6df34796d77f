/**
 * The writes of a commit's statement, one a section: each takes the rows that arrive for it, and of them only those of
 * shards that the fence let pass (F2).
 */
import { DECISION_COLUMN_NAMES } from './commit-rows-transactions.ts'
import { SECTIONS } from './commit-rows.ts'
import type { SectionName } from './commit-section.ts'

/** F2. `i` is a row that came in. */
export const FENCED = '(i.shard_id IN (SELECT fence.shard_id FROM fence)) IS TRUE'

/** F3: what is broken when a section has written another number of rows than it was asked for. */
export const DEMANDS: Readonly<Partial<Record<SectionName, string>>> = {
  changed_accounts: 'an account is not in the version that its next state was computed from',
  transaction_changes: 'a transaction is not in the state that its change was computed from',
  changed_actors: 'an actor is not in the version that its next state was computed from',
  removed_keys: 'an account that is to be erased has no data key',
  removed_actors: 'an actor is not in the version that its end was computed from',
  sent: 'a message does not follow the last one that was sent',
  marks: 'a mark does not lie above the one before',
}

/** `arriving`: a table `i` of the section's rows. Of sections in `DEMANDS`, a row comes back for each row written. */
export function writeOf(name: SectionName, arriving: string): string {
  switch (name) {
    case 'changed_accounts':
      return update('accounts', name, ['account_id'], arriving)
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
    case 'transaction_changes':
      return changeTransactions(arriving)
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
    case 'transactions':
    case 'operations':
    case 'nft_events':
    case 'outbox':
      return insertInto(name, name, arriving)
  }
}

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

/** I1b: every column but the key is the next state's. */
function update(table: string, name: SectionName, key: readonly string[], arriving: string): string {
  const changes = columnsOf(name).filter((column) => column !== 'previous_version' && !key.includes(column))
  return `UPDATE ${table} t
   SET ${changes.map((column) => `${column} = i.${column}`).join(', ')}
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

/**
 * A final state follows `pending` alone, and what is compensated was not. A pending transaction has null in every
 * column that its decision sets, `status` and perhaps `details` excepted, so that nothing is lost by `coalesce`.
 * `+ 0` leaves the planner no index but that of the ID: while the table is empty, the others that lead with `shard_id`
 * promise as little.
 */
function changeTransactions(arriving: string): string {
  const changes = [...DECISION_COLUMN_NAMES, 'compensated_by']
  return `UPDATE transactions t
   SET ${changes.map((column) => `${column} = coalesce(i.${column}, t.${column})`).join(', ')}
  FROM ${arriving}
 WHERE ${FENCED}
   AND t.txn_id = i.txn_id AND t.shard_id + 0 = i.shard_id
   AND (i.status IS NULL OR t.status = 'pending')
   AND (i.compensated_by IS NULL OR t.compensated_by IS NULL)
RETURNING t.shard_id`
}
