/** GET /v1/accounts/{id}/balances/{tokenId}: one balance, once there was a movement (D4). */
import { accountRead } from '../../endpoint/account-read.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { balanceMembers } from '../../views/views.ts'

export function getBalance({ reads }: EdgeDependencies): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/balances/:tokenId', [], async (accountId, call) => {
    const balances = await reads.balances(accountId)
    if (balances === undefined) return noSuchAccount()
    const tokenId = pathValue(call, 'tokenId')
    const balance = balances.find((held) => held.tokenId === tokenId)
    if (balance === undefined) return notFound('The account holds no such token.')
    return jsonReply(200, { account_id: accountId, ...balanceMembers(balance) })
  })
}
