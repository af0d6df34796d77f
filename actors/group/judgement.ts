/** Refusals of a settlement group that do not depend on its status. */
import { type Answer, refusal } from '../account/outcome.ts'
import { type AssetEvidence, mayCross, wrongQuantity } from '../account/submission.ts'
import type { LegTerms } from '../message.ts'
import type { GroupCommand, GroupState, RegisterGroupCommand, RevertGroupCommand } from './state.ts'

export type GroupEvidence = AssetEvidence

/** Limit on the transactions to compensate under one linked group ID, over all requests. */
export const MAX_COMPENSATIONS = 1_000

/** Only for a group that is absent or linked. */
export function judgeGroupCommand(
  group: GroupState | null,
  command: GroupCommand,
  evidence: GroupEvidence,
): Answer | undefined {
  if (command.type === 'register_group') return refusesTerms(command, evidence)
  return command.type === 'revert_group' ? refusesCompensations(group, command) : undefined
}

function refusesTerms({ terms, caller }: RegisterGroupCommand, evidence: GroupEvidence): Answer | undefined {
  for (const [index, leg] of terms.legs.entries()) {
    const refused = refusesLeg(leg, `legs[${index}]`, caller.boundary, evidence)
    if (refused !== undefined) return refused
  }
  return undefined
}

function refusesLeg(
  { type, tokenId, amount, accountId, boundary }: LegTerms,
  at: string,
  grant: boolean | readonly string[],
  evidence: GroupEvidence,
): Answer | undefined {
  const wrong = wrongQuantity(tokenId, amount, evidence, `${at}.`)
  if (wrong !== undefined) return wrong
  if (boundary && !mayCross(grant, tokenId)) {
    return refusal(
      'boundary_not_granted',
      'This client may not move value across an external account.',
      `${at}.boundary`,
    )
  }
  if (type === 'mint' && evidence.token(tokenId)?.issuer !== accountId) {
    return refusal('not_issuer', 'Only the issuer of the token may mint it.', `${at}.account_id`)
  }
  return undefined
}

function refusesCompensations(group: GroupState | null, command: RevertGroupCommand): Answer | undefined {
  const { caller, transactions } = command
  if (group === null && transactions.length === 0) return refusal('group_not_found', 'There is no such group.')
  if (caller.role !== 'admin') {
    return refusal('not_allowed', 'Reverting transactions of a linked group needs the role admin.')
  }
  if (transactions.length === 0)
    return refusal('transaction_not_found', 'txn_ids must name the transactions to revert.', 'txn_ids')
  const named = group?.compensationsAsked ?? {}
  const fresh = new Set(transactions.map(({ txnId }) => txnId).filter((txnId) => named[txnId] === undefined))
  if (Object.keys(named).length + fresh.size <= MAX_COMPENSATIONS) return undefined
  return refusal(
    'compensation_limit',
    `At most ${MAX_COMPENSATIONS} transactions may be reverted under one group ID.`,
    'txn_ids',
  )
}
