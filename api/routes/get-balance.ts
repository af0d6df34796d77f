/** GET /v1/accounts/{id}/balances/{tokenId}: one balance, once there was a movement (D4). */
import { accountRead } from '../account-read.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { notFound } from '../problem.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, pathValue } from '../route.ts'
import { balanceMembers } from '../views.ts'

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
