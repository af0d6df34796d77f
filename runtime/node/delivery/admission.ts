/**
 * Admits edges' requests to mailboxes, or refuses them; a refused request has not entered a mailbox (I12).
 *   H1. An item enters the mailbox of the incarnation whose epoch it names; else the reply is `moved`.
 *   H2. The mailboxes of an actor, a shard and the node are bounded; beyond, the reply is `overloaded`.
 *   H5. A shard with too many unacknowledged messages to another shard refuses requests that would send more there;
 *       other requests proceed.
 *   H6. Each item of a message gets its own reply, even if the handling of another item of that message throws.
 */
import { type Answer, refusal } from '../../../actors/account/outcome.ts'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { Item, ItemVerdict, Verdict } from '../../protocol/messages.ts'
import { fieldsOf, nextHop } from '../../ports/trail.ts'
import { createBoundedCache } from '../../common/bounded-cache.ts'
import { reasonOf } from '../../common/reason.ts'
import { decodeList, encodeVerdicts, ITEMS } from '../../protocol/wire.ts'
import { createFirstOf } from '../recovery/containment.ts'
import { commandOf } from './command.ts'
import type { CommandSpan } from '../shard/command-span.ts'
import type { StepSettings } from '../shard/draft.ts'
import type { ItemFate } from '../../ports/metrics.ts'
import { type Incarnation, nextStamp, type ResidentLimits } from '../shard/incarnation.ts'
import { Pending, type ReplyChannel, waitsFor } from '../shard/pending-command.ts'
import { receiversOf } from '../lookup/receivers.ts'
import type { NodeContext } from '../shard/node-context.ts'

/** Bounds in commands; `maxOutbox` in messages. */
export interface MailboxLimits extends ResidentLimits {
  readonly maxActorMailbox: number
  readonly maxShardMailbox: number
  readonly maxNodeMailbox: number
  /** Unacknowledged messages from one shard to another; beyond, requests that would send more are refused. */
  readonly maxOutbox: number
}

export interface AdmissionDependencies extends NodeContext {
  readonly settings: Pick<StepSettings, 'production'> & MailboxLimits
  readonly find: (shardId: number) => Incarnation | undefined
  /** Committed, unacknowledged messages of the shard to that target. */
  readonly backlogTo: (incarnation: Incarnation, target: number) => number
  readonly enter: (pending: Pending) => void
}

/** Handles one message from an edge. `backlog`: number of commands in all mailboxes. */
export type Admission = (message: string, reply: (message: string) => void, backlog: number) => void

/** Bytes of a reply beside its verdicts. */
const REPLY_BYTES = 1_024
/** Requests with more than one attempt whose latest is kept; at least half of them. */
const MAX_ATTEMPTS = 200_000
/** Limit on requests that wait for one conclusion. */
const MAX_WAITERS = 64

export function createAdmission(dependencies: AdmissionDependencies): Admission {
  const { log, transport, wire, unsupported, enter, metrics, random, spans } = dependencies
  const latestAttempts = createBoundedCache<string, number>(MAX_ATTEMPTS)
  const judge = createSafeJudge(dependencies)

  /** A late attempt must not be judged after a later one was refused (I12). */
  function isLatest({ requestId, attempt }: Item): boolean {
    if (attempt < (latestAttempts.get(requestId) ?? 0)) return false
    if (attempt > 1) latestAttempts.set(requestId, attempt)
    return true
  }

  /** undefined: the item entered the mailbox. */
  function admit(received: Item, channel: ReplyChannel, backlog: number): Verdict | undefined {
    const item = received.trail === undefined ? received : { ...received, trail: nextHop(received.trail, random) }
    const span = spans?.ofRequest(item.trail?.trace, item.operation.kind)
    const judged = judge(item, channel, backlog, span)
    if (judged instanceof Pending) enter(judged)
    else span?.answered(judged.kind)
    return judged instanceof Pending ? undefined : judged
  }

  function logUnwritable({ requestId, verdict }: ItemVerdict, error: unknown): void {
    log.error('verdict_not_written', { submission: requestId, verdict: verdict.kind, cause: reasonOf(error) })
  }

  return (message, reply, backlogBefore) => {
    const list = decodeList(message, ITEMS, wire)
    if (list === undefined) return unsupported.answer('items', message, reply)
    const { version, members: items, malformed } = list
    const channel: ReplyChannel = {
      send: (verdicts) => {
        const maxBytes = transport.maxMessageBytes() - REPLY_BYTES
        for (const encoded of encodeVerdicts(verdicts, version, maxBytes, logUnwritable)) {
          try {
            reply(encoded)
          } catch (error) {
            log.error('verdicts_not_sent', { verdicts: verdicts.length, cause: reasonOf(error) })
          }
        }
      },
    }
    const rejected: ItemVerdict[] = []
    for (const { requestId, attempt } of malformed) {
      unsupported.note('items', version)
      rejected.push({ requestId, attempt, verdict: { kind: 'unsupported_version' } })
    }
    let backlog = backlogBefore
    for (const item of items) {
      if (!isLatest(item)) continue
      const verdict = admit(item, channel, backlog)
      metrics?.items(fateOf(verdict), 1)
      if (verdict === undefined) backlog += 1
      else rejected.push({ requestId: item.requestId, attempt: item.attempt, verdict })
    }
    if (rejected.length > 0) channel.send(rejected)
  }
}

function fateOf(verdict: Verdict | undefined): ItemFate {
  if (verdict === undefined) return 'entered'
  return verdict.kind === 'moved' || verdict.kind === 'overloaded' ? verdict.kind : 'rejected'
}

type Judge = (item: Item, channel: ReplyChannel, backlog: number, span: CommandSpan | undefined) => Pending | Verdict

/** H6. */
function createSafeJudge(dependencies: AdmissionDependencies): Judge {
  const { log } = dependencies
  const isFirst = createFirstOf()
  const judge = createJudge(dependencies)
  return (item, channel, backlog, span) => {
    try {
      return judge(item, channel, backlog, span)
    } catch (error) {
      const { trail, shardId, operation } = item
      if (isFirst({ origin: { kind: 'request', item, channel } })) {
        const fields = { shard: shardId, operation: operation.kind, cause: reasonOf(error) }
        log.error('item_failed', { ...fieldsOf(trail), ...fields })
      }
      // A retry may repeat an attempt that took effect.
      return { kind: 'undecided' }
    }
  }
}

/** Returns the command of an item, or the reason why it may not enter. */
function createJudge({
  clock,
  random,
  rare,
  settings,
  homeOf,
  find,
  backlogTo,
  readPublicKey,
}: AdmissionDependencies): Judge {
  const reading = { production: settings.production, readPublicKey }
  return (item, channel, backlog, span) => {
    const incarnation = find(item.shardId)
    if (incarnation === undefined || incarnation.token.epoch !== item.epoch || incarnation.phase === 'draining') {
      return { kind: 'moved', epoch: incarnation?.token.epoch ?? null }
    }
    // The wrong shard would take a repeated request for a new one.
    if (homeOf(item.actor) !== item.shardId) {
      return refused(item, refusal('wrong_shard', 'The request was sent to a shard that does not own this actor.'))
    }
    const { mailbox } = incarnation
    const isFull =
      mailbox.size >= settings.maxShardMailbox ||
      backlog >= settings.maxNodeMailbox ||
      mailbox.sizeOf(actorKey(item.actor)) >= settings.maxActorMailbox
    if (isFull || rare.takes('mailbox_full')) return { kind: 'overloaded' }
    const command = commandOf(item, nextStamp(incarnation, clock.now(), random), reading)
    if (command === undefined) {
      return refused(item, refusal('unknown_operation', 'This ledger does not support the operation or its payload.'))
    }
    const isStuck = (actor: ActorAddress): boolean => backlogTo(incarnation, homeOf(actor)) >= settings.maxOutbox
    if (receiversOf(command).some(isStuck)) return { kind: 'overloaded' }
    const pending = new Pending({ kind: 'request', item, channel }, item.actor, command, incarnation, span)
    if ((incarnation.parked.get(waitsFor(pending))?.size ?? 0) >= MAX_WAITERS) return { kind: 'overloaded' }
    return pending
  }
}

/** An earlier attempt may have taken effect, at an owner with more recent state. */
function refused({ attempt }: Item, answer: Answer): Verdict {
  return attempt > 1 ? { kind: 'undecided' } : { kind: 'answered', answer }
}
