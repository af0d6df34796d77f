/** Steps that tests of the ledger store on PostgreSQL begin with. */
import { expect } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import type { CommitVerdict, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { openAccount, partOf } from '../../support/postgres/ledger-rows.ts'
import type { PostgresSession } from '../../support/postgres/ledger-store-postgres.ts'

/** The verdict that exactly these shards were committed. */
export const only = (...shardIds: readonly number[]): CommitVerdict => ({
  kind: 'answered',
  committed: new Set(shardIds),
})

export async function own({ store }: Pick<PostgresSession, 'store'>, shardId: number): Promise<ShardToken> {
  const result = await store.acquire(shardId, 0, 1)
  if (result.kind !== 'owned') throw new Error(`shard ${shardId} was not acquired`)
  return result.token
}

export async function opened(
  { store }: PostgresSession,
  token: ShardToken,
  accountId = 'alice',
): Promise<AccountState> {
  const change = openAccount(token.shardId, accountId)
  expect(await store.commit({ shards: [partOf(token, change)] })).toEqual(only(token.shardId))
  return change.account
}
