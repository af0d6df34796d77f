/** POST /v1/transactions: one signed submission (D5 to D8). */
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import { type EdgeContext, type Endpoint, type GuardedCall, SUBMITTERS } from '../../endpoint/route.ts'
import { readJsonBody } from '../../http/body.ts'
import { logFailure } from '../../http/failure-log.ts'
import { preferredWaitS, type Waiting } from '../../endpoint/prefer-wait.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenTransaction } from '../../endpoint/scoped-reads.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { receiptMembers, submit } from '../../endpoint/submit.ts'
import { transactionDetailMembers } from '../../views/views.ts'
import { submissionReceiptResponse, transactionResponse } from '../../schemas/responses/transaction.ts'
import { submissionSchema } from '../../schemas/requests/submission.ts'
import { PREFER_WAIT } from '../../endpoint/parameters.ts'

export const submitTransaction: Endpoint = {
  id: 'submitTransaction',
  method: 'POST',
  path: '/v1/transactions',
  summary: 'Submit a signed order',
  description: `Moves value on one account; the account’s key signs the body.

- \`credit\` and \`debit\` bring value in from outside the ledger and take it out. A credit needs the grant \`boundary\` of the client.
- \`transfer\` with \`to_account_id\` moves value to another account. It is \`pending\`, the amount reserved, until the receiver’s side has decided; then both sides complete or neither does.
- \`exchange\` with \`to_account_id\` and \`receive\` waits for the mirror exchange of the other party under the same \`group_id\`, for 900 seconds or until \`expires_at\`; both complete in one decision.
- \`mint\` and \`burn\` change the supply of a token; only its issuer mints.
- With \`class_id\` and \`instance_id\` in place of \`token_id\`, and the amount \`"1"\`, an NFT is transferred, exchanged or burned.
- With \`terms_hash\` it is a leg of the registered settlement group \`group_id\`, and nothing less.

**The response is a 202** as soon as the order is durable; the order may fail later. With \`Prefer: wait=N\` the response is a 200 with the transaction, \`failure\` included, if it is final within N seconds, and otherwise the 202. Without the header, poll the transaction until it is \`completed\` or \`failed\`. A refusal (4xx) frees the idempotency key; an accepted order that fails later keeps it.

**Retries**: the same \`idempotency_key\` on the same account gets the first receipt again, byte for byte, even if the body differs (\`Idempotency-Payload-Mismatch: true\`). After a 503, a timeout or a broken connection send the same body again, as often as it takes: it happens once.

Unknown fields are refused: in an order a misspelt field must not be ignored.`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [PREFER_WAIT],
  body: submissionSchema,
  answers: [
    {
      status: 200,
      description: 'The final transaction. Only with `Prefer: wait=N`; the headers mark a replay.',
      content: transactionResponse,
      headers: ['Location', 'Preference-Applied', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    {
      status: 202,
      description: 'The order is durable and will be decided. A replay returns the same.',
      content: submissionReceiptResponse,
      headers: ['Location', 'Preference-Applied', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND:
      'The account, the receiver, the token, the class or the NFT does not exist; `errors` names the field.',
    ERR_CONFLICT:
      'No registered group expects this leg, the group is registered and the leg has no `terms_hash`, or 4,096 orders of the account are undecided.',
    ERR_FORBIDDEN:
      'The role does not permit this, the account has no key, or the client may not bring value in from outside the ledger.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_NOT_ISSUER: 'Only the issuer of the token may mint it.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
    ERR_SELF_TRANSFER: 'It would move value from the account to itself, by one order or by two of one group.',
  },
  async handle(context, call) {
    const body = await readJsonBody(call.http.req.raw)
    if (!body.ok) return body.error
    const submitted = await submit(context, body.value, call)
    if (submitted.kind === 'problem') return submitted
    const { receipt } = submitted
    const headers = { location: `/v1/transactions/${receipt.txnId}`, ...repeatHeaders(submitted) }
    const seen =
      preferredWaitS(call.http) === undefined ? NOT_FINAL : await readUntilFinal(context, call, receipt.txnId)
    const all = { ...headers, ...seen.headers }
    return seen.value === undefined || seen.value.status === 'pending'
      ? jsonReply(202, receiptMembers(receipt), all)
      : jsonReply(200, transactionDetailMembers(seen.value), all)
  },
}

type Seen = Pick<Waiting<TransactionView | undefined>, 'value' | 'headers'>

const NOT_FINAL: Seen = { value: undefined, headers: {} }

/** The submission is already accepted: a failure here must not look like a refusal to the client. */
async function readUntilFinal(
  { preferWait, reads, log }: EdgeContext,
  call: GuardedCall,
  txnId: string,
): Promise<Seen> {
  try {
    const waited = await preferWait.until(
      call,
      (scope) => seenTransaction(reads, scope, txnId),
      (seen) => seen?.status !== 'pending',
    )
    return waited.ok ? waited.value : NOT_FINAL
  } catch (failure) {
    logFailure(log, failure, call.trail, call.http.req.method)
    return NOT_FINAL
  }
}
