/** GET /v1/accounts/{id}/state: the tip of the account's chain, while its shard is served (D15). */
import { accountRead } from '../../endpoint/path-values.ts'
import { showHash } from '../../../actors/audit-chain.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { HealthState } from '../../../runtime/ports/shard-health.ts'
import { noSuchAccount, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { accountStateResponse } from '../../schemas/responses/account.ts'

export const getAccountState: Endpoint = {
  id: 'getAccountState',
  method: 'GET',
  path: '/v1/accounts/:accountId/state',
  summary: 'Get the end of an account’s audit chain',
  description: 'A 503 means that the shard of the account has no owner at this moment; balances are still served.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The state.', content: accountStateResponse }],
  refusals: {
    ERR_SHARD_UNAVAILABLE: 'The shard of the account has no owner at this moment.',
    ERR_NO_HEALTHY_SHARDS: 'No shard of the ledger has an owner at this moment.',
  },
  handle: accountRead(async (accountId, { reads, shardHealth }) => {
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
  }),
}

const SERVED: ReadonlySet<HealthState> = new Set(['healthy', 'draining'])
