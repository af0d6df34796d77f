/** GET /v1/accounts/{id}/balances/{tokenId}: one balance, once there was a movement (D4). */
import { accountRead } from '../../endpoint/path-values.ts'
import { notFound } from '../../http/problem.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { balanceMembers } from '../../views/views.ts'
import { balanceResponse } from '../../schemas/responses/account.ts'

export const getBalance: Endpoint = {
  id: 'getBalance',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances/:tokenId',
  summary: 'Get one balance',
  description: 'A read that begins after a transaction was seen final shows all its effects.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The balance.', content: balanceResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such account, or it never held this token.' },
  handle: accountRead(async (accountId, { reads }, call) => {
    const balances = await reads.balances(accountId)
    if (balances === undefined) return noSuchAccount()
    const tokenId = pathValue(call, 'tokenId')
    const balance = balances.find((held) => held.tokenId === tokenId)
    if (balance === undefined) return notFound('The account holds no such token.')
    return jsonReply(200, { account_id: accountId, ...balanceMembers(balance) })
  }),
}
