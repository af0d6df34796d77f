/** POST /v1/transactions/dry-run: the result that a signed submission would have now (D24). */
import { accountAddress, type ActorAddress, type ActorKind } from '../../../actors/address.ts'
import type { DryRunResult } from '../../../actors/account/outcome.ts'
import { askLedger } from '../../endpoint/ask.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { signedOrder } from '../../endpoint/submit.ts'
import { jsonReply } from '../../http/reply.ts'
import { submissionSchema } from '../../schemas/requests/submission.ts'
import { dryRunResponse } from '../../schemas/responses/transaction.ts'
import { submitTransaction } from './submit-transaction.ts'

export const dryRunTransaction: Endpoint = {
  id: 'dryRunTransaction',
  method: 'POST',
  path: '/v1/transactions/dry-run',
  summary: 'Rehearse a signed order',
  description: `Takes the body of \`POST /v1/transactions\`, signature included, with the same checks except those of its key, and answers what the account would do with it now. Nothing is written and nothing reserved, and the \`idempotency_key\` is neither looked up nor used: the same body can be submitted afterwards.

\`balance_after\` and \`available_after\` are those of the account right after it had accepted the order. Where the outcome is \`pending\`, or a leg of a settlement group completes, \`decided_by\` names who would still decide. Other orders may change the account before the order is submitted: a dry run promises nothing.`,
  roles: SUBMITTERS,
  body: submissionSchema,
  answers: [{ status: 200, description: 'The result that the order would have now.', content: dryRunResponse }],
  refusals: {
    ...submitTransaction.refusals,
    ERR_SHARD_UNAVAILABLE: 'The shard of the account has no owner at this moment.',
    ERR_NO_HEALTHY_SHARDS: 'No shard of the ledger has an owner at this moment.',
    ERR_OVERLOADED: 'Too many orders wait for the account.',
  },
  handle: bodyEndpoint({
    read: signedOrder,
    find: ({ accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    run({ accountId, operation, signed }, context, call) {
      const request = {
        actor: accountAddress(accountId),
        operation: { kind: 'dry_run', ...operation },
        signed,
      } as const
      return askLedger(context, call, request, 'dry_run', ({ result }) => jsonReply(200, resultMembers(result)))
    },
  }),
}

function resultMembers({ outcome, failure, balanceAfter, availableAfter, decidedBy }: DryRunResult): object {
  return {
    outcome,
    ...(failure === null ? {} : { failure }),
    ...(balanceAfter === null ? {} : { balance_after: balanceAfter }),
    ...(availableAfter === null ? {} : { available_after: availableAfter }),
    decided_by: decidedBy.map(deciderMembers),
  }
}

const DECIDERS: { readonly [Kind in ActorKind]?: string } = { group: 'settlement_group', instance: 'nft_instance' }

function deciderMembers({ kind, id }: ActorAddress): object {
  return { kind: DECIDERS[kind] ?? kind, id }
}
