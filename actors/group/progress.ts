/**
 * Actions of a settlement group.
 *   G1. A part of a leg gets one order to expect, and one to settle or revert; the group decides which, once (I8).
 *   G2. A final state is written only after every part has replied.
 *   G3. Nothing is undone twice: requested compensations are stored by the named transaction.
 */
import { accountAddress, type ActorAddress, instanceAddress, tokenAddress } from '../address.ts'
import { type Effect, FIRST, refusal, sent } from '../account/outcome.ts'
import { type Change, written } from '../define-actor.ts'
import { failure, type FailureCode } from '../account/transaction.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { CarriedValue, LegName, LegRole, LegTerms, Message, Stamp } from '../message.ts'
import type { Refusal } from '../refusal.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import {
  type GroupCommandOf,
  type GroupData,
  type GroupLeg,
  groupViewAs,
  type LegPart,
  type RegisterGroupCommand,
  type RevertGroupCommand,
} from './state.ts'

type GroupChange = Change<GroupData>

/** One change of the group; the next one continues from its result. */
export type Progress = (group: GroupData, effects: Effect[]) => GroupData

export function begin(command: RegisterGroupCommand): GroupChange {
  const { terms, caller, atMs } = command
  const dueAtMs = atMs + terms.timeoutSeconds * 1_000
  const legs = terms.legs.map((leg): GroupLeg => ({ terms: leg, parts: rolesOf(leg).map(newPart) }))
  const data: GroupData = {
    ...blank(terms.groupId, command),
    termsHash: terms.termsHash,
    timeoutSeconds: terms.timeoutSeconds,
    legs,
    clientId: caller.clientId,
    registrationKey: command.registrationKey,
    dueAtMs,
    timeoutAtMs: dueAtMs,
  }
  const effects: Effect[] = []
  const { clientId } = caller
  eachPart(data, (name, leg, { state }) => {
    if (state === 'unasked') return
    tell(effects, leg, name, { type: 'expect_leg', ...name, termsHash: terms.termsHash, terms: leg, clientId, dueAtMs })
  })
  return { data, effects, answer: 'deferred' }
}

function blank(id: string, { atMs, caller }: RegisterGroupCommand | RevertGroupCommand): GroupData {
  return {
    kind: 'group',
    format: 1,
    id,
    version: 1,
    termsHash: '',
    timeoutSeconds: 0,
    legs: [],
    clientId: caller.clientId,
    registrationKey: '',
    refused: null,
    failure: null,
    compensationsAsked: {},
    compensations: [],
    partialFailures: [],
    createdAtMs: atMs,
    dueAtMs: null,
    timeoutAtMs: null,
    finishedAtMs: null,
    lastTimeMs: atMs,
  }
}

function rolesOf({ type, toAccountId, tokenId }: LegTerms): readonly LegRole[] {
  if (isNft(tokenId)) return type === 'burn' ? ['own', 'instance'] : ['own', 'receiver', 'instance']
  if (type === 'mint' || type === 'burn') return ['own', 'supply']
  return toAccountId === null ? ['own'] : ['own', 'receiver']
}

/** The group sends an order to a token or an NFT only after the leg's account has signed. */
function newPart(role: LegRole): LegPart {
  const state = role === 'own' || role === 'receiver' ? 'asked' : 'unasked'
  return { role, state, txnId: null, metadata: null, failed: false, compensationTxnId: null }
}

/** The actor that decides a part. */
function homeOf({ accountId, toAccountId, tokenId }: LegTerms, role: LegRole): ActorAddress {
  switch (role) {
    case 'own':
      return accountAddress(accountId)
    case 'receiver':
      return accountAddress(toAccountId ?? '')
    case 'supply':
      return tokenAddress(tokenId)
    case 'instance':
      return instanceAddress(tokenId)
  }
}

function tell(
  effects: Effect[],
  leg: LegTerms,
  { role }: LegName,
  message: Message,
  carries: readonly CarriedValue[] = [],
) {
  effects.push(sent(homeOf(leg, role), message, carries))
}

function eachPart(group: GroupData, see: (name: LegName, leg: LegTerms, part: LegPart) => void): void {
  group.legs.forEach(({ terms, parts }, leg) => {
    for (const part of parts) see({ groupId: group.id, leg, role: part.role }, terms, part)
  })
}

function withPart(group: GroupData, { leg, role }: LegName, changes: Partial<LegPart>): GroupData {
  const named = group.legs[leg]
  invariant(named?.parts.some((part) => part.role === role) === true, `group ${group.id} has no ${role} of leg ${leg}`)
  const parts = named.parts.map((part) => (part.role === role ? { ...part, ...changes } : part))
  return { ...group, legs: group.legs.map((other, index) => (index === leg ? { ...named, parts } : other)) }
}

function withParts(group: GroupData, change: (part: LegPart) => LegPart): GroupData {
  return { ...group, legs: group.legs.map((leg) => ({ ...leg, parts: leg.parts.map(change) })) }
}

export function advanced(
  group: GroupData,
  stamp: Stamp,
  ...steps: readonly Progress[]
): { readonly data: GroupData; readonly effects: readonly Effect[] } {
  const effects: Effect[] = []
  let next = written(group, stamp)
  for (const step of steps) next = step(next, effects)
  return { data: next, effects }
}

export function noteExpected(command: GroupCommandOf<'leg_expected'>): Progress {
  return (group) => {
    const { refused } = command
    const next = withPart(group, command, { state: refused === null ? 'expected' : 'refused' })
    return refused === null || next.refused !== null ? next : { ...next, refused }
  }
}

/** The group timed out before all accounts expected their legs. */
export const noteExpired: Progress = (group) => {
  const expired: Refusal = { code: 'group_expired', detail: 'The group timed out before all accounts had replied.' }
  return { ...group, refused: group.refused ?? expired, dueAtMs: null }
}

/** All accounts expect their legs; some may already have submitted. */
export const open: Progress = (group, effects) => {
  // The client gets the registered state, even if the same step already changes it.
  const view = groupViewAs(group, 'open')
  effects.push({ kind: 'concluded', answer: { kind: 'group_registered', group: view, created: true, ...FIRST } })
  return group.legs.reduce((next, { parts }, leg) => {
    const own = parts.find(({ role }) => role === 'own')
    if (own?.state !== 'completed') return next
    const told = withPart(next, { groupId: group.id, leg, role: 'own' }, { metadata: null })
    return orderCounterpart(told, effects, leg, own.txnId ?? '', own.metadata)
  }, group)
}

/**
 * After the account's side of a leg: orders the receiver of a transfer, or the token of a mint or burn, to do its own.
 */
function orderCounterpart(
  group: GroupData,
  effects: Effect[],
  leg: number,
  counterTxnId: string,
  metadata: JsonObject | null,
): GroupData {
  const { id: groupId, clientId } = group
  const { terms, parts = [] } = group.legs[leg] ?? {}
  return parts.reduce((next, { role }) => {
    const name: LegName = { groupId, leg, role }
    if (terms === undefined || role === 'own' || role === 'instance') return next
    if (role === 'receiver') tell(effects, terms, name, { type: 'credit_leg', ...name, counterTxnId, metadata })
    else {
      const { amount } = terms
      const change = terms.type === 'mint' ? 'mint' : 'burn'
      tell(effects, terms, name, { type: 'hold_supply', ...name, change, amount, clientId })
    }
    return withPart(next, name, { state: 'ordered' })
  }, group)
}

/** Cancels the legs that accounts already expect or completed. */
export const refuse: Progress = (group, effects) => {
  const next = withParts(group, (part) => (isBound(part) ? { ...part, state: 'reverting' } : part))
  eachPart(next, (name, leg, part) => {
    if (part.state === 'reverting') tell(effects, leg, name, { type: 'revert_leg', ...name })
  })
  return { ...next, dueAtMs: null }
}

/** Whether the part's home keeps a hold. */
export function isBound({ state }: LegPart): boolean {
  return state === 'expected' || state === 'completed' || state === 'failed'
}

/** Frees the ID, and replies to the registering client. */
export function forget({ refused }: GroupData): GroupChange {
  invariant(refused !== null, 'a deleted group has a refusal')
  const { code, detail } = refused
  return { data: null, effects: [{ kind: 'concluded', answer: refusal(code, detail, 'legs') }] }
}

export function noteCompleted(command: GroupCommandOf<'leg_completed'>): Progress {
  return (group) => withPart(group, command, { state: 'completed', txnId: command.txnId })
}

/** A leg completed while the group registers. Its metadata waits for the message to a receiver, sent at opening. */
export function noteEarly(command: GroupCommandOf<'leg_completed'>): Progress {
  const { leg, metadata, txnId } = command
  return (group) => {
    const isForReceiver = group.legs[leg]?.parts.some(({ role }) => role === 'receiver') === true
    return withPart(group, command, { state: 'completed', txnId, metadata: isForReceiver ? metadata : null })
  }
}

export function proceed({ leg, role, txnId, metadata }: GroupCommandOf<'leg_completed'>): Progress {
  return (group, effects) => (role === 'own' ? orderCounterpart(group, effects, leg, txnId ?? '', metadata) : group)
}

/** A reverting part stays so: only its transaction is recorded. */
export function noteLate(command: GroupCommandOf<'leg_completed' | 'leg_failed'>): Progress {
  return (group) => withPart(group, command, { txnId: command.txnId, failed: command.type === 'leg_failed' })
}

export function noteFailed(command: GroupCommandOf<'leg_failed'>): Progress {
  return (group) => ({
    ...withPart(group, command, { state: 'failed', txnId: command.txnId, failed: true }),
    failure: group.failure ?? command.failure,
  })
}

/** Whether every part is completed once this one is. */
export function isComplete(group: GroupData, name: LegName): boolean {
  const { legs } = withPart(group, name, { state: 'completed' })
  return legs.every(({ parts }) => parts.every(isIn))
}

/** The NFT's home already holds the NFT once the leg's own account has completed. */
function isIn({ role, state }: LegPart): boolean {
  return state === 'completed' || role === 'instance'
}

export const settle: Progress = (group, effects) => {
  const next = withParts(group, (part) => ({ ...part, state: 'settling' }))
  eachPart(next, (name, leg) =>
    tell(effects, leg, name, { type: 'settle_leg', ...name }, carriedBySettling(leg, name.role)),
  )
  return { ...next, dueAtMs: null }
}

/**
 * The change of the ledger's balances and holds by settling a part; none with an external account on the other side.
 */
function carriedBySettling(leg: LegTerms, role: LegRole): readonly CarriedValue[] {
  const { tokenId, amount, type, boundary } = leg
  if (boundary || isNft(tokenId)) return []
  const comes = role === 'receiver' || type === 'credit' || type === 'mint'
  // A mint raises the supply only when its token settles: until then the account's value is owed.
  const adds = role === 'supply' ? type === 'burn' : comes
  return adds ? [{ tokenId, quantity: amount }] : [{ tokenId, quantity: `-${amount}` }]
}

/** An account whose leg failed also gets the order: it keeps its hold until then. */
export function revert(why: FailureCode): Progress {
  return (group, effects) => {
    const next = withParts(group, (part) => ({ ...part, state: holdsNothing(part) ? 'reverted' : 'reverting' }))
    eachPart(next, (name, leg, { state }) => {
      if (state === 'reverting') tell(effects, leg, name, { type: 'revert_leg', ...name })
    })
    return { ...next, failure: group.failure ?? failure(why), dueAtMs: null }
  }
}

/** A token without an order, or one that refused, holds nothing; the account of an NFT's leg releases the NFT. */
function holdsNothing({ role, state }: LegPart): boolean {
  return role === 'instance' || (role === 'supply' && state !== 'ordered' && state !== 'completed')
}

export function noteSettled(command: GroupCommandOf<'leg_settled'>): Progress {
  return (group) => withPart(group, command, { state: 'settled' })
}

export function noteReverted(command: GroupCommandOf<'leg_reverted'>): Progress {
  return (group) => {
    const { compensation } = command
    const next = withPart(group, command, {
      state: 'reverted',
      ...(compensation === null ? {} : { txnId: compensation.compensates, compensationTxnId: compensation.txnId }),
    })
    return compensation === null ? next : { ...next, compensations: [...next.compensations, compensation] }
  }
}

/** Whether all other parts have replied. */
export function isLastAnswer(group: GroupData, { leg, role }: LegName, answered: readonly LegPart['state'][]): boolean {
  return group.legs.every(({ parts }, index) =>
    parts.every((part) => answered.includes(part.state) || (index === leg && part.role === role)),
  )
}

export const finish: Progress = (group) => ({ ...group, finishedAtMs: group.lastTimeMs, dueAtMs: null })

/** A linked group: an unregistered ID under which transactions are compensated. */
export function beginLinked(command: RevertGroupCommand) {
  const group = { ...blank(command.groupId, command), version: 0 }
  return advanced(group, command, ask(command))
}

/** G3: a failed compensation may be requested again. */
export function ask(command: RevertGroupCommand): Progress {
  return (group, effects) => {
    const asked = { ...group.compensationsAsked }
    for (const { txnId, accountId } of command.transactions) {
      if (asked[txnId] !== undefined && asked[txnId].state !== 'failed') continue
      asked[txnId] = { accountId, state: 'asked' }
      effects.push(compensationOf(group.id, accountId, txnId, txnId))
    }
    return { ...group, compensationsAsked: asked }
  }
}

function compensationOf(groupId: string, accountId: string, txnId: string, asked: string): Effect {
  return sent(accountAddress(accountId), { type: 'compensate', groupId, compensates: txnId, asked })
}

export function noteCompensation({ asked: named, outcome }: GroupCommandOf<'compensation_ended'>): Progress {
  return (group, effects) => {
    const asked = group.compensationsAsked[named]
    invariant(asked !== undefined, `no request names ${named}`)
    switch (outcome.kind) {
      case 'elsewhere':
        effects.push(compensationOf(group.id, outcome.accountId, outcome.txnId, named))
        return group
      case 'done':
        return {
          ...group,
          compensationsAsked: { ...group.compensationsAsked, [named]: { ...asked, state: 'done' } },
          compensations: [...group.compensations, ...outcome.compensations],
          partialFailures: group.partialFailures.filter(({ txnId }) => txnId !== named),
        }
      case 'failed':
        return {
          ...group,
          compensationsAsked: { ...group.compensationsAsked, [named]: { ...asked, state: 'failed' } },
          partialFailures: [
            ...group.partialFailures.filter(({ txnId }) => txnId !== named),
            { txnId: named, ...outcome.failure },
          ],
        }
    }
  }
}
