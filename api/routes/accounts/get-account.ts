/** GET /v1/accounts/{id} (D2). */
import { accountRead } from '../../endpoint/account-read.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_ACCOUNT: Operation = {
  id: 'getAccount',
  method: 'GET',
  path: '/v1/accounts/:accountId',
  summary: 'Get an account',
  description: 'Its status, its key, and the end of its audit chain.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The account.', content: accountResponse }],
}

export function getAccount({ reads, jwkOf }: EdgeDependencies): GuardedRoute {
  return accountRead(GET_ACCOUNT, async (accountId) => {
    const account = await reads.account(accountId)
    return account === undefined ? noSuchAccount() : jsonReply(200, accountMembers(account, jwkOf))
  })
}
