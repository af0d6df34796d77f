/** Settlement groups, from their documents; and unregistered group IDs, from their transactions. */
import { groupAddress } from '../../../actors/address.ts'
import { type GroupView, groupViewOf } from '../../../actors/group/state.ts'
import { isUuid } from '../../../actors/identifiers.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, stateOf } from '../rows/actor-documents.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { renameParties } from './erased-names.ts'
import type { Reading } from './reading.ts'
import { prepared } from '../connection/prepared.ts'

const GROUP = `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'group' AND a.actor_id = $2`

const USED = `
SELECT EXISTS (
         SELECT FROM unnest($1::uuid[]) AS r (ref)
          CROSS JOIN LATERAL (SELECT FROM all_transactions WHERE group_id = r.ref OFFSET 0) of_ref) AS used`

export async function readGroup(reading: Reading, groupId: string): Promise<GroupView | undefined> {
  if (!isUuid(groupId)) return undefined
  const group = await findGroup(reading, groupId)
  const [found] = await renameParties(reading.names, group === undefined ? [] : [group])
  return found
}

function findGroup({ pool, vault, homeOf }: Reading, groupId: string): Promise<GroupView | undefined> {
  const address = groupAddress(groupId)
  const home = homeOf(address)
  return pool.run(async (sql) => {
    const registered = async (): Promise<GroupView | undefined> => {
      const [row] = await prepared<ActorRow>(sql, GROUP, [home, address.id])
      return row === undefined ? undefined : groupViewOf(stateOf('group', row, vault))
    }
    await fetchKeys(sql, [shardKeyName(home)], vault)
    const found = await registered()
    if (found !== undefined) return found
    const refs = arrayLiteral('uuid', vault.groupRefs(address.id))
    const [uses] = await prepared<{ readonly used: boolean }>(sql, USED, [refs])
    if (uses?.used !== true) return undefined
    // It may have been registered, and used, since the first look.
    return (await registered()) ?? linkedView(address.id)
  })
}

function linkedView(groupId: string): GroupView {
  return {
    groupId,
    status: 'linked',
    termsHash: null,
    legs: [],
    compensations: [],
    partialFailures: [],
    createdAtMs: null,
    dueAtMs: null,
    finishedAtMs: null,
    failure: null,
  }
}

/** A group that is ending counts as open until all its accounts have done their part. */
export async function readOpenGroups({ pool }: Reading, clientId: string): Promise<number> {
  const [row] = await pool.run(
    (sql) => sql<{ readonly open: string }[]>`
      SELECT count(*) AS open FROM actors
       WHERE client_id = ${clientId} AND kind = 'group' AND status NOT IN ('settled', 'reverted', 'linked')`,
  )
  return Number(row?.open ?? 0)
}
