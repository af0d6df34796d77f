/** GET /v1/accounts/{id} (D2). */
import { accountRead } from '../account-read.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import type { GuardedRoute } from '../route.ts'
import { accountMembers } from '../views.ts'

export function getAccount({ reads, jwkOf }: EdgeDependencies): GuardedRoute {
  return accountRead('/v1/accounts/:accountId', [], async (accountId) => {
    const account = await reads.account(accountId)
    return account === undefined ? noSuchAccount() : jsonReply(200, accountMembers(account, jwkOf))
  })
}
