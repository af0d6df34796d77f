/**
 * What edges ask enters a mailbox here, or is turned away; what is turned away has not entered (I12).
 *   H1. An item enters the mailbox of the incarnation whose epoch it names, or is told `moved`.
 *   H2. Mailboxes are bounded, of an actor, of a shard, of the node: what does not fit is told `overloaded`.
 *   H5. Submissions that would add to what their shard sends to another are refused while too much of that is not taken
 *       in: others are none the worse for it.
 */
import { refusal } from '../../actors/account/outcome.ts'
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import { decodeItems, encodeVerdictMessages, type Item, type ItemVerdict, type Verdict } from '../messages.ts'
import type { Clock } from '../ports/clock.ts'
import { NO_NODE_METRICS, type NodeMetrics } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import { nextHop } from '../ports/trail.ts'
import type { Transport } from '../ports/transport.ts'
import { createAttemptMemory } from './attempt-memory.ts'
import { commandOf } from './command.ts'
import type { StepSettings } from './draft.ts'
import { fateOf } from './host-measures.ts'
import { type Incarnation, nextStamp } from './incarnation.ts'
import { createPending, type Pending, type ReplyChannel, waitsFor } from './pending.ts'
import { receiversOf } from './receivers.ts'

/** Bounds in commands; `maxOutbox` in messages, `maxResidents` in actors. */
export interface MailboxLimits {
  readonly maxActorMailbox: number
  readonly maxShardMailbox: number
  readonly maxNodeMailbox: number
  /** Messages of a shard to another that are not taken in; above, what would add to them is refused. */
  readonly maxOutbox: number
  /** Actors kept in memory for each shard. */
  readonly maxResidents: number
}

export interface AdmissionDependencies {
  readonly clock: Clock
  readonly random: Random
  readonly rare: RarePaths
  readonly metrics?: NodeMetrics
  readonly transport: Pick<Transport, 'maxMessageBytes'>
  readonly settings: Pick<StepSettings, 'production'> & MailboxLimits
  readonly homeOf: (actor: ActorAddress) => number
  readonly find: (shardId: number) => Incarnation | undefined
  /** Messages of the shard to that target that are committed and not known to be taken in. */
  readonly backlogTo: (incarnation: Incarnation, target: number) => number
  readonly enter: (pending: Pending) => void
}

export interface Admission {
  /** One message of an edge. `backlog`: commands that wait in all mailboxes. */
  readonly receive: (message: string, reply: (message: string) => void, backlog: number) => void
}

/** What a reply takes beside its verdicts. */
const REPLY_BYTES = 1_024
/** Requests that wait for one conclusion: the next have not entered. */
const MAX_WAITERS = 64

export function createAdmission(dependencies: AdmissionDependencies): Admission {
  const { clock, random, rare, transport, settings, homeOf, find, backlogTo, enter } = dependencies
  const { metrics = NO_NODE_METRICS } = dependencies
  const attempts = createAttemptMemory(clock)

  /** undefined: it entered the mailbox. */
  function admit(item: Item, channel: ReplyChannel, backlog: number): Verdict | undefined {
    const incarnation = find(item.shardId)
    if (incarnation === undefined || incarnation.token.epoch !== item.epoch || incarnation.phase === 'draining') {
      return { kind: 'moved', epoch: incarnation?.token.epoch ?? null }
    }
    // A request that another shard decides would be taken for a new one there.
    if (homeOf(item.actor) !== item.shardId) {
      return { kind: 'answered', answer: refusal('rejected', 'The request was sent to another shard than its own.') }
    }
    const { mailbox } = incarnation
    const isFull =
      mailbox.size >= settings.maxShardMailbox ||
      backlog >= settings.maxNodeMailbox ||
      mailbox.sizeOf(actorKey(item.actor)) >= settings.maxActorMailbox
    if (isFull || rare.takes('mailbox_full')) return { kind: 'overloaded' }
    const command = commandOf(item, nextStamp(incarnation, clock.now(), random), random, settings.production)
    if (command === undefined) {
      return { kind: 'answered', answer: refusal('rejected', 'The request is not one that this ledger understands.') }
    }
    const isStuck = (actor: ActorAddress): boolean => backlogTo(incarnation, homeOf(actor)) >= settings.maxOutbox
    if (receiversOf(command).some(isStuck)) return { kind: 'overloaded' }
    const { trail } = item
    const here = trail === undefined ? item : { ...item, trail: nextHop(trail, random) }
    const pending = createPending({ kind: 'request', item: here, channel }, item.actor, command, incarnation)
    if ((incarnation.parked.get(waitsFor(pending))?.size ?? 0) >= MAX_WAITERS) return { kind: 'overloaded' }
    enter(pending)
    return undefined
  }

  return {
    receive: (message, reply, backlogBefore) => {
      const channel: ReplyChannel = {
        send: (verdicts) => {
          const maxBytes = transport.maxMessageBytes() - REPLY_BYTES
          for (const encoded of encodeVerdictMessages(verdicts, maxBytes)) reply(encoded)
        },
      }
      const turnedAway: ItemVerdict[] = []
      let backlog = backlogBefore
      for (const item of decodeItems(message)) {
        if (!attempts.isLatest(item.requestId, item.attempt)) continue
        const verdict = admit(item, channel, backlog)
        metrics.items(fateOf(verdict), 1)
        if (verdict === undefined) backlog += 1
        else turnedAway.push({ requestId: item.requestId, attempt: item.attempt, verdict })
      }
      if (turnedAway.length > 0) channel.send(turnedAway)
    },
  }
}
