/**
 * Transactions that another actor decides: transfers to another account, exchanges, mints and burns. They first reserve
 * the value and the room for incoming value, so that nothing can refuse their completion.
 *   P1. A transfer: reserve here; the receiver decides once and credits; complete or release here.
 *   P2. An exchange: both sides reserve the value they give and the room for what they receive.
 *   P3. A mint or burn: the token decides. Where an NFT is involved, the NFT's home decides (nfts.ts).
 */
import { accountAddress, exchangeAddress, groupAddress, instanceAddress, tokenAddress } from '../address.ts'
import { uuidOf } from '../identifiers.ts'
import type { CompensationOutcome, ExchangeSide, Stamp } from '../message.ts'
import { formatQuantity, parseQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountCommandOf, SubmitCommand } from './commands.ts'
import type { Evidence } from './evidence.ts'
import { carriedOut, completed, creditCause, entered, failed, submitted } from './record.ts'
import { availableOf, type PendingHold } from './state.ts'
import {
  type CompensableTransaction,
  type Failure,
  failure,
  type FailureCode,
  type Transaction,
  type TransactionRecord,
} from './transaction.ts'
import type { Turn } from './turn.ts'

/** Default and longest time that an exchange waits for its mirror. */
export const EXCHANGE_TIMEOUT_MS = 900_000
export const LONGEST_EXCHANGE_MS = 30 * 86_400_000

export function beginTransfer(turn: Turn, command: SubmitCommand, toAccountId: string): void {
  const { submission } = command
  // A transfer without a group ID gets a new one, under which both sides can be found.
  const groupId = submission.groupId ?? uuidOf(`${command.newTxnId} ${command.salt}`)
  const transaction = submitted(turn, command, groupId)
  const reserved = reserve(turn, transaction)
  if (reserved !== undefined) return failing(turn, transaction, reserved)
  sendTransfer(turn, transaction, toAccountId, { expiresAtMs: submission.expiresAtMs, compensates: null })
}

/**
 * Sends the transfer to its decider: the receiver of value, or the NFT's home. Reservable value is already reserved.
 */
export function sendTransfer(
  turn: Turn,
  transaction: Transaction,
  toAccountId: string,
  terms: { readonly expiresAtMs: number | null; readonly compensates: string | null },
  reportsOn: PendingHold['reportsOn'] = null,
): void {
  const { txnId, accountId, tokenId, amount, groupId, metadata, refunds } = transaction
  turn.keep(pendingHold(transaction, !isNft(tokenId), null, reportsOn))
  entered(turn, transaction)
  if (isNft(tokenId)) {
    const move = { type: 'move_nft', txnId, accountId, toAccountId, groupId, metadata, ...terms } as const
    return turn.send(instanceAddress(tokenId), move)
  }
  turn.send(accountAddress(toAccountId), {
    type: 'receive_transfer',
    txnId,
    fromAccountId: accountId,
    tokenId,
    amount,
    groupId,
    metadata,
    ...terms,
    ...(refunds === null ? undefined : { refunds }),
  })
}

export function beginExchange(turn: Turn, command: SubmitCommand, receive: ExchangeSide): void {
  const { submission } = command
  const transaction = submitted(turn, command)
  const refused = lacksValue(turn, transaction) ?? refusesExchange(turn, receive)
  if (refused !== undefined) return failing(turn, transaction, refused)
  reserve(turn, transaction)
  turn.keepRoom(receive)
  entered(turn, transaction)
  const expiresAtMs = Math.min(
    submission.expiresAtMs ?? command.atMs + EXCHANGE_TIMEOUT_MS,
    command.atMs + LONGEST_EXCHANGE_MS,
  )
  if (isNft(transaction.tokenId)) {
    // The exchange is offered once the NFT is held.
    const nft = { state: 'holding', expiresAtMs, failure: null } as const
    turn.keep({ ...pendingHold(transaction, false, receive), nft })
    const { txnId, accountId, tokenId } = transaction
    return turn.send(instanceAddress(tokenId), { type: 'hold_nft', txnId, accountId, leg: null, toAccountId: null })
  }
  turn.keep(pendingHold(transaction, true, receive))
  offer(turn, transaction, expiresAtMs)
}

function refusesExchange(turn: Turn, { tokenId, amount }: ExchangeSide): FailureCode | undefined {
  return turn.before.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(tokenId, parseQuantity(amount))
}

/** P2: sends the exchange to the actor that pairs it. Its value and room are reserved. */
export function offer(turn: Turn, transaction: TransactionRecord, expiresAtMs: number): void {
  const { txnId, accountId, tokenId, amount, groupId, toAccountId, receive } = transaction
  invariant(
    groupId !== null && toAccountId !== null && receive !== null,
    'P2: an exchange has a group, a counterparty and an asset to receive',
  )
  turn.send(exchangeAddress(groupId), {
    type: 'offer_exchange',
    txnId,
    accountId,
    toAccountId,
    gives: { tokenId, amount },
    receives: receive,
    expiresAtMs,
  })
}

export function beginSupplyChange(turn: Turn, command: SubmitCommand, change: 'mint' | 'burn'): void {
  const transaction = submitted(turn, command)
  const { txnId, accountId, tokenId, amount } = transaction
  if (isNft(tokenId)) {
    turn.keep(pendingHold(transaction, false))
    entered(turn, transaction)
    return turn.send(instanceAddress(tokenId), { type: 'burn_nft', txnId, accountId })
  }
  const refused = change === 'burn' ? reserve(turn, transaction) : turn.lacksRoom(tokenId, parseQuantity(amount))
  if (refused !== undefined) return failing(turn, transaction, refused)
  if (change === 'mint') turn.change(tokenId, { room: parseQuantity(amount) })
  turn.keep(change === 'burn' ? pendingHold(transaction, true) : pendingHold(transaction, false, { tokenId, amount }))
  entered(turn, transaction)
  turn.send(tokenAddress(tokenId), { type: 'change_supply', txnId, accountId, change, amount })
}

/** P1, at the receiver. */
export function receiveTransfer(
  turn: Turn,
  command: AccountCommandOf<'receive_transfer'>,
  { transaction }: Pick<Evidence, 'transaction'>,
): void {
  const { txnId, fromAccountId, tokenId, amount, groupId, metadata, compensates, refunds } = command
  const quantity = parseQuantity(amount)
  const refused = refusesTransfer(turn, command)
  if (refused !== undefined) return refusing(turn, command, refused)
  turn.change(tokenId, { balance: quantity })
  const { txnId: counterTxnId } = carriedOut(turn, {
    type: 'credit',
    amount,
    tokenId,
    groupId,
    cause: creditCause(txnId),
    metadata,
    fromAccountId,
    compensates,
    refunds: refunds ?? null,
    counterTxnId: txnId,
  })
  if (refunds !== undefined) noteRefund(turn, transaction, amount)
  turn.send(
    accountAddress(fromAccountId),
    {
      type: 'conclude_transfer',
      txnId,
      failure: null,
      counterTxnId,
      ...(refunds === undefined ? undefined : { refunds }),
    },
    // Credited here and still in the sender's balance until the sender handles this message.
    [{ tokenId, quantity: `-${amount}` }],
  )
}

/** P4. `original`: this account's transaction of the refunded transfer. */
function noteRefund(turn: Turn, original: CompensableTransaction | undefined, amount: string): void {
  invariant(original !== undefined, 'P4: the refunded transfer is not a transaction of the account')
  const refunded = formatQuantity(parseQuantity(original.refunded ?? '0') + parseQuantity(amount))
  turn.note({ kind: 'transaction_refunded', txnId: original.txnId, refunded })
}

function refusing(turn: Turn, { txnId, fromAccountId }: AccountCommandOf<'receive_transfer'>, code: FailureCode): void {
  const ended = { type: 'conclude_transfer', txnId, failure: failure(code), counterTxnId: null } as const
  turn.send(accountAddress(fromAccountId), ended)
}

export function refuseClosedTransfer(turn: Turn, command: AccountCommandOf<'receive_transfer'>): void {
  refusing(turn, command, isOverdue(command) ? 'expired' : 'account_closed')
}

/** Whether another account's message expired before it arrived. */
export function isOverdue({ expiresAtMs, atMs }: { readonly expiresAtMs: number | null } & Stamp): boolean {
  return expiresAtMs !== null && expiresAtMs <= atMs
}

/** The receiver cannot refuse a return by its incoming policy. */
function refusesTransfer(turn: Turn, command: AccountCommandOf<'receive_transfer'>): FailureCode | undefined {
  const { incoming } = turn.before
  if (isOverdue(command)) return 'expired'
  if (incoming === 'refuse' && command.compensates === null) return 'incoming_refused'
  return turn.lacksRoom(command.tokenId, parseQuantity(command.amount))
}

/** P1, P2, P3: completes or releases. */
export function conclude(
  turn: Turn,
  command: AccountCommandOf<'conclude_transfer' | 'conclude_exchange' | 'conclude_supply'>,
  { transaction: original }: Pick<Evidence, 'transaction'>,
): void {
  const hold = pendingHoldOf(turn, command.txnId)
  const refused = command.failure
  if (refused !== null && hold.nft?.state === 'held') {
    const { txnId, accountId, tokenId } = hold.transaction
    turn.keep({ ...hold, nft: { ...hold.nft, state: 'releasing', failure: refused } })
    return turn.send(instanceAddress(tokenId), { type: 'release_nft', txnId, accountId, leg: null })
  }
  end(turn, hold, refused, 'counterTxnId' in command ? command.counterTxnId : null)
  const { refunds, amount } = hold.transaction
  if (refunds !== null && refused === null) noteRefund(turn, original, amount)
}

export function pendingHoldOf(turn: Turn, txnId: string): PendingHold {
  const hold = turn.hold(txnId)
  invariant(hold?.kind === 'pending', `${txnId} was decided and is not pending`)
  return hold
}

/** Makes the transaction final and removes its hold. */
export function end(turn: Turn, hold: PendingHold, refused: Failure | null, counterTxnId: string | null): void {
  const { transaction, reserves, room, reportsOn } = hold
  const { tokenId, compensates } = transaction
  const amount = -parseQuantity(transaction.amount)
  turn.letGo(hold)
  if (reserves) turn.change(tokenId, refused === null ? { balance: amount, reserved: amount } : { reserved: amount })
  else if (isNft(tokenId) && refused === null) turn.changeNfts({ owned: -1 })
  if (room !== null && refused === null) turn.fillRoom(room)
  else if (room !== null) turn.freeRoom(room)
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

/** Reserves the amount, or returns the failure. */
export function reserve(turn: Turn, transaction: Transaction): FailureCode | undefined {
  const { tokenId, amount } = transaction
  const lacks = lacksValue(turn, transaction)
  if (lacks === undefined && !isNft(tokenId)) turn.change(tokenId, { reserved: parseQuantity(amount) })
  return lacks
}

/** An NFT's home decides whether it is available. */
function lacksValue(turn: Turn, { tokenId, amount }: Transaction): FailureCode | undefined {
  if (isNft(tokenId)) return undefined
  return availableOf(turn.balance(tokenId)) < parseQuantity(amount) ? 'insufficient_funds' : undefined
}

export function pendingHold(
  transaction: Transaction,
  reserves: boolean,
  room: PendingHold['room'] = null,
  reportsOn: PendingHold['reportsOn'] = null,
): PendingHold {
  return { kind: 'pending', transaction, reserves, room, reportsOn }
}

export function failing(turn: Turn, transaction: Transaction, code: FailureCode): void {
  entered(turn, failed(turn, transaction, failure(code)))
}
