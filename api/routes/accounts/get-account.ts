/** GET /v1/accounts/{id} (D2). */
import { accountRead } from '../../endpoint/account-read.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import type { GuardedRoute } from '../../endpoint/route.ts'
import { accountMembers } from '../../views/views.ts'

export function getAccount({ reads, jwkOf }: EdgeDependencies): GuardedRoute {
  return accountRead('/v1/accounts/:accountId', [], async (accountId) => {
    const account = await reads.account(accountId)
    return account === undefined ? noSuchAccount() : jsonReply(200, accountMembers(account, jwkOf))
  })
}
