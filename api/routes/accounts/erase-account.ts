/** POST /v1/accounts/{id}/erase: destroys what the ledger holds of a closed account (D19). */
import { ADMINS, type Endpoint, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { jsonReply } from '../../http/reply.ts'
import { erasureSchema, readReason } from '../../schemas/requests/account.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const eraseAccount: Endpoint = {
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
  administrative: [],
  body: erasureSchema,
  answers: [{ status: 200, description: 'The account as it is now.', content: accountResponse }],
  refusals: { ERR_CONFLICT: 'The account is not closed.' },
  handle: bodyEndpoint({
    read: (body) => readReason(body),
    run({ reason }, context, call) {
      const request = {
        actor: accountAddress(pathValue(call, 'accountId')),
        operation: { kind: 'erase', reason } as const,
      }
      return askLedger(context, call, request, 'status_changed', ({ account }) =>
        jsonReply(200, accountMembers(account, context.jwkOf)),
      )
    },
  }),
}
