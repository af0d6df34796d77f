/** The conditions of a submission beyond its account, at some moment of the commit (M3). */
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import { decimalsOf, fieldsOf, isNftAsset } from '../reference/fields.ts'
import type { ModelFacts } from '../reference/model.ts'
import { isAgreed } from '../reference/rules.ts'
import type { Part } from './accounts-part.ts'
import type { Demand } from './messages.ts'

/** Conditions on other actors, and on the group that the transaction is a leg of. */
export function checkElsewhere(
  demand: Demand,
  facts: ModelFacts,
  { at, accountId, model, heard, firstIndex }: Part,
  transaction: TransactionRecord & { readonly payload: string },
): void {
  const { txnId, status } = transaction
  const fields = fieldsOf(transaction)
  const { tokenId, amount, receive, toAccountId, type, termsHash, groupId } = fields
  for (const side of [{ tokenId, amount }, ...(receive === null ? [] : [receive])]) {
    if (side.tokenId === 'BASE') continue
    if (isNftAsset(side.tokenId)) {
      const there = facts.mintedSince(side.tokenId) !== undefined
      demand(there, `M1: ${at}: ${txnId} is of ${side.tokenId}, which is no NFT`)
      continue
    }
    const token = facts.token(side.tokenId)
    const fits = token !== undefined && decimalsOf(side.amount) <= token.decimals
    demand(fits, `M1: ${at}: ${txnId} is of ${side.amount} ${side.tokenId}, which is no such token`)
  }
  if (type === 'mint') demand(facts.token(tokenId)?.issuer === accountId, `M1: ${txnId} mints for a stranger`)
  const known = toAccountId === null || facts.openSince(toAccountId) !== undefined
  demand(known, `M1: ${txnId} goes to ${toAccountId}, which does not exist`)
  const states = model.states.slice(firstIndex)
  if (termsHash === null) {
    const free = states.some(({ legs }) => !legs.some((leg) => leg.groupId === groupId))
    demand(free, `M1: ${at}: ${txnId} is under a registered group and no leg of it`)
    return
  }
  const agreed = states.some(({ legs }) => legs.some((leg) => isAgreed(leg, fields)))
  const passed = heard.some((message) => message.type === 'expect_leg' && message.groupId === groupId)
  demand(agreed || passed, `I8: ${at}: ${txnId} is an unexpected leg (${status})`)
}
