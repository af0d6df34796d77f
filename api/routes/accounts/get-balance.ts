/** GET /v1/accounts/{id}/balances/{tokenId}: one balance, once there was a movement (D4). */
import * as v from 'valibot'
import { tokenIdField } from '../../schemas/fields.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { notFound } from '../../http/problem.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { balanceAtMembers, balanceMembers } from '../../views/views.ts'
import { AS_OF, pastTimeIn } from '../../endpoint/times.ts'
import { balanceResponse } from '../../schemas/responses/account.ts'

export const getBalance: Endpoint = {
  id: 'getBalance',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances/:tokenId',
  summary: 'Get one balance',
  description: `A read that begins after a transaction was seen final shows all its effects.

With \`as_of\` it is the balance after the last entry of the account's chain at or before this time, with \`as_of\` and the \`sequence\` of that entry.`,
  roles: EVERYONE,
  parameters: [AS_OF],
  answers: [{ status: 200, description: 'The balance.', content: balanceResponse }],
  refusals: {
    ERR_NOT_FOUND: 'There is no such account, or it had never held this token.',
    ERR_INVALID_TIMESTAMP: 'The time is ill-formed or lies in the future.',
  },
  handle: accountRead(async (accountId, { reads, clock }, call) => {
    const { query } = call
    const atMs = pastTimeIn(query, 'as_of', clock.now())
    const refused = query.problem()
    if (refused !== undefined) return refused
    const tokenId = pathValue(call, 'tokenId')
    if (atMs !== null) {
      if (!v.is(tokenIdField, tokenId)) return notFound('There is no such token.')
      const balance = await reads.balanceAt(accountId, tokenId, Math.floor(atMs))
      if (balance === undefined) return noSuchAccount()
      if (balance === null) return notFound('The account had never held such a token by then.')
      return jsonReply(200, { account_id: accountId, ...balanceAtMembers(balance, atMs) })
    }
    const balances = await reads.balances(accountId)
    if (balances === undefined) return noSuchAccount()
    const balance = balances.find((held) => held.tokenId === tokenId)
    if (balance === undefined) return notFound('The account holds no such token.')
    return jsonReply(200, { account_id: accountId, ...balanceMembers(balance) })
  }),
}
