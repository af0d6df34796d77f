/** POST /v1/settlement-groups/{id}/revert: undoes a registered group, or named transactions of a linked one (D10). */
import { guarded, type GuardedRoute, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { groupAddress } from '../../../actors/address.ts'
import type { NamedTransaction } from '../../../runtime/protocol/messages.ts'
import type { AccountScope } from '../../../actors/account-scope.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { GroupBodies } from '../../endpoint/linked-group.ts'
import { checkGroupId } from '../../endpoint/path-values.ts'
import { invalidProblem, notFound, type Problem, problem } from '../../http/problem.ts'
import { refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenGroup, seenTransaction, shownOf } from '../../endpoint/scoped-reads.ts'
import { readRevert, revertSchema } from '../../schemas/settlement-group.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { groupMembers } from '../../views/views.ts'
import { settlementGroupResponse } from '../../schemas/responses/settlement-group.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const REVERT_SETTLEMENT_GROUP: Operation = {
  id: 'revertSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/revert',
  summary: 'Revert a settlement group',
  description: `By an administrator, or while it is open by the client that registered it. Whatever its legs completed is given back; ask for the group until it is \`reverted\`. Again, nothing new happens. A settled group cannot be reverted.

Of a linked group an administrator names the transactions to be undone in \`txn_ids\`; one that cannot be, because the money is spent, is listed in \`partial_failures\` and does not stop the others.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: revertSchema,
  answers: [{ status: 202, description: 'The revert has begun, or had.', content: settlementGroupResponse }],
  refusals: {
    ERR_NOT_FOUND: 'There is no such group, or it has no such transaction.',
    ERR_CONFLICT: 'The group is settled.',
    ERR_FORBIDDEN: 'The client is no administrator and did not register the group, or it is no longer open.',
  },
}

type Reads = Pick<LedgerReads, 'group' | 'transaction' | 'transactions'>

export function revertSettlementGroup({ gateway, reads }: EdgeDependencies, bodies: GroupBodies): GuardedRoute {
  return {
    ...guarded(REVERT_SETTLEMENT_GROUP),
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const groupId = pathValue(call, 'groupId').toLowerCase()
      const illFormed = checkGroupId(groupId)
      if (illFormed !== undefined) return illFormed
      const revert = readRevert(body.value)
      if (!revert.ok) return invalidProblem('validation-error', revert.error)
      const { reason, txn_ids: named } = revert.value
      const txnIds = named ?? []
      const transactions = await findTransactions(reads, call.scope, groupId, txnIds)
      if (!transactions.ok) return transactions.error
      const outcome = await gateway.ask({
        actor: groupAddress(groupId),
        caller: call.caller,
        trail: call.trail,
        operation: { kind: 'revert_group', reason, transactions: transactions.value },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return refusalProblem(answer)
      if (answer.kind !== 'group_reverting') return unexpectedAnswer(answer)
      const group = shownOf(answer.group, call.scope)
      const shown = await bodies.of(call, group)
      // The revert has started: reply also without the sums.
      return jsonReply(202, shown.ok ? shown.value : groupMembers(group))
    },
  }
}

/** A linked group has nothing that says what belongs together, so that its transactions are named; another is undone whole. */
async function findTransactions(
  reads: Reads,
  scope: AccountScope,
  groupId: string,
  txnIds: readonly string[],
): Promise<Result<readonly NamedTransaction[], Problem>> {
  const group = await seenGroup(reads, scope, groupId)
  if (group === undefined && !scope.whole) return refuse(notFound('There is no such group.'))
  if (group?.status === 'linked' && txnIds.length === 0) {
    return refuse(invalidTxnIds('is required: the group was never registered'))
  }
  if (group !== undefined && group.status !== 'linked' && txnIds.length > 0) {
    return refuse(invalidTxnIds('is not allowed: a registered group is reverted as a whole'))
  }
  const found = await Promise.all(txnIds.map((txnId) => seenTransaction(reads, scope, txnId)))
  const named = found.flatMap((transaction) => (transaction?.groupId === groupId ? [transaction] : []))
  if (named.length === found.length) return ok(named.map(({ txnId, accountId }) => ({ txnId, accountId })))
  const message = 'There is no such transaction in the group.'
  const errors = found.flatMap((transaction, index) =>
    transaction?.groupId === groupId ? [] : [{ field: `txn_ids[${index}]`, message }],
  )
  return refuse(problem('not-found', 'ERR_NOT_FOUND', message, errors))
}

function invalidTxnIds(message: string): Problem {
  return invalidProblem('validation-error', [{ field: 'txn_ids', code: 'ERR_INVALID_FIELD', message }])
}
