/** Reads messages in transit: their receiver has not processed them yet. */
import type { Envelope } from '../../actors/message.ts'
import type { WrittenEnvelope } from '../../runtime/ports/ledger-store.ts'
import { WIRE } from '../../runtime/protocol/wire.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { shardKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { Moment } from './audit-reads.ts'
import { type Opened, opened } from './opened.ts'

/**
 * Skips channels without undelivered messages, and reads the others from their mark by index. `OFFSET 0` forces this plan:
 * the outbox holds the messages of a week, and only a few are in transit.
 */
export const UNDELIVERED = `
SELECT o.shard_id, o.target_shard, o.number, o.message
  FROM outbox_channels c
  LEFT JOIN inbox_marks m ON m.shard_id = c.target_shard AND m.source_shard = c.shard_id
 CROSS JOIN LATERAL (
   SELECT * FROM outbox w
    WHERE w.shard_id = c.shard_id AND w.target_shard = c.target_shard AND w.number > coalesce(m.mark, 0)
    ORDER BY w.number OFFSET 0) o
 WHERE c.sent > coalesce(m.mark, 0)`

interface MessageRow {
  readonly shard_id: number
  readonly target_shard: number
  readonly number: string
  readonly message: Buffer
}

/** `place`: names the message in findings. */
export type TakeMessage = (place: string, envelope: Opened<Envelope>) => void

export function readUndelivered(
  { inBatches, fetchKeys, vault }: Pick<Moment, 'inBatches' | 'fetchKeys' | 'vault'>,
  take: TakeMessage,
): Promise<void> {
  return inBatches<MessageRow>(UNDELIVERED, [], async (rows) => {
    await fetchKeys(rows.map((row) => shardKeyName(row.shard_id)))
    for (const { shard_id: source, target_shard: target, number, message } of rows) {
      const place = PLACES.message(source, target, Number(number))
      const envelope = opened(() => {
        const read = WIRE.readEnvelope(openJson<WrittenEnvelope>(vault, shardKeyName(source), place, message))
        if (read === undefined) throw new UnreadableRow(place, 'this release does not read its version or type')
        return read
      })
      take(`message ${number} from shard ${source} to shard ${target}`, envelope)
    }
  })
}
