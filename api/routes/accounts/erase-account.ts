/** POST /v1/accounts/{id}/erase: destroys what the ledger holds of a closed account (D19). */
import { ADMINS, guarded, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { erasureSchema, readReason } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const ERASE_ACCOUNT: Operation = {
  id: 'eraseAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/erase',
  summary: 'Erase a closed account',
  description: `Destroys the key that everything the ledger holds of the account is encrypted under. There is no way back. The request is idempotent.

- The account stays \`closed\`, with \`erased: true\` and without a key; its ID is never given again.
- Its audit chain keeps sequences and hashes; \`payload\` is null.
- Its transactions, receipts and liability proofs are 404, and lists leave them out.
- Where others name it, in settlement groups, NFTs, tokens and attestations, it reads \`erased:\` and 12 hexadecimal digits. Counterparties keep their own transactions.`,
  roles: ADMINS,
  changes: 'shard',
  body: erasureSchema,
  answers: [{ status: 200, description: 'The account as it is now.', content: accountResponse }],
  refusals: { ERR_CONFLICT: 'The account is not closed.' },
}

export function eraseAccount({ gateway, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(ERASE_ACCOUNT),
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const accountId = pathValue(call, 'accountId')
      const illFormed = checkAccountId(accountId)
      if (illFormed !== undefined) return illFormed
      const erasure = readReason(body.value)
      if (!erasure.ok) return invalidProblem('validation-error', erasure.error)
      if (!call.scope.includes(accountId)) return noSuchAccount()
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller: call.caller,
        trail: call.trail,
        operation: { kind: 'erase', reason: erasure.value.reason },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return refusalProblem(answer)
      if (answer.kind !== 'status_changed') return unexpectedAnswer(answer)
      return jsonReply(200, accountMembers(answer.account, jwkOf))
    },
  }
}
