/**
 * A batch in preparation: commands stepped on committed memory and the batch's own changes. It changes no memory: if
 * its commit fails, it is discarded and the commands are stepped again. Changes of several commands to one actor become
 * one row.
 */
import { type AccountClientCommand, payloadHashOf } from '../../../actors/account/commands.ts'
import { type Answer, type EarlierUse, type Effect, originalAnswer } from '../../../actors/account/outcome.ts'
import type { AccountKey, AccountState } from '../../../actors/account/state.ts'
import type { CompensableTransaction, Transaction } from '../../../actors/account/transaction.ts'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import { holdIdOf } from '../../../actors/identifiers.ts'
import { type Quantity, ZERO } from '../../../actors/money.ts'
import type { Rate } from '../../../actors/rate.ts'
import type { AnyState, StepActor, StepOutcome } from '../../../actors/step-actor.ts'
import {
  type AccountKeyWrite,
  type AuditEntryWrite,
  type GroupUse,
  groupUseAddressOf,
  type HoldName,
  keyAddressOf,
  type NftEventWrite,
  type OutboxMessage,
  type OutboxWrite,
  type RefundWrite,
  type ShardBatch,
} from '../../ports/ledger-store.ts'
import type { CommandSpan } from './command-span.ts'
import type { Facts } from './facts.ts'
import type { Incarnation, TransactionNews } from './incarnation.ts'
import type { OrderLimit } from './order-limit.ts'
import type { DecidedAnswer } from './output-gate.ts'
import { type Pending, verdictKey, waitsFor } from './pending-command.ts'
import { effectBytes, stateBytes } from './weights.ts'
import type { Wire } from '../../protocol/wire.ts'

export interface StepSettings {
  readonly ledgerId: string
  readonly production: boolean
  /** Of the orders of each account; undefined: no limit. */
  readonly accountRate?: Rate | undefined
}

/** The node's parts that stepping needs. */
export interface StepSurroundings {
  readonly settings: StepSettings
  readonly step: StepActor
  readonly wire: Pick<Wire, 'writeEnvelope'>
  readonly facts: Facts
  readonly inbox: InboxOrder
  readonly homeOf: (actor: ActorAddress) => number
  /** undefined: accounts have no rate limit. */
  readonly orders?: OrderLimit | undefined
}

/** The order in which a shard's messages are consumed (D6): each one after the previous number. */
export interface InboxOrder {
  readonly isNext: (mark: number, number: number) => boolean
}

export const inboxOrder: InboxOrder = { isNext: (mark, number) => number === mark + 1 }

/** One shard's part of a batch. */
export class ShardDraft {
  readonly incarnation: Incarnation
  /** Every stepped command, in order: to be settled, or stepped again. */
  readonly pendings: Pending[] = []
  readonly answers: DecidedAnswer[] = []
  /** Requests that a later step of their actor concludes. */
  readonly deferred: Pending[] = []
  /** Replies to requests of earlier batches, by `waitsFor`. */
  readonly concluded = new Map<string, Answer>()
  readonly changed = new Map<string, { readonly actor: ActorAddress; readonly state: AnyState | null }>()
  readonly balances = new Map<string, { readonly accountId: string; readonly tokenId: string }>()
  readonly holds = new Map<string, HoldName>()
  readonly erased: string[] = []
  readonly keys: AccountKeyWrite[] = []
  readonly entries: AuditEntryWrite[] = []
  readonly transactions: Transaction[] = []
  readonly finished = new Map<string, Transaction>()
  readonly compensatedBy = new Map<string, string>()
  /** By the refunded transaction. */
  readonly refunds = new Map<string, RefundWrite>()
  readonly operations: ShardBatch['operations'][number][] = []
  readonly keyUses = new Map<string, EarlierUse>()
  readonly groupUses = new Map<string, GroupUse[]>()
  readonly news = new Map<string, TransactionNews>()
  readonly nftEvents: NftEventWrite[] = []
  readonly outbox: OutboxWrite[] = []
  /** The spans of commands of recorded traces, by their messages; undefined: none sent one. */
  senders: Map<OutboxMessage, CommandSpan> | undefined = undefined
  readonly sent = new Map<number, number>()
  readonly marks = new Map<number, number>()
  readonly boundary = new Map<string, { credited: Quantity; debited: Quantity }>()
  /** Bytes of clients' texts in the rows so far. */
  textBytes = 0

  constructor(incarnation: Incarnation) {
    this.incarnation = incarnation
  }
}

export type DraftStep =
  | { readonly kind: 'taken'; readonly answer: Answer | null }
  | Extract<StepOutcome, { readonly kind: 'unverified' }>
  /** It may have been applied before and no key can prove that; or its look-up lacks a fact. */
  | { readonly kind: 'undeterminable' }
  /** It changes a row that this batch adds: it must wait for the next batch. */
  | { readonly kind: 'deferred_to_next_batch' }
  /** A duplicate of a consumed message: it is dropped. */
  | { readonly kind: 'repeated' }
  /** An invariant is broken: the shard must stop. */
  | { readonly kind: 'broken'; readonly detail: string }

/** Steps one command into the draft. If it throws, the draft may contain part of the command: discard the draft. */
export function stepInto(draft: ShardDraft, pending: Pending, surroundings: StepSurroundings): DraftStep {
  const { origin } = pending
  if (origin.kind === 'message') {
    const mark = draft.marks.get(origin.source) ?? draft.incarnation.marks.get(origin.source) ?? 0
    if (!surroundings.inbox.isNext(mark, origin.number)) {
      if (origin.number <= mark) return { kind: 'repeated' }
      return { kind: 'broken', detail: `message ${origin.number} of shard ${origin.source} came after ${mark}` }
    }
  }
  const result = judge(draft, pending, surroundings)
  if (result.kind === 'stale_look_up' || isUndeterminable(pending, result)) return { kind: 'undeterminable' }
  if (result.kind === 'unverified' || result.kind === 'broken') return result
  if (result.kind === 'stepped' && changesWhatIsNew(draft, pending, result.effects))
    return { kind: 'deferred_to_next_batch' }
  const limited = result.kind === 'stepped' ? surroundings.orders?.refusalOf(pending, result.answer) : undefined
  draft.pendings.push(pending)
  if (limited !== undefined) {
    draft.answers.push([pending, { kind: 'answered', answer: limited }])
    return { kind: 'taken', answer: limited }
  }
  if (origin.kind === 'message') draft.marks.set(origin.source, origin.number)
  const { answer } = result
  if (answer === 'deferred') draft.deferred.push(pending)
  else if (answer !== null) draft.answers.push([pending, { kind: 'answered', answer }])
  if (result.kind === 'stepped') fold(draft, pending, result, surroundings)
  return { kind: 'taken', answer: answer === 'deferred' ? null : answer }
}

const REFUSED_BY_ITSELF: ReadonlySet<string> = new Set(['register', 'decline_legs', 'release_hold'])

/**
 * A status change that may have been applied must not be applied after later changes. A registration or a decline may
 * be refused because of its own effect: a declined leg is gone once its group has reverted. A release may be refused because
 * the account has changed since.
 */
function isUndeterminable(
  { perhapsApplied, keyAddress, command }: Pending,
  result: { readonly kind: string },
): boolean {
  if (!perhapsApplied || (keyAddress !== null && command.type !== 'release_hold')) return false
  if (command.type === 'change_status' || command.type === 'pause' || command.type === 'resume') return true
  if (!REFUSED_BY_ITSELF.has(command.type) || !('answer' in result)) return false
  return (result as { readonly answer: Answer }).answer.kind === 'refused'
}

/**
 * A conclusion always concerns an earlier batch, since its cause is sent only after the commit. A leg's revert may not
 * wait.
 */
function changesWhatIsNew(
  { transactions, finished, changed }: ShardDraft,
  { actorKey: key }: Pending,
  effects: readonly Effect[],
): boolean {
  return effects.some(
    (effect) =>
      (effect.kind === 'transaction_compensated' && transactions.some(({ txnId }) => txnId === effect.txnId)) ||
      // The sum of refunds is written to a row that is final already.
      (effect.kind === 'transaction_refunded' &&
        (finished.has(effect.txnId) || transactions.some(({ txnId }) => txnId === effect.txnId))) ||
      (effect.kind === 'account_erased' && changed.has(key)),
  )
}

function judge(
  draft: ShardDraft,
  pending: Pending,
  { settings, step, facts: known, homeOf }: StepSurroundings,
): StepOutcome | { readonly kind: 'broken'; readonly detail: string } {
  if (pending.forced !== null) return { kind: 'answered', answer: pending.forced }
  const { command, keyAddress, resident } = pending
  const facts = pending.found.facts ?? known
  if (resident === null) return { kind: 'broken', detail: 'A command was stepped without its actor.' }
  const changed = draft.changed.get(pending.actorKey)
  const state = changed === undefined ? resident.state : changed.state
  const { recent } = pending.incarnation
  const earlier =
    keyAddress === null
      ? undefined
      : (draft.keyUses.get(keyAddress) ?? recent.keys.get(keyAddress)?.earlier ?? pending.earlier)
  // Listed one by one: V8 gives an object literal that starts with a spread slow property access.
  return step(pending.actor, state, command, {
    ledgerId: settings.ledgerId,
    production: settings.production,
    earlier,
    verdict: (keyId, signature) => pending.verdicts.get(verdictKey(keyId, signature)),
    token: facts.token,
    nftClass: facts.nftClass,
    minted: facts.minted,
    exists: (accountId) => facts.exists({ shardId: homeOf({ kind: 'account', id: accountId }), accountId }),
    groupUses: groupUsesOf(draft, pending),
    transaction: transactionOf(draft, pending),
    usedElsewhere: pending.found.usedElsewhere,
    residence: {
      resident: pending.wasResident,
      mailbox: pending.incarnation.mailbox.sizeOf(pending.actorKey),
    },
  })
}

/** Uses found by the look-up, committed since, or stepped in this batch. */
function groupUsesOf(draft: ShardDraft, { command, found, incarnation }: Pending): readonly GroupUse[] {
  if (!('submission' in command) || command.submission.groupId === null) return []
  const { accountId, groupId } = command.submission
  const address = groupUseAddressOf({ shardId: incarnation.token.shardId, accountId, groupId })
  const since = [...(incarnation.recent.groupUses.get(address) ?? []), ...(draft.groupUses.get(address) ?? [])]
  return since.length === 0 ? found.groupUses : [...found.groupUses, ...since]
}

function transactionOf(draft: ShardDraft, { found, incarnation }: Pending): CompensableTransaction | undefined {
  const { transaction } = found
  if (transaction === undefined) return undefined
  const { txnId } = transaction
  return { ...transaction, ...incarnation.recent.transactions.get(txnId), ...draft.news.get(txnId) }
}

function fold(
  draft: ShardDraft,
  pending: Pending,
  step: Extract<StepOutcome, { readonly kind: 'stepped' }>,
  surroundings: StepSurroundings,
): void {
  const { actor, command, keyAddress } = pending
  const before = draft.changed.get(pending.actorKey)?.state ?? pending.resident?.state ?? null
  if (step.state !== before) {
    draft.changed.set(pending.actorKey, { actor, state: step.state })
    draft.textBytes += stateBytes(step.state)
  }
  for (const effect of step.effects) {
    foldEffect(draft, pending, effect, surroundings)
    draft.textBytes += effectBytes(effect)
  }
  // A rotation is recorded under the key that ordered it, not the new one.
  const key = keyOf(before) ?? keyOf(step.state) ?? NO_KEY
  const { answer } = step
  if (keyAddress !== null && answer !== null && answer !== 'deferred') {
    const payloadHash = payloadHashOf(command as AccountClientCommand)
    draft.keyUses.set(keyAddress, { payloadHash, key, answer })
  }
}

/** For status changes of keyless accounts: they need no signature. */
const NO_KEY: AccountKey = { keyId: '', publicKey: '' }

function keyOf(state: AnyState | null): AccountKey | null {
  return state?.kind === 'account' ? state.key : null
}

function foldEffect(
  draft: ShardDraft,
  { actor, actorKey: key, command, incarnation, span }: Pending,
  effect: Effect,
  { homeOf, wire }: StepSurroundings,
): void {
  const accountId = actor.id
  switch (effect.kind) {
    case 'entry_appended':
      draft.entries.push(Object.assign({}, effect.entry, { accountId }))
      return
    case 'balance_changed':
      draft.balances.set(`${accountId} ${effect.tokenId}`, { accountId, tokenId: effect.tokenId })
      return
    case 'hold_changed':
      draft.holds.set(`${accountId} ${effect.holdId}`, { accountId, holdId: effect.holdId })
      return
    case 'account_erased':
      draft.erased.push(accountId)
      return
    case 'transaction_entered':
      draft.transactions.push(effect.transaction)
      noteGroupUse(draft, effect.transaction)
      return
    case 'transaction_finished': {
      const { txnId, status, counterTxnId } = effect.transaction
      draft.finished.set(txnId, effect.transaction)
      draft.news.set(txnId, Object.assign({}, draft.news.get(txnId), { status, counterTxnId }))
      return
    }
    case 'transaction_compensated':
      draft.compensatedBy.set(effect.txnId, effect.by)
      draft.news.set(effect.txnId, { ...draft.news.get(effect.txnId), compensatedBy: effect.by })
      return
    case 'transaction_refunded': {
      const { txnId, refunded } = effect
      draft.refunds.set(txnId, { txnId, accountId, refunded })
      draft.news.set(txnId, { ...draft.news.get(txnId), refunded })
      return
    }
    case 'boundary_crossed':
      addCrossing(draft, effect)
      return
    case 'message_sent': {
      const target = homeOf(effect.envelope.to)
      const number = (draft.sent.get(target) ?? incarnation.sent.get(target) ?? 0) + 1
      draft.sent.set(target, number)
      const message = { target, number, envelope: wire.writeEnvelope(effect.envelope), atMs: command.atMs }
      draft.outbox.push(message)
      if (span !== undefined) (draft.senders ??= new Map()).set(message, span)
      return
    }
    case 'concluded': {
      const { use, answer } = effect
      const { shardId } = incarnation.token
      conclude(draft, use === undefined ? key : keyAddressOf({ shardId, accountId, ...use }), answer)
      return
    }
    case 'nft_event':
      draft.nftEvents.push({ nftId: effect.nftId, event: effect.event })
      return
    case 'key_registered':
      draft.keys.push({ accountId, key: effect.key, fromSequence: effect.fromSequence, atMs: effect.atMs })
      return
    case 'operation_recorded':
      recordOperation(draft, effect)
      return
  }
}

function addCrossing(
  draft: ShardDraft,
  { tokenId, quantity }: Extract<Effect, { readonly kind: 'boundary_crossed' }>,
): void {
  const sums = draft.boundary.get(tokenId) ?? { credited: ZERO, debited: ZERO }
  if (quantity < 0n) sums.debited -= quantity
  else sums.credited += quantity
  draft.boundary.set(tokenId, sums)
}

function recordOperation(
  draft: ShardDraft,
  { operation, acceptedUnder }: Extract<Effect, { kind: 'operation_recorded' }>,
): void {
  draft.operations.push(operation)
  if (acceptedUnder === null) return
  const { shardId } = draft.incarnation.token
  const { payloadHash } = operation
  const earlier = { payloadHash, key: acceptedUnder, answer: originalAnswer(operation) }
  draft.keyUses.set(keyAddressOf({ shardId, ...operation }), earlier)
}

/** Replies to all requests that wait now; a later request, even in the same batch, begins anew. */
function conclude(draft: ShardDraft, key: string, answer: Answer): void {
  draft.concluded.set(key, answer)
  const [parked] = draft.incarnation.parked.get(key) ?? []
  const waiting = draft.deferred.filter((pending) => waitsFor(pending) === key)
  const others = draft.deferred.filter((pending) => waitsFor(pending) !== key)
  draft.deferred.splice(0, draft.deferred.length, ...others)
  for (const pending of waiting) {
    draft.answers.push([pending, { kind: 'answered', answer: answerFor(pending, parked ?? waiting[0], answer) }])
  }
}

function noteGroupUse(draft: ShardDraft, { origin, shardId, accountId, groupId, type, tokenId }: Transaction): void {
  if (groupId === null || origin !== 'client') return
  const address = groupUseAddressOf({ shardId, accountId, groupId })
  const uses = draft.groupUses.get(address)
  if (uses === undefined) draft.groupUses.set(address, [{ type, tokenId }])
  else if (!isKnownUse(uses, { type, tokenId })) uses.push({ type, tokenId })
}

/** Keeps each use once: a busy account may add thousands under one group ID while look-ups are open. */
export function isKnownUse(uses: readonly GroupUse[], { type, tokenId }: GroupUse): boolean {
  return uses.some((use) => use.type === type && use.tokenId === tokenId)
}

/** `first`: the request that waited first; it need not have begun the concluded operation. */
export function answerFor(pending: Pending, first: Pending | undefined, answer: Answer): Answer {
  const { command, origin } = pending
  if (answer.kind === 'minted' && command.type === 'mint') {
    // The first waiting request may not have begun the mint: an earlier owner may have received that one.
    const replayed = command.newTxnId !== answer.txnId
    return { ...answer, replayed, mismatch: command.payloadHash !== answer.payloadHash }
  }
  if (answer.kind === 'hold_created' && command.type === 'create_hold') {
    const replayed = holdIdOf(command.newTxnId) !== answer.hold.holdId
    return { ...answer, replayed, mismatch: command.payloadHash !== answer.payloadHash }
  }
  if (answer.kind === 'token_registered' || answer.kind === 'class_registered') {
    const isFirst = origin.kind === 'request' && first?.origin.kind === 'request'
    // All attempts of a request have its ID.
    const isSame = isFirst && origin.item.requestId === first.origin.item.requestId
    return { ...answer, replayed: answer.replayed || !isSame }
  }
  if (answer.kind !== 'group_registered' || command.type !== 'register_group') return answer
  const isFirst = first?.command.type === 'register_group' && first.command.registrationKey === command.registrationKey
  return { ...answer, created: isFirst }
}

/** The account's state in the draft. */
export function accountIn(draft: ShardDraft, accountId: string): AccountState | undefined {
  const state = draft.changed.get(actorKey({ kind: 'account', id: accountId }))?.state
  return state?.kind === 'account' ? state : undefined
}
