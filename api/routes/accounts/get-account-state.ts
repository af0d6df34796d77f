/** GET /v1/accounts/{id}/state: the tip of the account's chain, while its shard is served (D15). */
import { accountRead } from '../../endpoint/account-read.ts'
import { showHash } from '../../../actors/audit-chain.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { HealthState } from '../../../runtime/ports/shard-health.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { noSuchAccount, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import type { GuardedRoute } from '../../endpoint/route.ts'

const SERVED: ReadonlySet<HealthState> = new Set(['healthy', 'draining'])

export function getAccountState({ reads, shardHealth }: EdgeDependencies): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/state', [], async (accountId) => {
    const account = await reads.account(accountId)
    if (account === undefined) return noSuchAccount()
    const shard = await shardHealth.shard(account.shardId)
    if (shard === undefined || !SERVED.has(shard.healthState)) {
      return unavailableProblem((await reads.anyShardOwned()) ? 'shard_unavailable' : 'no_healthy_shards', null)
    }
    return jsonReply(200, {
      account_id: account.accountId,
      audit_hash: showHash(account.auditHash),
      updated_at: isoTimestamp(account.updatedAtMs),
    })
  })
}
