/** POST /v1/transactions: one signed submission (D5 to D8). */
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { logFailure } from '../../http/failure-log.ts'
import { type PreferWait, preferredWaitS, type Waiting } from '../../endpoint/prefer-wait.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedCall, type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { seenTransaction } from '../../endpoint/scoped-reads.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { receiptMembers, submit } from '../../endpoint/submit.ts'
import { transactionDetailMembers } from '../../views/views.ts'

export function submitTransaction(dependencies: EdgeDependencies, preferWait: PreferWait): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/transactions',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const submitted = await submit(dependencies, body.value, call)
      if (submitted.kind === 'problem') return submitted
      const { receipt } = submitted
      const headers = { location: `/v1/transactions/${receipt.txnId}`, ...repeatHeaders(submitted) }
      const seen =
        preferredWaitS(call.http) === undefined
          ? NOT_FINAL
          : await readUntilFinal(dependencies, preferWait, call, receipt.txnId)
      const all = { ...headers, ...seen.headers }
      return seen.value === undefined || seen.value.status === 'pending'
        ? jsonReply(202, receiptMembers(receipt), all)
        : jsonReply(200, transactionDetailMembers(seen.value), all)
    },
  }
}

type Seen = Pick<Waiting<TransactionView | undefined>, 'value' | 'headers'>

const NOT_FINAL: Seen = { value: undefined, headers: {} }

/** The submission is already accepted: a failure here must not look like a refusal to the client. */
async function readUntilFinal(
  { reads, log }: EdgeDependencies,
  preferWait: PreferWait,
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
