/** Reads the state of a shard for its new owner: separate statements, each after the acquire (D5). */
import type { ActorKind } from '../../../actors/address.ts'
import { timeOfTransactionId, transactionIdFloor } from '../../../actors/identifiers.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type {
  ChannelStart,
  DueActor,
  InboxMark,
  OutboxMessage,
  ShardStart,
  WrittenEnvelope,
} from '../../../runtime/ports/ledger-store.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import type { Sql } from '../connection/connection.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { prepared } from '../connection/prepared.ts'

/** `$2`: from which ID on. */
export const LAST_TRANSACTION = `
SELECT txn_id FROM (SELECT txn_id, shard_id FROM all_transactions WHERE txn_id >= $2 ORDER BY txn_id DESC OFFSET 0) lately
 WHERE shard_id = $1::integer LIMIT 1`

const NEWEST_TRANSACTION = 'SELECT txn_id, now() AS now FROM all_transactions ORDER BY txn_id DESC LIMIT 1'

/**
 * How far an ID of a shard may lie before the newest of all, or before now, and still matter, milliseconds: IDs begin with
 * the time of their node, and clocks of nodes lie half a second off that of the store at most.
 */
const LATELY_MS = 5_000

/**
 * The receivers' known high-water marks: saved acknowledgements, or their own marks if this server has them. A mark above
 * the sent counter is ignored: the two sides find out.
 */
const KNOWN = `
  FROM outbox_channels c
  LEFT JOIN outbox_acknowledgements a ON a.shard_id = c.shard_id AND a.target_shard = c.target_shard
  LEFT JOIN inbox_marks r ON r.shard_id = c.target_shard AND r.source_shard = c.shard_id AND r.mark <= c.sent`
const ACKNOWLEDGED = 'greatest(a.acknowledged, r.mark, 0)'

/** Counters of messages stay far below 2^53. */
export const CHANNELS = `
SELECT c.target_shard AS target, c.sent::float8 AS sent, ${ACKNOWLEDGED}::float8 AS acknowledged${KNOWN}
 WHERE c.shard_id = $1::integer
 ORDER BY c.target_shard`

export const MARKS = `
SELECT source_shard AS source, mark::float8 AS mark FROM inbox_marks WHERE shard_id = $1::integer ORDER BY source_shard`

/** Channel by channel: what was acknowledged long ago may still be there, and is not walked through. */
export const UNACKNOWLEDGED = `
SELECT c.target_shard, o.number, o.message${KNOWN}
 CROSS JOIN LATERAL (
   SELECT m.number, m.message FROM outbox m
    WHERE m.shard_id = c.shard_id AND m.target_shard = c.target_shard AND m.number > ${ACKNOWLEDGED}
    ORDER BY m.number) o
 WHERE c.shard_id = $1::integer
 ORDER BY c.target_shard, o.number`

export async function openShard(sql: Sql, shardId: number, vault: RowVault): Promise<ShardStart> {
  const [lastTransactionId, channels, marks, outbox] = await Promise.all([
    lastTransaction(sql, shardId),
    prepared<ChannelStart>(sql, CHANNELS, [shardId]),
    prepared<InboxMark>(sql, MARKS, [shardId]),
    unacknowledged(sql, shardId, vault),
  ])
  return { lastTransactionId, channels, marks, outbox }
}

/** Null where the shard has given none lately: every ID that it will give comes after those that it gave before. */
async function lastTransaction(sql: Sql, shardId: number): Promise<string | null> {
  const [newest] = await prepared<{ readonly txn_id: string; readonly now: Date }>(sql, NEWEST_TRANSACTION, [])
  const newestMs = newest === undefined ? undefined : timeOfTransactionId(newest.txn_id)
  if (newest === undefined || newestMs === undefined) return null
  const parameters = [shardId, transactionIdFloor(Math.min(newestMs, newest.now.getTime()) - LATELY_MS)]
  const [row] = await prepared<{ readonly txn_id: string }>(sql, LAST_TRANSACTION, parameters)
  return row?.txn_id ?? null
}

interface OutboxRow {
  readonly target_shard: number
  readonly number: string
  readonly message: Buffer
}

/** Throws UnreadableRow: a shard whose messages cannot be read is not served. */
async function unacknowledged(sql: Sql, shardId: number, vault: RowVault): Promise<OutboxMessage[]> {
  const name = shardKeyName(shardId)
  await vault.keys.fetch(sql, [name])
  const rows = await prepared<OutboxRow>(sql, UNACKNOWLEDGED, [shardId])
  return rows.map((row) => ({
    target: row.target_shard,
    number: Number(row.number),
    envelope: openJson<WrittenEnvelope>(
      vault,
      name,
      PLACES.message(shardId, row.target_shard, Number(row.number)),
      row.message,
    ),
  }))
}

/** The longest due of each shard first, then of all. */
export const DUE = `
SELECT i.shard_id, d.kind, d.actor_id, d.due_at
  FROM unnest($1::integer[]) AS i (shard_id)
 CROSS JOIN LATERAL (
   SELECT a.kind, a.actor_id, a.due_at FROM actors a
    WHERE a.shard_id = i.shard_id AND a.due_at <= $2::timestamptz
    ORDER BY a.due_at LIMIT $3::integer) d
 ORDER BY d.due_at, i.shard_id, d.kind, d.actor_id
 LIMIT $3::integer`

interface DueRow {
  readonly shard_id: number
  readonly kind: ActorKind
  readonly actor_id: string
  readonly due_at: Date
}

export async function dueActors(
  sql: Sql,
  shardIds: readonly number[],
  untilMs: number,
  limit: number,
): Promise<DueActor[]> {
  if (shardIds.length === 0) return []
  const parameters = [arrayLiteral('integer', shardIds), isoTimestamp(untilMs), limit]
  const rows = await prepared<DueRow>(sql, DUE, parameters)
  return rows.map((row) => ({
    shardId: row.shard_id,
    address: { kind: row.kind, id: row.actor_id },
    dueAtMs: row.due_at.getTime(),
  }))
}
