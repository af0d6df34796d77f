/**
 * Legs of registered groups at an account. One hold is one side of one leg, from its expectation to its one terminal
 * order: settle or revert.
 *   L1. A leg is admitted by taking its own account's expectation in the same step, and by nothing else (I8).
 *   L2. Value that leaves stays the hold's; value that comes is `incoming`, mints and burns are held: until the group
 *       settles nobody can spend any of it.
 *   L3. Room for what comes, and for what may come back, is kept: neither order can be refused.
 *   L4. Settling and reverting end the hold; an order without a hold is a broken invariant.
 *   L5. An NFT stays its owner's until the group settles, held by its home for the leg; the leg is completed once it is.
 */
import { groupAddress, instanceAddress } from '../address.ts'
import type { Compensation, LegName, LegTerms, Refused } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountMessageCommand, Submission, SubmitCommand } from './commands.ts'
import { completed, entered, failed, type Order, ordered, submitted } from './record.ts'
import { type AccountState, availableOf, isClosed, leavesBalance, type LegHold, legHoldId } from './state.ts'
import { failure, type FailureCode, type TransactionRecord } from './transaction.ts'
import { type Posted, Turn } from './turn.ts'

/** The most legs that an account may be expected to take part in at once. */
export const MAX_EXPECTATIONS = 1_000

type Heard<Type extends AccountMessageCommand['type']> = Extract<AccountMessageCommand, { readonly type: Type }>

/** Whether the side of the leg at this account brings it value. */
function brings({ role, terms }: Pick<LegHold, 'role' | 'terms'>): boolean {
  return role === 'receiver' || terms.type === 'credit' || terms.type === 'mint'
}

export function expectLeg(account: AccountState, command: Heard<'expect_leg'>): Posted {
  const { groupId, leg, role, termsHash, terms } = command
  const turn = new Turn(account, command)
  const refused = refusesLeg(turn, command)
  if (refused === null) {
    turn.keep({ kind: 'leg', groupId, leg, role, termsHash, terms, state: 'expected', txnId: null })
    if (brings(command)) turn.keepRoom(terms)
  }
  turn.send(groupAddress(groupId), { type: 'leg_expected', groupId, leg, role, refused })
  return turn.done()
}

function refusesLeg(turn: Turn, command: Heard<'expect_leg'>): Refused | null {
  const { role, terms } = command
  const { status, incoming, holds } = turn.before
  const named = role === 'receiver' ? (terms.toAccountId ?? '') : terms.accountId
  if (isClosed(turn.before)) return { code: 'account_closed', detail: `The account ${named} is closed.` }
  if (status === 'frozen' && role === 'own' && terms.type !== 'credit') {
    return { code: 'account_not_active', detail: `The account ${named} is frozen.` }
  }
  if (!atMostExpectations(holds.values())) {
    return {
      code: 'expectation_limit',
      detail: `The account ${named} is expected in as many legs as an account may be.`,
    }
  }
  if (!brings(command)) return null
  if (incoming === 'refuse') return { code: 'account_refuses', detail: `The account ${named} refuses incoming value.` }
  const lacks = turn.lacksRoom(terms.tokenId, parseQuantity(terms.amount))
  return lacks === undefined
    ? null
    : { code: lacks, detail: `The account ${named} has no room for what the leg brings.` }
}

/** Whether one more fits. */
function atMostExpectations(holds: Iterable<{ readonly kind: string }>): boolean {
  let legs = 0
  for (const { kind } of holds) if (kind === 'leg') legs += 1
  return legs < MAX_EXPECTATIONS
}

/** The expectation that a submission would take; undefined when it is no agreed leg. */
export function expectationFor(account: AccountState, submission: Submission): LegHold | undefined {
  let found: LegHold | undefined
  for (const hold of account.holds.values()) {
    if (hold.kind !== 'leg' || hold.role !== 'own' || hold.state !== 'expected') continue
    if (hold.groupId !== submission.groupId || hold.termsHash !== submission.termsHash) continue
    if (matches(hold.terms, submission) && (found === undefined || hold.leg < found.leg)) found = hold
  }
  return found
}

/** Amounts compare by value. */
function matches(terms: LegTerms, submission: Submission): boolean {
  return (
    terms.type === submission.type &&
    terms.tokenId === submission.tokenId &&
    terms.toAccountId === submission.toAccountId &&
    submission.receive === null &&
    parseQuantity(terms.amount).equals(parseQuantity(submission.amount))
  )
}

/** L1. The step has made sure that the expectation is there. */
export function postLeg(account: AccountState, command: SubmitCommand): Posted {
  const turn = new Turn(account, command)
  const hold = expectationOf(account, command)
  const { terms } = hold
  const { tokenId, type } = terms
  if (isNft(tokenId)) return askForNft(turn, command, hold)
  const amount = parseQuantity(terms.amount)
  if (!brings(hold) && availableOf(turn.balance(tokenId)).lessThan(amount)) {
    return failingLeg(turn, command, hold, 'insufficient_funds')
  }
  if (brings(hold)) turn.change(tokenId, { incoming: amount, room: amount.negated() })
  else if (type === 'burn') turn.change(tokenId, { reserved: amount })
  else turn.change(tokenId, { balance: amount.negated(), room: amount })
  const transaction = completed(turn, submitted(turn, command))
  entered(turn, transaction)
  completeLeg(turn, hold, transaction)
  return turn.done()
}

function completeLeg(turn: Turn, hold: LegHold, { txnId, metadata }: TransactionRecord): void {
  const { groupId, leg, role } = hold
  turn.keep({ ...hold, state: 'completed', txnId })
  turn.send(groupAddress(groupId), { type: 'leg_completed', groupId, leg, role, txnId, metadata })
}

/** L5. */
function askForNft(turn: Turn, command: SubmitCommand, hold: LegHold): Posted {
  const transaction = submitted(turn, command)
  entered(turn, transaction)
  const { payload: _payload, signature: _signature, ...pending } = transaction
  const { txnId, accountId, tokenId } = transaction
  turn.keep({ ...hold, state: 'holding', txnId, transaction: pending })
  const { groupId, leg, role } = hold
  turn.send(instanceAddress(tokenId), { type: 'hold_nft', txnId, accountId, leg: { groupId, leg, role } })
  return turn.done()
}

/** L5: the NFT is held for the leg, or is not. */
export function holdLeg(account: AccountState, command: Heard<'nft_held'> & { readonly leg: LegName }): Posted {
  const turn = new Turn(account, command)
  const hold = legHoldOf(turn, command.leg)
  const { transaction, reverting: _, ...held } = hold
  const { groupId, leg, role } = hold
  invariant(hold.state === 'holding' && transaction !== undefined, `L5: leg ${leg} of ${groupId} asked for no NFT`)
  // Told to revert meanwhile, it comes to nothing whatever its home says.
  const refused = command.failure ?? (hold.reverting === true ? failure('group_closed') : null)
  const ended = refused === null ? completed(turn, transaction) : failed(turn, transaction, refused)
  turn.note({ kind: 'transaction_finished', transaction: ended })
  if (hold.reverting === true) {
    turn.letGo(hold)
    turn.send(groupAddress(groupId), { type: 'leg_failed', groupId, leg, role, txnId: ended.txnId })
    turn.send(groupAddress(groupId), { type: 'leg_reverted', groupId, leg, role, compensation: null })
  } else if (refused === null) {
    completeLeg(turn, held, ended)
  } else {
    turn.keep({ ...held, state: 'failed', txnId: ended.txnId })
    turn.send(groupAddress(groupId), { type: 'leg_failed', groupId, leg, role, txnId: ended.txnId })
  }
  return turn.done()
}

/** The leg's transaction fails, and with it its group. */
export function failLeg(account: AccountState, command: SubmitCommand, code: FailureCode): Posted {
  return failingLeg(new Turn(account, command), command, expectationOf(account, command), code)
}

function expectationOf(account: AccountState, { submission }: SubmitCommand): LegHold {
  const hold = expectationFor(account, submission)
  invariant(hold !== undefined, 'L1: a leg came without its expectation')
  return hold
}

function failingLeg(turn: Turn, command: SubmitCommand, hold: LegHold, code: FailureCode): Posted {
  const transaction = failed(turn, submitted(turn, command), failure(code))
  entered(turn, transaction)
  const { groupId, leg, role } = hold
  if (brings(hold)) turn.freeRoom(hold.terms)
  turn.keep({ ...hold, state: 'failed', txnId: transaction.txnId })
  turn.send(groupAddress(groupId), { type: 'leg_failed', groupId, leg, role, txnId: transaction.txnId })
  return turn.done()
}

/** The other side of a transfer whose own leg is completed. */
export function creditLeg(account: AccountState, command: Heard<'credit_leg'>): Posted {
  const { groupId, leg, role, counterTxnId, metadata } = command
  const turn = new Turn(account, command)
  const hold = legHoldOf(turn, command)
  invariant(hold.state === 'expected', `L4: leg ${leg} of ${groupId} was credited before`)
  const { tokenId, amount, accountId: fromAccountId } = hold.terms
  const quantity = parseQuantity(amount)
  // A place for an NFT stays kept until the group settles.
  if (!isNft(tokenId)) turn.change(tokenId, { incoming: quantity, room: quantity.negated() })
  const cause = `leg ${groupId} ${leg} ${counterTxnId}`
  const credit = completed(
    turn,
    ordered(turn, { type: 'credit', amount, tokenId, groupId, cause, metadata, fromAccountId, counterTxnId }),
  )
  entered(turn, credit)
  turn.keep({ ...hold, state: 'completed', txnId: credit.txnId })
  turn.send(groupAddress(groupId), { type: 'leg_completed', groupId, leg, role, txnId: credit.txnId, metadata: null })
  return turn.done()
}

/** The group has settled: what was held is free, what has left is gone. */
export function settleLeg(account: AccountState, command: Heard<'settle_leg'>): Posted {
  const { groupId, leg, role } = command
  const turn = new Turn(account, command)
  const hold = legHoldOf(turn, command)
  invariant(hold.state === 'completed', `L4: leg ${leg} of ${groupId} is to settle and is ${hold.state}`)
  takeEffect(turn, hold)
  turn.letGo(hold)
  turn.send(groupAddress(groupId), { type: 'leg_settled', groupId, leg, role })
  return turn.done()
}

function takeEffect(turn: Turn, hold: LegHold): void {
  const { tokenId, type, boundary } = hold.terms
  const amount = parseQuantity(hold.terms.amount)
  if (isNft(tokenId)) {
    if (brings(hold)) turn.fillRoom(hold.terms)
    else turn.changeNfts({ owned: -1 })
    return
  }
  if (brings(hold)) turn.change(tokenId, { incoming: amount.negated(), balance: amount })
  else if (type === 'burn') turn.change(tokenId, { reserved: amount.negated(), balance: amount.negated() })
  else turn.change(tokenId, { room: amount.negated() })
  if (boundary) turn.note({ kind: 'boundary_crossed', tokenId, quantity: brings(hold) ? amount : amount.negated() })
}

/** The group has failed: an expectation is cancelled, a completed leg is undone by a transaction of its own. */
export function revertLeg(account: AccountState, command: Heard<'revert_leg'>): Posted {
  const { groupId, leg, role } = command
  const turn = new Turn(account, command)
  const hold = legHoldOf(turn, command)
  if (hold.state === 'holding') {
    // Its NFT's home has still to say whether it holds it (L5).
    turn.keep({ ...hold, reverting: true })
    return turn.done()
  }
  turn.letGo(hold)
  if (hold.state === 'expected' && brings(hold)) turn.freeRoom(hold.terms)
  const compensation = hold.state === 'completed' ? undo(turn, hold) : null
  turn.send(groupAddress(groupId), { type: 'leg_reverted', groupId, leg, role, compensation })
  return turn.done()
}

function undo(turn: Turn, hold: LegHold): Compensation {
  const { groupId, leg, role, terms } = hold
  const { tokenId, amount } = terms
  giveBack(turn, hold)
  const compensates = hold.txnId ?? ''
  // A group that was refused frees its ID: the same leg may be undone again, of another life of it.
  const cause = `revert ${groupId} ${leg} ${role} ${compensates}`
  const order = { ...returned(hold), amount, tokenId, groupId, cause, compensates }
  const transaction = completed(turn, ordered(turn, order))
  entered(turn, transaction)
  turn.note({ kind: 'transaction_compensated', txnId: compensates, by: transaction.txnId })
  return { compensates, txnId: transaction.txnId }
}

function giveBack(turn: Turn, hold: LegHold): void {
  const { terms } = hold
  const quantity = parseQuantity(terms.amount)
  if (isNft(terms.tokenId)) {
    // It never left its owner: only the place that was kept for it is free again.
    if (brings(hold)) turn.freeRoom(terms)
  } else if (brings(hold)) turn.change(terms.tokenId, { incoming: quantity.negated() })
  else if (leavesBalance(terms)) turn.change(terms.tokenId, { balance: quantity, room: quantity.negated() })
  else turn.change(terms.tokenId, { reserved: quantity.negated() })
}

/** D10: credit gives back a debit or transfer, debit takes back a credit, transfer returns an NFT. */
function returned(hold: LegHold): Pick<Order, 'type' | 'toAccountId' | 'fromAccountId'> {
  const { tokenId, accountId, toAccountId } = hold.terms
  if (!isNft(tokenId)) return { type: brings(hold) ? 'debit' : 'credit' }
  if (brings(hold)) return { type: 'transfer', toAccountId: accountId }
  return toAccountId === null ? { type: 'transfer' } : { type: 'transfer', fromAccountId: toAccountId }
}

function legHoldOf(turn: Turn, name: Pick<LegHold, 'groupId' | 'leg' | 'role'>): LegHold {
  const hold = turn.hold(legHoldId(name))
  invariant(hold?.kind === 'leg', `L4: there is no leg ${name.leg} of ${name.groupId} here`)
  return hold
}
