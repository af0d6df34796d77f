/** Signs an order, submits it and waits for its outcome. */
import type { DryRunResult, Order, SubmissionReceipt, Transaction } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo, ReportedFailure } from '../common/command.ts'
import type { Output } from '../common/output.ts'
import { withProgress } from '../common/progress.ts'
import { type Session, signingKey, withSession } from '../profile/session.ts'
import { idempotencyKey, type OrderOptions } from './order-options.ts'

/** The longest wait of one request at the ledger. */
const REQUEST_WAIT_S = 30

/** Throws ReportedFailure for an order that failed, after printing it. `order`: without an idempotency key. */
export function submitOrder(order: Order, options: OrderOptions, io: CommandIo): Promise<void> {
  return withSession(options, io, async (session) => {
    const { client, keyFiles, output } = session
    const key = await signingKey(keyFiles.read(order.account_id, options.key))
    const { metadata } = options
    const named = { ...order, ...(metadata === undefined ? {} : { metadata }) } as Order
    if (options.dryRun === true) return printDryRun(await client.dryRun(named, key), output)
    const orderKey = idempotencyKey(options, session)
    const body = await client.sign({ ...named, idempotency_key: orderKey }, key)
    const untilMs = performance.now() + options.timeout * 1_000
    const { body: reply, headers } = await client.respond('submitTransaction', {
      body,
      ...(options.wait ? { waitS: Math.min(options.timeout, REQUEST_WAIT_S) } : {}),
    })
    noteReplay(headers, session)
    if (!options.wait) return printTransaction(reply, output, orderKey)
    await printOutcome(session, reply, { untilMs, orderKey }, io)
  })
}

interface Awaited {
  /** Of the monotonic clock. */
  readonly untilMs: number
  readonly orderKey?: string
}

/**
 * Waits until the transaction is final, and prints it. Throws ReportedFailure if it failed, and a LedgerError with an
 * `unknown` outcome if the wait ends without one.
 */
export async function printOutcome(
  { client, output, adviseIfUnknown }: Session,
  reply: Transaction | Pick<SubmissionReceipt, 'txn_id'>,
  { untilMs, orderKey }: Awaited,
  io: CommandIo,
): Promise<void> {
  const { txn_id: txnId } = reply
  adviseIfUnknown(`Run ledger tx wait ${txnId} for its outcome.`)
  const final =
    'created_at' in reply && reply.status !== 'pending'
      ? reply
      : await withProgress(
          () => `waiting for ${txnId}`,
          io,
          () => client.waitForTransaction(txnId, { timeoutMs: Math.max(0, Math.ceil(untilMs - performance.now())) }),
        )
  printTransaction(final, output, orderKey)
  refuseFailed(final, output)
}

/** Throws CommandFailed if the key belongs to another order. */
export function noteReplay(headers: Headers, { output }: Pick<Session, 'output'>): void {
  if (headers.get('idempotency-payload-mismatch') === 'true') {
    throw new CommandFailed(
      'the idempotency key was used for another order before: nothing was submitted. Choose another key',
    )
  }
  if (headers.get('idempotency-replayed') === 'true') {
    output.note('this order was submitted before: its outcome is shown, and nothing was submitted again')
  }
}

/** Throws ReportedFailure. */
export function refuseFailed({ status, failure }: Transaction, { note }: Pick<Output, 'note'>): void {
  if (status !== 'failed') return
  note(`the transaction failed: ${failure?.detail ?? 'without a reason'}`)
  throw new ReportedFailure('the transaction failed')
}

export function printTransaction(
  transaction: Transaction | SubmissionReceipt,
  { record }: Pick<Output, 'record'>,
  orderKey?: string,
): void {
  const keyed = orderKey === undefined ? {} : { idempotency_key: orderKey }
  record({ ...transaction, ...keyed }, { ...shownTransaction(transaction), ...keyed })
}

/** The members that people look for, in this order. Programs get all. */
function shownTransaction(transaction: Transaction | SubmissionReceipt): object {
  if (!('created_at' in transaction)) {
    const { txn_id, account_id, status, enqueued_at } = transaction
    return { txn_id, status, account_id, enqueued_at }
  }
  const { shard_id: _, origin: __, txn_id, type, status, failure, ...others } = transaction
  const { account_id, to_account_id, from_account_id, amount, token_id, balance_after, available_after, ...rest } =
    others
  const failed = failure === undefined ? {} : { failure: `${failure.code}: ${failure.detail}` }
  const value = { account_id, to_account_id, from_account_id, amount, token_id, balance_after, available_after }
  return { txn_id, type, status, ...failed, ...value, ...rest }
}

function printDryRun(result: DryRunResult, { record }: Output): void {
  const { failure } = result
  record(result, failure === undefined ? result : { ...result, failure: `${failure.code}: ${failure.detail}` })
  if (result.outcome === 'failed') throw new ReportedFailure('the order would fail')
}
