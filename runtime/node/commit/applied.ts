/**
 * What follows when shards' parts of a batch are durable: memory takes them over and keeps them as long as an older look-up
 * may still come back (P1), messages set out, and who has waited is told. Answers and acknowledgements of all the parts
 * leave together: what came in one message is answered in one, of however many shards it is.
 */
import type { BriefMap } from '../../common/brief-map.ts'
import type { Courier } from '../delivery/courier.ts'
import { answerFor, isKnownUse, type ShardDraft } from '../shard/draft.ts'
import type { Inbox } from '../delivery/inbox.ts'
import { type Fault, faultOf } from '../recovery/containment.ts'
import { type Incarnation, passivate, type Resident, type ResidentLimits, setState } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { DecidedAnswer } from '../shard/output-gate.ts'
import { release, settle, waitsFor } from '../shard/pending-command.ts'

const NO_RESIDENTS: ResidentLimits = { maxResidents: 0, maxResidentBytes: 0 }

export interface AppliedDependencies extends Pick<NodeContext, 'pins' | 'gate' | 'rare'> {
  readonly courier: Courier
  readonly inbox: Inbox
  readonly settings: ResidentLimits
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
    if (incarnation.parked.get(waitsFor(pending))?.has(pending) !== true) settle(pending)
  }
  courier.take(incarnation, applied.outbox)
  passivate(incarnation, rare.takes('residents_forgotten') ? NO_RESIDENTS : settings)
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
    setState(incarnation, resident, state)
    resident.pins += 1
    resident.used = true
    touched.push(resident)
  }
  const { recent } = incarnation
  const forget = [
    pinned(recent.keys, keyUses, (earlier) => ({ earlier })),
    pinned(recent.transactions, news, (change, known) => Object.assign({}, known, change)),
    pinned(recent.groupUses, groupUses, (uses, known = []) => [
      ...known,
      ...uses.filter((use) => !isKnownUse(known, use)),
    ]),
  ]
  pins.pin(() => {
    for (const resident of touched) resident.pins -= 1
    for (const run of forget) run()
    passivate(incarnation, settings)
  })
}

/** Adds an entry for each change. The function that it returns removes those that no later entry has replaced. */
function pinned<V extends {}, Change>(
  map: BriefMap<string, V>,
  changes: ReadonlyMap<string, Change>,
  entryOf: (change: Change, known: V | undefined) => V,
): () => void {
  const entries = [...changes].map(([key, change]) => [key, entryOf(change, map.get(key))] as const)
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
