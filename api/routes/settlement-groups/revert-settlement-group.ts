/** POST /v1/settlement-groups/{id}/revert: undoes a registered group, or named transactions of a linked one (D10). */
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { groupAddress } from '../../../actors/address.ts'
import type { NamedTransaction } from '../../../runtime/protocol/messages.ts'
import type { AccountScope } from '../../../actors/account-scope.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import { invalidProblem, notFound, type Problem, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenGroup, seenTransaction, shownOf } from '../../endpoint/scoped-reads.ts'
import { readRevert, revertSchema } from '../../schemas/requests/settlement-group.ts'
import { groupMembers } from '../../views/views.ts'
import { settlementGroupResponse } from '../../schemas/responses/settlement-group.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'
import { groupIdOf } from '../../endpoint/path-values.ts'

export const revertSettlementGroup: Endpoint = {
  id: 'revertSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/revert',
  summary: 'Revert a settlement group',
  description: `By an administrator, or while it is open by the client that registered it. Whatever its legs completed is given back; ask for the group until it is \`reverted\`. Again, nothing new happens. A settled group cannot be reverted.

Of a linked group an administrator names the transactions to be undone in \`txn_ids\`; one that cannot be, because the money is spent, is listed in \`partial_failures\` and does not stop the others.`,
  roles: SUBMITTERS,
  changes: 'shard',
  administrative: ['txn_ids'],
  body: revertSchema,
  answers: [{ status: 202, description: 'The revert has begun, or had.', content: settlementGroupResponse }],
  refusals: {
    ERR_NOT_FOUND: 'There is no such group, or it has no such transaction.',
    ERR_CONFLICT: 'The group is settled.',
    ERR_FORBIDDEN: 'The client is no administrator and did not register the group, or it is no longer open.',
  },
  handle: bodyEndpoint({
    read: (body) => readRevert(body),
    async run({ reason, txn_ids: txnIds }, context, call) {
      const groupId = groupIdOf(call)
      const transactions = await findTransactions(context.reads, call.scope, groupId, txnIds ?? [])
      if (!transactions.ok) return transactions.error
      const operation = { kind: 'revert_group', reason, transactions: transactions.value } as const
      return askLedger(
        context,
        call,
        { actor: groupAddress(groupId), operation },
        'group_reverting',
        async (answer) => {
          const group = shownOf(answer.group, call.scope)
          const shown = await context.groupBodies.of(call, group)
          // The revert has started: reply also without the sums.
          return jsonReply(202, shown.ok ? shown.value : groupMembers(group))
        },
      )
    },
  }),
}

type Reads = Pick<LedgerReads, 'group' | 'transaction' | 'transactions'>

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
