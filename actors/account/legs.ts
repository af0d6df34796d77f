/**
 * Legs of registered groups at an account. One hold is one side of one leg, from its expectation to its one terminal
 * order: settle or revert.
 *   L1. A leg is admitted by taking its own account's expectation in the same step, and by nothing else (I8).
 *   L2. Value that leaves belongs to the hold; incoming value is `incoming`; mints and burns are reserved. No account
 *       can spend any of it until the group settles.
 *   L3. An expectation reserves nothing and depends on no balance: the account has not signed it. The account reserves
 *       room once it signs an incoming leg, or once the sender's value is on hold. It can then refuse neither terminal
 *       order.
 *   L4. Settling and reverting end the hold; an order without a hold breaks an invariant.
 *   L5. An NFT stays its owner's until the group settles; its home holds it for the leg, and the leg then completes. A
 *       reverting leg releases the NFT before it reports the revert.
 */
import { groupAddress, instanceAddress } from '../address.ts'
import type { Compensation, GroupMessage, LegName, LegTerms } from '../message.ts'
import type { Refusal } from '../refusal.ts'
import { parseQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountCommandOf, DeclineCommand, Submission, SubmitCommand } from './commands.ts'
import { enterMovement } from './record.ts'
import { carriedOut, completed, entered, failed, type Order, submitted } from './record.ts'
import { type AccountData, availableOf, leavesBalance, type LegHold, legHoldId } from './state.ts'
import { failure, type FailureCode, type Transaction, type TransactionRecord } from './transaction.ts'
import { type AccountChange, Turn } from './turn.ts'

/** Limit on the unsigned legs of an account that one client may have registered at once (D10). */
export const MAX_EXPECTATIONS = 100

type Reports = Extract<GroupMessage, LegName>
type Report = {
  [Type in Reports['type']]: Omit<Extract<Reports, { readonly type: Type }>, keyof LegName>
}[Reports['type']]

function tell(turn: Turn, { groupId, leg, role }: LegName, report: Report): void {
  turn.send(groupAddress(groupId), { ...report, groupId, leg, role })
}

/** Whether the side of the leg at this account brings it value. */
function brings({ role, terms }: Pick<LegHold, 'role' | 'terms'>): boolean {
  return role === 'receiver' || terms.type === 'credit' || terms.type === 'mint'
}

export function expectLeg(turn: Turn, command: AccountCommandOf<'expect_leg'>): void {
  const { groupId, leg, role, termsHash, terms, clientId, dueAtMs } = command
  const refused = refusesLeg(turn.before, command)
  if (refused === null) {
    const expectation = { state: 'expected', txnId: null } as const
    turn.keep({ kind: 'leg', groupId, leg, role, termsHash, terms, clientId, dueAtMs, ...expectation })
  }
  tell(turn, command, { type: 'leg_expected', refused })
}

function accountIn({ role, terms }: AccountCommandOf<'expect_leg'>): string {
  return role === 'receiver' ? (terms.toAccountId ?? '') : terms.accountId
}

export function refuseClosedLeg(turn: Turn, command: AccountCommandOf<'expect_leg'>): void {
  const refused = { code: 'account_closed', detail: `The account ${accountIn(command)} is closed.` } as const
  tell(turn, command, { type: 'leg_expected', refused })
}

/** L3: a registration reveals to another client only that an account is closed or refuses all incoming value. */
function refusesLeg(account: AccountData, command: AccountCommandOf<'expect_leg'>): Refusal | null {
  const { clientId } = command
  const named = accountIn(command)
  if (brings(command) && account.incoming === 'refuse') {
    return { code: 'account_refuses', detail: `The account ${named} refuses incoming value.` }
  }
  if (account.holds.unsignedOf(clientId) < MAX_EXPECTATIONS) return null
  return {
    code: 'expectation_limit',
    detail: `The client has ${MAX_EXPECTATIONS} unsigned legs at the account ${named}, the limit. Retry once some are signed.`,
  }
}

/** The account declines these legs: their groups revert. */
export function declineLegs(turn: Turn, groupId: string | null): void {
  const { holds } = turn.before
  for (const hold of groupId === null ? holds.values() : holds.legsOf(groupId)) {
    if (hold.kind === 'leg' && hold.state === 'expected') failHold(turn, hold, 'declined', null)
  }
}

export function decline(account: AccountData, command: DeclineCommand): AccountChange {
  const turn = new Turn(account, command)
  const { groupId } = command
  declineLegs(turn, groupId)
  return { ...turn.done(), answer: { kind: 'legs_declined', groupId } }
}

/** The hold stays until the group orders the revert (L4). */
function failHold(turn: Turn, hold: LegHold, code: FailureCode, txnId: string | null): void {
  turn.keep({ ...hold, state: code === 'declined' ? 'declined' : 'failed', txnId })
  tell(turn, hold, { type: 'leg_failed', txnId, failure: failure(code) })
}

/** Legs that groups expect of the account and that it has not signed, by group ID and leg. */
export function expectationsOf({ holds }: AccountData): readonly LegHold[] {
  return [...holds.values()]
    .flatMap((hold) => (hold.kind === 'leg' && hold.state === 'expected' ? [hold] : []))
    .sort((one, other) => (one.groupId === other.groupId ? one.leg - other.leg : one.groupId < other.groupId ? -1 : 1))
}

/** The expectation that a submission would take; undefined if it is no leg of a registered group. */
export function expectationFor(account: AccountData, submission: Submission): LegHold | undefined {
  const { groupId, termsHash } = submission
  if (groupId === null) return undefined
  let found: LegHold | undefined
  for (const hold of account.holds.legsOf(groupId)) {
    if (hold.role !== 'own' || hold.state !== 'expected' || hold.termsHash !== termsHash) continue
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
    parseQuantity(terms.amount) === parseQuantity(submission.amount)
  )
}

/** L1. The step has checked that the expectation exists. */
export function postLeg(turn: Turn, command: SubmitCommand): void {
  const hold = expectationOf(turn.before, command)
  const { terms } = hold
  const { tokenId, type } = terms
  if (isNft(tokenId)) return askForNft(turn, command, hold)
  const amount = parseQuantity(terms.amount)
  const refused = brings(hold)
    ? refusesValue(turn, hold)
    : availableOf(turn.balance(tokenId)) < amount
      ? 'insufficient_funds'
      : undefined
  if (refused !== undefined) return failingLeg(turn, command, hold, refused)
  if (brings(hold)) turn.change(tokenId, { incoming: amount })
  else if (type === 'burn') turn.change(tokenId, { reserved: amount })
  else turn.change(tokenId, { balance: -amount, room: amount })
  const transaction = completed(turn, submitted(turn, command))
  entered(turn, transaction)
  completeLeg(turn, hold, transaction)
}

/** L3: checked once the account has signed, or the sender's value is on hold. */
function refusesValue(turn: Turn, { terms: { tokenId, amount } }: LegHold): FailureCode | undefined {
  return turn.before.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(tokenId, parseQuantity(amount))
}

function completeLeg(turn: Turn, hold: LegHold, { txnId, metadata }: TransactionRecord): void {
  turn.keep({ ...hold, state: 'completed', txnId })
  tell(turn, hold, { type: 'leg_completed', txnId, metadata })
}

/** L5. */
function askForNft(turn: Turn, command: SubmitCommand, hold: LegHold): void {
  const transaction = submitted(turn, command)
  entered(turn, transaction)
  const { txnId, accountId, tokenId } = transaction
  turn.keep({ ...hold, state: 'holding', txnId, transaction })
  const { toAccountId } = hold.terms
  turn.send(instanceAddress(tokenId), { type: 'hold_nft', txnId, accountId, leg: nameOf(hold), toAccountId })
}

/** L5: the NFT is held for the leg, or is not. */
export function holdLeg(turn: Turn, command: AccountCommandOf<'nft_held'> & { readonly leg: LegName }): void {
  const hold = legHoldOf(turn, command.leg)
  const { transaction } = hold
  const { groupId, leg } = hold
  invariant(hold.state === 'holding' && transaction !== undefined, `L5: leg ${leg} of ${groupId} asked for no NFT`)
  if (command.failure !== null) {
    finishFailed(turn, hold, transaction, command.failure.code)
  } else if (hold.reverting === true) {
    releaseNft(turn, hold, transaction.txnId)
  } else {
    const { transaction: _, ...held } = hold
    const ended = completed(turn, transaction)
    turn.note({ kind: 'transaction_finished', transaction: ended })
    completeLeg(turn, held, ended)
  }
}

/** L5: the NFT's home refused the hold, or the group reverted before the home's reply. */
function finishFailed(turn: Turn, hold: LegHold, transaction: Transaction, code: FailureCode): void {
  const { transaction: _, reverting, ...rest } = hold
  const ended = failed(turn, transaction, failure(code))
  turn.note({ kind: 'transaction_finished', transaction: ended })
  failHold(turn, rest, code, ended.txnId)
  if (reverting === true) reverted(turn, rest, null)
}

function releaseNft(turn: Turn, hold: LegHold, txnId: string): void {
  const { accountId } = turn.before
  turn.keep({ ...hold, state: 'releasing' })
  turn.send(instanceAddress(hold.terms.tokenId), { type: 'release_nft', txnId, accountId, leg: nameOf(hold) })
}

/** L5: the reverting leg has released its NFT. */
export function releaseLeg(turn: Turn, command: AccountCommandOf<'nft_released'> & { readonly leg: LegName }): void {
  const hold = legHoldOf(turn, command.leg)
  const { groupId, leg, transaction } = hold
  invariant(hold.state === 'releasing', `L5: leg ${leg} of ${groupId} released no NFT`)
  if (transaction === undefined) reverted(turn, hold, undo(turn, hold))
  else finishFailed(turn, hold, transaction, 'group_closed')
}

function nameOf({ groupId, leg, role }: LegHold): LegName {
  return { groupId, leg, role }
}

/** The leg's transaction fails, and with it its group. */
export function failLeg(turn: Turn, command: SubmitCommand, code: FailureCode): void {
  failingLeg(turn, command, expectationOf(turn.before, command), code)
}

function expectationOf(account: AccountData, { submission }: SubmitCommand): LegHold {
  const hold = expectationFor(account, submission)
  invariant(hold !== undefined, 'L1: a leg was submitted without its expectation')
  return hold
}

function failingLeg(turn: Turn, command: SubmitCommand, hold: LegHold, code: FailureCode): void {
  const transaction = failed(turn, submitted(turn, command), failure(code))
  entered(turn, transaction)
  failHold(turn, hold, code, transaction.txnId)
}

/** The receiver of a transfer whose sender's value is on hold. */
export function creditLeg(turn: Turn, command: AccountCommandOf<'credit_leg'>): void {
  const { groupId, leg, counterTxnId, metadata } = command
  const hold = legHoldOf(turn, command)
  // The group receives the reply, or has received it.
  if (hold.state === 'declined') return
  invariant(hold.state === 'expected', `L4: leg ${leg} of ${groupId} was credited before`)
  const refused = refusesValue(turn, hold)
  if (refused !== undefined) return failHold(turn, hold, refused, null)
  const { tokenId, amount, accountId: fromAccountId } = hold.terms
  // The place for an NFT stays reserved until the group settles.
  if (isNft(tokenId)) turn.keepRoom(hold.terms)
  else turn.change(tokenId, { incoming: parseQuantity(amount) })
  const cause = `leg ${groupId} ${leg} ${counterTxnId}`
  const order = { type: 'credit', amount, tokenId, groupId, cause, metadata, fromAccountId, counterTxnId } as const
  const { txnId } = carriedOut(turn, order)
  turn.keep({ ...hold, state: 'completed', txnId })
  tell(turn, hold, { type: 'leg_completed', txnId, metadata: null })
}

/** The group has settled: reserved value is free, and value that left is gone. */
export function settleLeg(turn: Turn, command: AccountCommandOf<'settle_leg'>): void {
  const { groupId, leg } = command
  const hold = legHoldOf(turn, command)
  invariant(hold.state === 'completed', `L4: leg ${leg} of ${groupId} cannot settle: it is ${hold.state}`)
  takeEffect(turn, hold)
  turn.letGo(hold)
  tell(turn, hold, { type: 'leg_settled' })
}

function takeEffect(turn: Turn, hold: LegHold): void {
  const { tokenId, type, boundary } = hold.terms
  const amount = parseQuantity(hold.terms.amount)
  if (isNft(tokenId)) {
    if (brings(hold)) turn.fillRoom(hold.terms)
    else turn.changeNfts({ owned: -1 })
    return
  }
  if (brings(hold)) turn.change(tokenId, { incoming: -amount, balance: amount })
  else if (type === 'burn') turn.change(tokenId, { reserved: -amount, balance: -amount })
  else turn.change(tokenId, { room: -amount })
  if (brings(hold) || type === 'burn') enterSettlement(turn, hold)
  if (boundary) turn.note({ kind: 'boundary_crossed', tokenId, quantity: brings(hold) ? amount : -amount })
}

/** The entry of a leg's transaction stated the balance before the group settled. */
function enterSettlement(turn: Turn, { groupId, txnId, role, terms }: LegHold): void {
  const { amount, tokenId } = terms
  const type = role === 'receiver' ? 'credit' : terms.type
  enterMovement(turn, tokenId, { kind: 'settlement', amount, group_id: groupId, settles: txnId, type })
}

/** The group has failed: an expectation is cancelled; a transaction of its own undoes a completed leg. */
export function revertLeg(turn: Turn, command: AccountCommandOf<'revert_leg'>): void {
  const hold = legHoldOf(turn, command)
  const holdsNft = hold.role === 'own' && isNft(hold.terms.tokenId)
  // The NFT's home has not replied yet (L5).
  if (hold.state === 'holding') turn.keep({ ...hold, reverting: true })
  else if (hold.state === 'completed' && holdsNft) releaseNft(turn, hold, hold.txnId ?? '')
  else reverted(turn, hold, hold.state === 'completed' ? undo(turn, hold) : null)
}

function reverted(turn: Turn, hold: LegHold, compensation: Compensation | null): void {
  turn.letGo(hold)
  tell(turn, hold, { type: 'leg_reverted', compensation })
}

function undo(turn: Turn, hold: LegHold): Compensation {
  const { groupId, leg, role, terms } = hold
  const { tokenId, amount } = terms
  giveBack(turn, hold)
  const compensates = hold.txnId ?? ''
  // A refused group frees its ID, so the same leg may be undone again in a later group with that ID.
  const cause = `revert ${groupId} ${leg} ${role} ${compensates}`
  const { txnId } = carriedOut(turn, { ...returned(hold), amount, tokenId, groupId, cause, compensates })
  return { compensates, txnId }
}

function giveBack(turn: Turn, hold: LegHold): void {
  const { terms } = hold
  const quantity = parseQuantity(terms.amount)
  if (isNft(terms.tokenId)) {
    // The NFT never left its owner: only the receiver's place for it becomes free.
    if (brings(hold)) turn.freeRoom(terms)
  } else if (brings(hold)) turn.change(terms.tokenId, { incoming: -quantity })
  else if (leavesBalance(terms)) turn.change(terms.tokenId, { balance: quantity, room: -quantity })
  else turn.change(terms.tokenId, { reserved: -quantity })
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
