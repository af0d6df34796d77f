/** GET /v1/accounts/{id} (D2). */
import type { EdgeDependencies } from '../dependencies.ts'
import { checkAccountId } from '../path-values.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'
import { accountMembers } from '../views.ts'

export function getAccount({ reads, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/accounts/:accountId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const accountId = pathValue(call, 'accountId')
      const illFormed = checkAccountId(accountId)
      if (illFormed !== undefined) return illFormed
      const account = await reads.account(accountId)
      return account === undefined ? noSuchAccount() : jsonReply(200, accountMembers(account, jwkOf))
    },
  }
}
