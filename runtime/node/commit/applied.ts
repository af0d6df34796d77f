/**
 * Applies the durable parts of a batch: updates memory, keeps it as long as an older look-up may still return (P1),
 * sends messages, and replies. The replies and acknowledgements of all parts leave together: one message gets one
 * reply, for any number of shards.
 */
import type { TransientMap } from '../../common/transient-map.ts'
import type { Courier, LeavingMessage } from '../delivery/courier.ts'
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

/** Returns the verdicts to send now. */
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
  courier.take(incarnation, leaving(applied))
  passivate(incarnation, rare.takes('residents_forgotten') ? NO_RESIDENTS : settings)
  return [...applied.answers, ...told]
}

/** The messages, with the spans of their deliveries. */
function leaving({ outbox, senders }: ShardDraft): readonly LeavingMessage[] {
  if (senders === undefined) return outbox
  return outbox.map((message) => {
    const span = senders.get(message)
    return span === undefined ? message : { ...message, span: span.delivery() }
  })
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

/** Adds an entry for each change. The returned function removes those that no later entry has replaced. */
function pinned<V extends {}, Change>(
  map: TransientMap<string, V>,
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
 * Requests that a later step of their actor concludes: they need no memory meanwhile. Their effect is committed: if
 * their shard is recovered, they are stepped again, and a refused commit then does not undo it (I12).
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

/** The verdicts for the requests that waited for these conclusions. */
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
