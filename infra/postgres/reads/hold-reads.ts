/** Holds (D25), from the documents of their actors. */
import { holdAddress } from '../../../actors/address.ts'
import { type HoldState, type HoldStatus, type HoldView, holdViewOf } from '../../../actors/hold/state.ts'
import { isHoldId } from '../../../actors/identifiers.ts'
import type { HoldsPage } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { prepared } from '../connection/prepared.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { renamePayments } from './erased-names.ts'
import { type Reading, readPage, withRoom } from './reading.ts'

const HOLD = `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'hold' AND a.actor_id = $2`

export async function readHold(reading: Reading, holdId: string): Promise<HoldView | undefined> {
  if (!isHoldId(holdId)) return undefined
  const { pool, vault, homeOf, names } = reading
  const home = homeOf(holdAddress(holdId))
  const found = await pool.run(async (sql) => {
    const [row] = await prepared<ActorRow>(sql, HOLD, [home, holdId])
    if (row === undefined) return undefined
    await fetchKeys(sql, [shardKeyName(home)], vault)
    return holdViewOf(stateOf('hold', row, vault))
  })
  const [view] = await renamePayments(names, found === undefined ? [] : [found])
  return view
}

/** `owner` stands in a range, as in OWNED of nft-reads.ts. An erased account has no holds: its ID reveals no pseudonym. */
export const HOLDS = `
SELECT page.*
  FROM accounts
  LEFT JOIN LATERAL (${withRoom(
    `SELECT a.owner, a.status, ${ACTOR_ROW_COLUMNS} FROM actors a
      WHERE accounts.status <> 'erased' AND a.kind = 'hold' AND (a.owner, a.status, a.actor_id) > ($2, $3, $4) AND (a.owner, a.status) <= ($2, $3)
      ORDER BY a.owner, a.status, a.actor_id LIMIT $5`,
    'owner, status, actor_id',
    'document',
  )}) page ON true
 WHERE accounts.shard_id = $1 AND accounts.account_id = $2
 ORDER BY page.actor_id`

interface HoldRow extends ActorRow {
  readonly status: string
}

export async function readHolds(
  reading: Reading,
  accountId: string,
  status: HoldStatus,
  after: string | null,
  limit: number,
): Promise<HoldsPage | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const page = await readPage(reading, {
    text: HOLDS,
    parameters: [place.shardId, place.ref, status, after ?? ''],
    limit,
    keyOf: keyNameOfActorRow,
    open: (row: HoldRow) => holdOf(row, accountId, reading.vault),
    cursorOf: ({ id }) => id,
  })
  return page && { holds: await renamePayments(reading.names, page.items.map(holdViewOf)), next: page.next }
}

function holdOf(row: HoldRow, accountId: string, vault: RowVault): HoldState {
  const state = stateOf('hold', row, vault)
  if (state.accountId !== accountId || state.status !== row.status) {
    throw new UnreadableRow(`actors ${row.actor_id}`, 'it says that it has another payer or status')
  }
  return state
}
