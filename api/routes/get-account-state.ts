/** GET /v1/accounts/{id}/state: the tip of the account's chain, while somebody answers for its shard (D15). */
import { accountRead } from '../account-read.ts'
import { showHash } from '../../actors/audit-chain.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { noSuchAccount, unavailableProblem } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import type { GuardedRoute } from '../route.ts'

export function getAccountState({ reads }: EdgeDependencies): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/state', async (accountId) => {
    const [account, owned] = await Promise.all([reads.account(accountId), reads.shardOwned(accountId)])
    if (account === undefined) return noSuchAccount()
    if (!owned) {
      return unavailableProblem((await reads.anyShardOwned()) ? 'shard_unavailable' : 'no_healthy_shards', null)
    }
    return jsonReply(200, {
      account_id: account.accountId,
      audit_hash: showHash(account.auditHash),
      updated_at: isoTimestamp(account.updatedAtMs),
    })
  })
}
