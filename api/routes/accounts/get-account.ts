/** GET /v1/accounts/{id} (D2). */
import { accountRead } from '../../endpoint/path-values.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'

export const getAccount: Endpoint = {
  id: 'getAccount',
  method: 'GET',
  path: '/v1/accounts/:accountId',
  summary: 'Get an account',
  description: 'Its status, its key, and the end of its audit chain.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The account.', content: accountResponse }],
  handle: accountRead(async (accountId, { reads, jwkOf }) => {
    const account = await reads.account(accountId)
    return account === undefined ? noSuchAccount() : jsonReply(200, accountMembers(account, jwkOf))
  }),
}
