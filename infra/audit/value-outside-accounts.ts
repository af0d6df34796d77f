/**
 * Reads the value that no account has: messages in transit, the supplies of tokens, and the sums of external accounts.
 * Also reads what remains of active holds, which their payers reserve.
 */
import type { HoldState } from '../../actors/hold/state.ts'
import type { Envelope } from '../../actors/message.ts'
import type { TokenState } from '../../actors/token/state.ts'
import type { BoundaryCrossing, WrittenEnvelope } from '../../runtime/ports/ledger-store.ts'
import { WIRE } from '../../runtime/protocol/wire.ts'
import { type ActorRow, keyNameOfActorRow, stateOf } from '../postgres/rows/actor-documents.ts'
import { type CrossingsRow, openCrossings } from '../postgres/rows/boundary-crossings.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { Moment } from './audit-reads.ts'
import { type Opened, opened } from './opened.ts'

export type ValueSource = Pick<Moment, 'inBatches' | 'fetchKeys' | 'vault'>

/** `place`: names the row in findings. */
export type TakeRow<T> = (place: string, row: Opened<T>) => void

/**
 * Skips channels without undelivered messages, and reads the others from their mark by index. `OFFSET 0` forces this plan:
 * the outbox holds the messages of a week, and only a few are in transit.
 */
const UNDELIVERED = `
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

/** Messages in transit: their receiver has not processed them yet. */
export function readUndelivered({ inBatches, fetchKeys, vault }: ValueSource, take: TakeRow<Envelope>): Promise<void> {
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

export const TOKEN_COLUMNS = 'shard_id, kind, actor_id, version, class_id, status, document'
const TOKENS = `SELECT ${TOKEN_COLUMNS} FROM actors WHERE kind = 'token'`

export interface TokenRow extends ActorRow {
  readonly status: string
}

/** Its shard's key must have been fetched. Throws UnreadableRow. */
export function openToken(row: TokenRow, vault: RowVault): TokenState {
  const state = stateOf('token', row, vault)
  const { status, id, version } = state
  if (status === row.status && id === row.actor_id && version === Number(row.version)) return state
  const place = PLACES.actor(row.shard_id, row.kind, row.actor_id, Number(row.version))
  throw new UnreadableRow(place, 'its columns are not what was sealed')
}

export function readTokens({ inBatches, fetchKeys, vault }: ValueSource, take: TakeRow<TokenState>): Promise<void> {
  return inBatches<TokenRow>(TOKENS, [], async (rows) => {
    await fetchKeys(rows.map(keyNameOfActorRow))
    for (const row of rows) {
      const token = opened(() => openToken(row, vault))
      take(`token ${row.actor_id}`, token)
    }
  })
}

const HOLDS = `
SELECT shard_id, kind, actor_id, version, class_id, status, document FROM actors WHERE kind = 'hold' AND status = 'active'`

export function readActiveHolds({ inBatches, fetchKeys, vault }: ValueSource, take: TakeRow<HoldState>): Promise<void> {
  return inBatches<ActorRow>(HOLDS, [], async (rows) => {
    await fetchKeys(rows.map(keyNameOfActorRow))
    for (const row of rows) {
      const hold = opened(() => stateOf('hold', row, vault))
      take(`hold ${row.actor_id}`, hold)
    }
  })
}

const CROSSINGS = 'SELECT session, number, shards, document FROM boundary_crossings'

/** Credits and debits of external accounts. */
export async function readCrossings(
  { inBatches, fetchKeys, vault }: ValueSource,
  take: TakeRow<readonly BoundaryCrossing[]>,
): Promise<void> {
  await fetchKeys([LEDGER_KEY_NAME])
  await inBatches<CrossingsRow>(CROSSINGS, [], async (rows) => {
    for (const row of rows) {
      const crossings = opened(() => openCrossings(row, vault))
      take(`boundary crossing ${row.session} ${row.number}`, crossings)
    }
  })
}
