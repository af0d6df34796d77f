/** Settlement groups, from their documents; and group IDs that nobody registered, from what was done under them. */
import { type ActorAddress, groupAddress } from '../../actors/address.ts'
import { type GroupView, groupViewOf } from '../../actors/group/state.ts'
import { isUuid } from '../../actors/identifiers.ts'
import { groupStateOf } from './actor-documents.ts'
import type { QueryPool } from './query-pool.ts'

interface GroupRow {
  /** null: the group's home knows nothing of it. */
  readonly document: string | null
  /** Whether any transaction carries the group ID. */
  readonly used: boolean
}

export async function readGroup(
  pool: QueryPool,
  groupId: string,
  homeOf: (actor: ActorAddress) => number,
): Promise<GroupView | undefined> {
  if (!isUuid(groupId)) return undefined
  const address = groupAddress(groupId)
  const [row] = await pool.run(
    (sql) => sql<GroupRow[]>`
      SELECT (SELECT document FROM actors
              WHERE shard_id = ${homeOf(address)} AND kind = 'group' AND actor_id = ${address.id}) AS document,
             EXISTS (SELECT FROM transactions WHERE group_id = ${address.id}) AS used`,
  )
  const document = row?.document ?? null
  const registered = document === null ? undefined : groupViewOf(groupStateOf(document))
  if (registered !== undefined) return registered
  return row?.used === true ? linkedView(address.id) : undefined
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
  }
}

/** What is ending counts as open until everybody has done it. */
export async function readOpenGroups(pool: QueryPool, clientId: string): Promise<number> {
  const [row] = await pool.run(
    (sql) => sql<{ readonly open: string }[]>`
      SELECT count(*) AS open FROM actors
       WHERE client_id = ${clientId} AND kind = 'group' AND status NOT IN ('settled', 'reverted', 'linked')`,
  )
  return Number(row?.open ?? 0)
}
