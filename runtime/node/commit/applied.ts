/**
 * What follows when shards' parts of a batch are durable: memory takes them over and keeps them as long as an older look-up
 * may still come back (P1), messages set out, and who has waited is told. Answers and acknowledgements of all the parts
 * leave together: what came in one message is answered in one, of however many shards it is.
 */
import type { BriefMap } from '../../brief-map.ts'
import { answerFor } from './conclusions.ts'
import type { MailboxLimits } from '../delivery/admission.ts'
import type { Courier } from '../delivery/courier.ts'
import { isKnownUse, type ShardDraft } from './draft.ts'
import type { Inbox } from '../delivery/inbox.ts'
import { type Fault, faultOf } from '../recovery/containment.ts'
import { type Incarnation, passivate, type Resident } from '../incarnation.ts'
import type { NodeContext } from '../node-context.ts'
import type { DecidedAnswer } from './output-gate.ts'
import { release, settle, waitsFor } from '../pending-command.ts'

export interface AppliedDependencies extends Pick<NodeContext, 'pins' | 'gate' | 'rare'> {
  readonly courier: Courier
  readonly inbox: Inbox
  readonly settings: Pick<MailboxLimits, 'maxResidents'>
  /** The shard's memory may differ from its committed state. */
  readonly onBroken: (incarnation: Incarnation, fault: Fault) => void
}

export function applyDrafts(batch: readonly ShardDraft[], dependencies: AppliedDependencies): void {
  const { gate, inbox, onBroken } = dependencies
  const answers = batch.flatMap((applied) => {
    try {
      return applyDraft(applied, dependencies)
    } catch (error) {
      onBroken(applied.incarnation, faultOf('apply', error))
      return []
    }
  })
  gate.committed(answers)
  inbox.committed(batch)
}

/** The answers that may leave now. */
function applyDraft(applied: ShardDraft, dependencies: AppliedDependencies): readonly DecidedAnswer[] {
  const { courier, settings, rare } = dependencies
  const { incarnation } = applied
  remember(applied, dependencies)
  for (const [target, sent] of applied.sent) incarnation.sent.set(target, sent)
  const told = concluded(applied)
  park(applied)
  for (const pending of applied.pendings) {
    if (pending.origin.kind === 'due') {
      incarnation.dueWaiting.delete(pending.actorKey)
      incarnation.parkedTimers.delete(pending.actorKey)
    }
    if (!isParked(incarnation, pending)) settle(pending)
  }
  courier.take(incarnation, applied.outbox)
  passivate(incarnation, rare.takes('residents_forgotten') ? 0 : settings.maxResidents)
  return [...applied.answers, ...told]
}

function remember(
  { incarnation, changed, keyUses, news, groupUses }: ShardDraft,
  dependencies: AppliedDependencies,
): void {
  const { pins, settings } = dependencies
  const touched: Resident[] = []
  for (const [key, { state }] of changed) {
    const resident = incarnation.residents.get(key)
    if (resident === undefined) continue
    resident.state = state
    resident.pins += 1
    resident.used = true
    touched.push(resident)
  }
  const { recent } = incarnation
  const forget = [
    pinned(
      recent.keys,
      mapped(keyUses, (earlier) => ({ earlier })),
    ),
    pinned(
      recent.transactions,
      mapped(news, (change, txnId) => Object.assign({}, recent.transactions.get(txnId), change)),
    ),
    pinned(
      recent.groupUses,
      mapped(groupUses, (uses, address) => {
        const known = recent.groupUses.get(address) ?? []
        return [...known, ...uses.filter((use) => !isKnownUse(known, use))]
      }),
    ),
  ]
  pins.pin(() => {
    for (const resident of touched) resident.pins -= 1
    for (const run of forget) run()
    passivate(incarnation, settings.maxResidents)
  })
}

function mapped<V, W>(map: ReadonlyMap<string, V>, change: (value: V, key: string) => W): Map<string, W> {
  return new Map([...map].map(([key, value]) => [key, change(value, key)]))
}

/** Adds the entries; what it returns takes away those of them that nothing newer has replaced. */
function pinned<V extends {}>(map: BriefMap<string, V>, entries: ReadonlyMap<string, V>): () => void {
  for (const [key, value] of entries) map.set(key, value)
  return () => {
    for (const [key, value] of entries) if (map.get(key) === value) map.delete(key)
  }
}

/**
 * Requests that a later step of their actor answers: they need nothing of memory meanwhile. Their order is committed: if
 * their shard is recovered they are stepped again, and a commit that is refused then does not undo it (I12).
 */
function park({ incarnation, deferred }: ShardDraft): void {
  for (const pending of deferred) {
    release(pending)
    pending.perhapsApplied = true
    const waiting = incarnation.parked.get(waitsFor(pending))
    if (waiting === undefined) incarnation.parked.set(waitsFor(pending), new Set([pending]))
    else waiting.add(pending)
  }
}

function isParked(incarnation: Incarnation, pending: DecidedAnswer[0]): boolean {
  return incarnation.parked.get(waitsFor(pending))?.has(pending) === true
}

/** The answers of those who have waited for what is concluded now. */
function concluded({ incarnation, concluded: answers }: ShardDraft): DecidedAnswer[] {
  const told: DecidedAnswer[] = []
  for (const [key, answer] of answers) {
    const waiting = [...(incarnation.parked.get(key) ?? [])]
    for (const pending of waiting) {
      told.push([pending, { kind: 'answered', answer: answerFor(pending, waiting[0], answer) }])
      settle(pending)
    }
    incarnation.parked.delete(key)
  }
  return told
}
