/**
 * What another home decides: transfers to another account, exchanges, mints and burns. The value is reserved and the
 * room for what comes is kept free when it begins, so that its end can move them whatever has happened since.
 *   P1. A transfer: reserved here -> the receiver decides, once and for good, and credits -> completed or released here.
 *   P2. An exchange: both sides reserve what they give and the room for what they get; nothing can refuse its completion.
 *   P3. A mint or burn: the token decides.
 */
import { accountAddress, exchangeAddress, groupAddress, tokenAddress } from '../address.ts'
import { uuidOf } from '../identifiers.ts'
import type { CompensationOutcome, ExchangeSide } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { invariant } from '../result.ts'
import type { AccountMessageCommand, SubmitCommand } from './commands.ts'
import { completed, entered, failed, ordered, submitted } from './record.ts'
import { type AccountState, availableOf, type PendingHold } from './state.ts'
import { failure, type FailureCode, type Transaction, type TransactionRecord } from './transaction.ts'
import { type Posted, Turn } from './turn.ts'

/** How long an exchange waits for its mirror unless it says otherwise, and at most. */
export const EXCHANGE_TIMEOUT_MS = 900_000
export const LONGEST_EXCHANGE_MS = 30 * 86_400_000

type Heard<Type extends AccountMessageCommand['type']> = Extract<AccountMessageCommand, { readonly type: Type }>

export function beginTransfer(account: AccountState, command: SubmitCommand, toAccountId: string): Posted {
  const { submission } = command
  const turn = new Turn(account, command)
  // What has no group ID gets one of its own, that both sides are found under.
  const groupId = submission.groupId ?? uuidOf(`${command.newTxnId} ${command.salt}`)
  const transaction = submitted(turn, command, groupId)
  const reserved = reserve(turn, transaction)
  if (reserved !== undefined) return failing(turn, transaction, reserved)
  turn.keep(pendingHold(transaction, true))
  entered(turn, transaction)
  turn.send(accountAddress(toAccountId), {
    type: 'receive_transfer',
    txnId: transaction.txnId,
    fromAccountId: account.accountId,
    tokenId: transaction.tokenId,
    amount: transaction.amount,
    groupId,
    metadata: transaction.metadata,
    expiresAtMs: submission.expiresAtMs,
    compensates: null,
  })
  return turn.done()
}

export function beginExchange(account: AccountState, command: SubmitCommand, receive: ExchangeSide): Posted {
  const { submission } = command
  const turn = new Turn(account, command)
  const transaction = submitted(turn, command)
  const reserved = reserve(turn, transaction)
  if (reserved !== undefined) return failing(turn, transaction, reserved)
  const brings = parseQuantity(receive.amount)
  const lacks = account.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(receive.tokenId, brings)
  // A new turn: what was reserved is forgotten with the old one.
  if (lacks !== undefined) return failing(new Turn(account, command), transaction, lacks)
  turn.change(receive.tokenId, { room: brings })
  turn.keep(pendingHold(transaction, true, receive))
  entered(turn, transaction)
  const { groupId, toAccountId } = submission
  invariant(groupId !== null && toAccountId !== null, 'P2: an exchange names its group and its other side')
  turn.send(exchangeAddress(groupId), {
    type: 'offer_exchange',
    txnId: transaction.txnId,
    accountId: account.accountId,
    toAccountId,
    gives: { tokenId: transaction.tokenId, amount: transaction.amount },
    receives: receive,
    expiresAtMs: Math.min(
      submission.expiresAtMs ?? command.atMs + EXCHANGE_TIMEOUT_MS,
      command.atMs + LONGEST_EXCHANGE_MS,
    ),
  })
  return turn.done()
}

export function beginSupplyChange(account: AccountState, command: SubmitCommand, change: 'mint' | 'burn'): Posted {
  const turn = new Turn(account, command)
  const transaction = submitted(turn, command)
  const { tokenId, amount } = transaction
  const refused = change === 'burn' ? reserve(turn, transaction) : turn.lacksRoom(tokenId, parseQuantity(amount))
  if (refused !== undefined) return failing(turn, transaction, refused)
  if (change === 'mint') turn.change(tokenId, { room: parseQuantity(amount) })
  turn.keep(change === 'burn' ? pendingHold(transaction, true) : pendingHold(transaction, false, { tokenId, amount }))
  entered(turn, transaction)
  const { txnId, accountId } = transaction
  turn.send(tokenAddress(tokenId), { type: 'change_supply', txnId, accountId, change, amount })
  return turn.done()
}

/** P1, at the receiver. */
export function receiveTransfer(account: AccountState, command: Heard<'receive_transfer'>): Posted {
  const { txnId, fromAccountId, tokenId, amount, groupId, metadata, compensates } = command
  const turn = new Turn(account, command)
  const quantity = parseQuantity(amount)
  const refused = refusesTransfer(turn, command)
  if (refused !== undefined) {
    turn.send(accountAddress(fromAccountId), {
      type: 'conclude_transfer',
      txnId,
      failure: failure(refused),
      counterTxnId: null,
    })
    return turn.done()
  }
  turn.change(tokenId, { balance: quantity })
  const credit = ordered(turn, {
    type: 'credit',
    amount,
    tokenId,
    groupId,
    cause: `transfer ${txnId}`,
    metadata,
    fromAccountId,
    compensates,
    counterTxnId: txnId,
  })
  entered(turn, completed(turn, credit))
  if (compensates !== null) turn.note({ kind: 'transaction_compensated', txnId: compensates, by: credit.txnId })
  turn.send(
    accountAddress(fromAccountId),
    { type: 'conclude_transfer', txnId, failure: null, counterTxnId: credit.txnId },
    // It is credited here and still in its sender's balance until this is heard there.
    [{ tokenId, quantity: `-${amount}` }],
  )
  return turn.done()
}

/** A give-back is not refused for the account's wishes. */
function refusesTransfer(turn: Turn, command: Heard<'receive_transfer'>): FailureCode | undefined {
  const { status, incoming } = turn.before
  if (command.expiresAtMs !== null && command.expiresAtMs <= command.atMs) return 'expired'
  if (status === 'closed') return 'account_closed'
  if (incoming === 'refuse' && command.compensates === null) return 'incoming_refused'
  return turn.lacksRoom(command.tokenId, parseQuantity(command.amount))
}

/** P1, P2, P3, at the end: completed or released. */
export function conclude(
  account: AccountState,
  command: Heard<'conclude_transfer'> | Heard<'conclude_exchange'> | Heard<'conclude_supply'>,
): Posted {
  const turn = new Turn(account, command)
  const hold = turn.hold(command.txnId)
  invariant(hold?.kind === 'pending', `a decision came for ${command.txnId}, which is not pending`)
  const { transaction, reserves, room, reportsOn } = hold
  const { tokenId, compensates } = transaction
  const amount = parseQuantity(transaction.amount).negated()
  turn.letGo(hold)
  const refused = command.failure
  if (reserves) turn.change(tokenId, refused === null ? { balance: amount, reserved: amount } : { reserved: amount })
  if (room !== null) {
    const brought = parseQuantity(room.amount)
    turn.change(
      room.tokenId,
      refused === null ? { balance: brought, room: brought.negated() } : { room: brought.negated() },
    )
  }
  const counterTxnId = 'counterTxnId' in command ? command.counterTxnId : null
  const ended =
    refused === null ? completed(turn, { ...transaction, counterTxnId }) : failed(turn, transaction, refused)
  turn.note({ kind: 'transaction_finished', transaction: ended })
  if (refused === null && compensates !== null) {
    turn.note({ kind: 'transaction_compensated', txnId: compensates, by: ended.txnId })
  }
  if (reportsOn !== null && transaction.groupId !== null) {
    const { asked } = reportsOn
    const outcome = outcomeOf(ended, reportsOn.transfer)
    turn.send(groupAddress(transaction.groupId), { type: 'compensation_ended', asked, outcome })
  }
  return turn.done()
}

function outcomeOf(
  { txnId, compensates, counterTxnId, failure: refused }: TransactionRecord,
  transfer: string,
): CompensationOutcome {
  if (refused !== null) return { kind: 'failed', failure: refused }
  return {
    kind: 'done',
    compensations: [
      { compensates: compensates ?? '', txnId },
      { compensates: transfer, txnId: counterTxnId ?? '' },
    ],
  }
}

/** Sets the amount aside, or says why it cannot. */
export function reserve(turn: Turn, { tokenId, amount }: Transaction): FailureCode | undefined {
  const quantity = parseQuantity(amount)
  if (availableOf(turn.balance(tokenId)).lessThan(quantity)) return 'insufficient_funds'
  turn.change(tokenId, { reserved: quantity })
  return undefined
}

export function pendingHold(
  { payload: _payload, signature: _signature, ...transaction }: Transaction,
  reserves: boolean,
  room: PendingHold['room'] = null,
  reportsOn: PendingHold['reportsOn'] = null,
): PendingHold {
  return { kind: 'pending', transaction, reserves, room, reportsOn }
}

function failing(turn: Turn, transaction: Transaction, code: FailureCode): Posted {
  entered(turn, failed(turn, transaction, failure(code)))
  return turn.done()
}
