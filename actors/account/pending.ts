/**
 * What another home decides: transfers to another account, exchanges, mints and burns. The value is reserved and the
 * room for what comes is kept free when it begins, so that its end can move them whatever has happened since.
 *   P1. A transfer: reserved here -> the receiver decides, once and for good, and credits -> completed or released here.
 *   P2. An exchange: both sides reserve what they give and the room for what they get; nothing can refuse its completion.
 *   P3. A mint or burn: the token decides. What an NFT takes part in, its own home decides (nfts.ts).
 */
import { accountAddress, exchangeAddress, groupAddress, instanceAddress, tokenAddress } from '../address.ts'
import { uuidOf } from '../identifiers.ts'
import type { CompensationOutcome, ExchangeSide, Stamp } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountMessageCommand, SubmitCommand } from './commands.ts'
import { completed, entered, failed, ordered, submitted } from './record.ts'
import { type AccountData, availableOf, type PendingHold } from './state.ts'
import { type Failure, failure, type FailureCode, type Transaction, type TransactionRecord } from './transaction.ts'
import { type AccountChange, Turn } from './turn.ts'

/** How long an exchange waits for its mirror unless it says otherwise, and at most. */
export const EXCHANGE_TIMEOUT_MS = 900_000
export const LONGEST_EXCHANGE_MS = 30 * 86_400_000

type Heard<Type extends AccountMessageCommand['type']> = Extract<AccountMessageCommand, { readonly type: Type }>

export function beginTransfer(account: AccountData, command: SubmitCommand, toAccountId: string): AccountChange {
  const { submission } = command
  const turn = new Turn(account, command)
  // What has no group ID gets one of its own, that both sides are found under.
  const groupId = submission.groupId ?? uuidOf(`${command.newTxnId} ${command.salt}`)
  const transaction = submitted(turn, command, groupId)
  const reserved = reserve(turn, transaction)
  if (reserved !== undefined) return failing(turn, transaction, reserved)
  sendTransfer(turn, transaction, toAccountId, { expiresAtMs: submission.expiresAtMs, compensates: null })
  return turn.done()
}

/** To whom decides: the receiver of value, the home of an NFT. What is sent is reserved already, where it can be. */
export function sendTransfer(
  turn: Turn,
  transaction: Transaction,
  toAccountId: string,
  terms: { readonly expiresAtMs: number | null; readonly compensates: string | null },
  reportsOn: PendingHold['reportsOn'] = null,
): void {
  const { txnId, accountId, tokenId, amount, groupId, metadata } = transaction
  turn.keep(pendingHold(transaction, !isNft(tokenId), null, reportsOn))
  entered(turn, transaction)
  if (isNft(tokenId)) {
    turn.send(instanceAddress(tokenId), {
      type: 'move_nft',
      txnId,
      accountId,
      toAccountId,
      groupId,
      metadata,
      ...terms,
    })
    return
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
  })
}

export function beginExchange(account: AccountData, command: SubmitCommand, receive: ExchangeSide): AccountChange {
  const { submission } = command
  const turn = new Turn(account, command)
  const transaction = submitted(turn, command)
  const reserved = reserve(turn, transaction)
  if (reserved !== undefined) return failing(turn, transaction, reserved)
  const brings = parseQuantity(receive.amount)
  const lacks = account.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(receive.tokenId, brings)
  // A new turn: what was reserved is forgotten with the old one.
  if (lacks !== undefined) return failing(new Turn(account, command), transaction, lacks)
  turn.keepRoom(receive)
  entered(turn, transaction)
  const expiresAtMs = Math.min(
    submission.expiresAtMs ?? command.atMs + EXCHANGE_TIMEOUT_MS,
    command.atMs + LONGEST_EXCHANGE_MS,
  )
  if (isNft(transaction.tokenId)) {
    // Offered once it is held.
    const nft = { state: 'holding', expiresAtMs, failure: null } as const
    turn.keep({ ...pendingHold(transaction, false, receive), nft })
    const { txnId, accountId, tokenId } = transaction
    turn.send(instanceAddress(tokenId), { type: 'hold_nft', txnId, accountId, leg: null, toAccountId: null })
    return turn.done()
  }
  turn.keep(pendingHold(transaction, true, receive))
  offer(turn, transaction, expiresAtMs)
  return turn.done()
}

/** P2: to the home that pairs it. What it gives is reserved, room for what it brings is kept. */
export function offer(turn: Turn, transaction: TransactionRecord, expiresAtMs: number): void {
  const { txnId, accountId, tokenId, amount, groupId, toAccountId, receive } = transaction
  invariant(
    groupId !== null && toAccountId !== null && receive !== null,
    'P2: an exchange names its group, its other side and what it brings',
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

export function beginSupplyChange(
  account: AccountData,
  command: SubmitCommand,
  change: 'mint' | 'burn',
): AccountChange {
  const turn = new Turn(account, command)
  const transaction = submitted(turn, command)
  const { tokenId, amount } = transaction
  if (isNft(tokenId)) {
    turn.keep(pendingHold(transaction, false))
    entered(turn, transaction)
    const { txnId, accountId } = transaction
    turn.send(instanceAddress(tokenId), { type: 'burn_nft', txnId, accountId })
    return turn.done()
  }
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
export function receiveTransfer(account: AccountData, command: Heard<'receive_transfer'>): AccountChange {
  const { txnId, fromAccountId, tokenId, amount, groupId, metadata, compensates } = command
  const turn = new Turn(account, command)
  const quantity = parseQuantity(amount)
  const refused = refusesTransfer(turn, command)
  if (refused !== undefined) return refusing(turn, command, refused)
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

function refusing(turn: Turn, { txnId, fromAccountId }: Heard<'receive_transfer'>, code: FailureCode): AccountChange {
  const ended = { type: 'conclude_transfer', txnId, failure: failure(code), counterTxnId: null } as const
  turn.send(accountAddress(fromAccountId), ended)
  return turn.done()
}

export function refuseClosedTransfer(account: AccountData, command: Heard<'receive_transfer'>): AccountChange {
  return refusing(new Turn(account, command), command, isOverdue(command) ? 'expired' : 'account_closed')
}

/** Whether the time of what another account sends was over before it came. */
export function isOverdue({ expiresAtMs, atMs }: { readonly expiresAtMs: number | null } & Stamp): boolean {
  return expiresAtMs !== null && expiresAtMs <= atMs
}

/** A give-back is not refused for the account's wishes. */
function refusesTransfer(turn: Turn, command: Heard<'receive_transfer'>): FailureCode | undefined {
  const { incoming } = turn.before
  if (isOverdue(command)) return 'expired'
  if (incoming === 'refuse' && command.compensates === null) return 'incoming_refused'
  return turn.lacksRoom(command.tokenId, parseQuantity(command.amount))
}

/** P1, P2, P3, at the end: completed or released. */
export function conclude(
  account: AccountData,
  command: Heard<'conclude_transfer'> | Heard<'conclude_exchange'> | Heard<'conclude_supply'>,
): AccountChange {
  const turn = new Turn(account, command)
  const hold = pendingHoldOf(turn, command.txnId)
  const refused = command.failure
  if (refused !== null && hold.nft?.state === 'held') {
    const { txnId, accountId, tokenId } = hold.transaction
    turn.keep({ ...hold, nft: { ...hold.nft, state: 'releasing', failure: refused } })
    turn.send(instanceAddress(tokenId), { type: 'release_nft', txnId, accountId, leg: null })
    return turn.done()
  }
  end(turn, hold, refused, 'counterTxnId' in command ? command.counterTxnId : null)
  return turn.done()
}

export function pendingHoldOf(turn: Turn, txnId: string): PendingHold {
  const hold = turn.hold(txnId)
  invariant(hold?.kind === 'pending', `a decision came for ${txnId}, which is not pending`)
  return hold
}

/** The transaction is final, its hold is gone. */
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

/** Sets the amount aside, or says why it cannot. Of an NFT that is its home's to say. */
export function reserve(turn: Turn, { tokenId, amount }: Transaction): FailureCode | undefined {
  if (isNft(tokenId)) return undefined
  const quantity = parseQuantity(amount)
  if (availableOf(turn.balance(tokenId)) < quantity) return 'insufficient_funds'
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

function failing(turn: Turn, transaction: Transaction, code: FailureCode): AccountChange {
  entered(turn, failed(turn, transaction, failure(code)))
  return turn.done()
}
