/**
 * The edge's half of a submission: finds the shard owner, sends, and derives one outcome from the attempts' verdicts.
 *   W1. Items for one node within one tick share a message; each has its own verdict.
 *   W2. The gateway reports `not_applied` only if every attempt was rejected: before it entered a mailbox, or because
 *       the store refused its commit (I12).
 *   W3. After an attempt without a verdict, a request ends with a verdict of its own or as `unknown`: a later attempt's
 *       non-delivery proves nothing. A refusal counts only from the latest attempt.
 *   W4. A request without a key that is not idempotent (a change of status) is not retried once it is uncertain.
 *       Retries carry the same request and key, until the deadline. `overloaded` is not retried, since retries add
 *       load.
 *   W5. An attempt is given up as one without a verdict soon after its shard moves to another owner. The former owner
 *       may be dead; a live owner replies before releasing the shard.
 *   W6. An unreadable part of a reply is no outcome: the attempts that it may concern have none (W3).
 */
import type { Answer } from '../../actors/account/outcome.ts'
import type { ActorAddress } from '../../actors/address.ts'
import { appendTo } from '../common/append-to.ts'
import { TransientMap } from '../common/transient-map.ts'
import { type Item, sessionSubject, type Verdict } from '../protocol/messages.ts'
import type { Clock, Timer } from '../ports/clock.ts'
import type { GatewayOutcome, GatewayRequest, LedgerGateway } from './ledger-gateway.ts'
import type { Log, LogFields } from '../ports/log.ts'
import type { GatewayMetrics, SubmissionEnd, UnavailableReason } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import { fieldsOf } from '../ports/trail.ts'
import { NOT_DELIVERED, type NotDelivered, type PendingRequest, type Transport } from '../ports/transport.ts'
import type { Route, Routes } from '../routing/routes.ts'
import { decodeList, encodeFrame, UNSUPPORTED_VERSION, VERDICTS, WIRE, type Wire } from '../protocol/wire.ts'
import { boundOfSize, endOf, retryOf } from './request-items.ts'

export interface GatewayDependencies {
  readonly transport: Transport
  readonly wire?: Wire
  readonly routes: Routes
  readonly clock: Clock
  readonly random: Random
  readonly rare: RarePaths
  readonly homeOf: (actor: ActorAddress) => number
  readonly settings: GatewaySettings
  readonly metrics?: GatewayMetrics
  /** Logs single requests at the level `debug`. */
  readonly log?: Log
  /** Pseudonym of an account in the log; absent: accounts are not logged. */
  readonly accountTag?: (accountId: string) => string
}

export interface GatewaySettings {
  /** Time after which an attempt without a verdict is given up. */
  readonly attemptTimeoutMs: number
  /** Time in which a request that was provably not applied is retried. */
  readonly patienceMs: number
  /** Time in which a request of unknown outcome is retried. */
  readonly deadlineMs: number
  /** Limit on waiting requests. */
  readonly maxWaiting: number
  /** Least time between messages: batches them under load, without delay otherwise. */
  readonly lingerMs: number
}

export const GATEWAY_DEFAULTS: GatewaySettings = {
  attemptTimeoutMs: 4_000,
  patienceMs: 2_000,
  deadlineMs: 12_000,
  maxWaiting: 20_000,
  lingerMs: 1,
}

const FIRST_BACKOFF_MS = 10
const LAST_BACKOFF_MS = 250
const SHORTEST_ATTEMPT_MS = 5
/** W5: time for the former owner's replies to arrive. */
const MOVED_GRACE_MS = 150
/** Bytes of a message besides its items. */
const ENVELOPE_BYTES = 1_024

const FULL = { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' } as const

interface Waiting {
  readonly requestId: string
  readonly request: GatewayRequest
  readonly shardId: number
  readonly startedMs: number
  readonly startedAtMs: number
  readonly resolve: (outcome: GatewayOutcome) => void
  attempt: number
  /** The epoch of the latest attempt. */
  epoch: number
  /** Whether the latest attempt may still get a verdict; false between attempts, so that each is retried once. */
  underWay: boolean
  /** Number of attempts and of look-ups without an owner. */
  tries: number
  /** Whether an attempt ended without a verdict: from then on nothing proves that the request was not applied. */
  uncertain: boolean
  timer: Timer | undefined
}

export class Gateway implements LedgerGateway {
  private readonly dependencies: GatewayDependencies
  private readonly waiting = new TransientMap<string, Waiting>()
  private outgoing = new Map<string, Item[]>()
  private flushing = false
  private flushedMs = Number.NEGATIVE_INFINITY
  private lookingForMoved = false

  constructor(dependencies: GatewayDependencies) {
    this.dependencies = dependencies
    dependencies.routes.onMove(() => this.lookForMoved())
  }

  ask(request: GatewayRequest): Promise<GatewayOutcome> {
    const { clock, random, homeOf, settings, log } = this.dependencies
    if (this.waiting.size >= settings.maxWaiting) {
      const end = this.count(request, FULL)
      const { operation, trail } = request
      log?.debug?.('submission_answered', { ...fieldsOf(trail), operation: operation.kind, ...end, attempts: 0 })
      return Promise.resolve(FULL)
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        requestId: random.hex(12),
        request,
        shardId: homeOf(request.actor),
        startedMs: clock.monotonic(),
        startedAtMs: clock.now(),
        resolve,
        attempt: 0,
        epoch: 0,
        underWay: false,
        tries: 0,
        uncertain: false,
        timer: undefined,
      }
      this.waiting.set(waiting.requestId, waiting)
      log?.debug?.('submission_received', this.requestFields(waiting))
      this.send(waiting)
    })
  }

  private send(waiting: Waiting): void {
    const { routes, clock, settings, rare } = this.dependencies
    const route = routes.find(waiting.shardId)
    if (route === undefined) {
      void routes.refresh()
      this.retry(waiting, 'shard_unavailable')
      return
    }
    waiting.attempt += 1
    waiting.epoch = route.epoch
    waiting.underWay = true
    const { attempt } = waiting
    this.enqueue(waiting, route)
    const timeoutMs = rare.takes('attempt_given_up') ? SHORTEST_ATTEMPT_MS : settings.attemptTimeoutMs
    waiting.timer = clock.after(timeoutMs, () => {
      if (waiting.attempt === attempt && waiting.underWay) this.withoutVerdict(waiting)
    })
  }

  /** W5. */
  private lookForMoved(): void {
    if (this.lookingForMoved || this.waiting.size === 0) return
    this.lookingForMoved = true
    const { clock, routes } = this.dependencies
    const sinceMs = clock.monotonic()
    clock.after(MOVED_GRACE_MS, () => {
      this.lookingForMoved = false
      for (const waiting of this.waiting.values()) {
        const route = routes.find(waiting.shardId)
        if (!waiting.underWay || route === undefined || route.epoch <= waiting.epoch) continue
        // The shard moved after this check was scheduled: the next check grants it the full grace.
        if (route.sinceMs > sinceMs) this.lookForMoved()
        else this.withoutVerdict(waiting)
      }
    })
  }

  private withoutVerdict(waiting: Waiting): void {
    waiting.uncertain = true
    void this.dependencies.routes.refresh()
    this.retry(waiting, 'shard_unavailable')
  }

  private enqueue(waiting: Waiting, route: Route): void {
    const { clock, settings } = this.dependencies
    const { requestId, attempt, shardId, request } = waiting
    const elapsedMs = clock.monotonic() - waiting.startedMs
    const item: Item = {
      requestId,
      attempt,
      shardId,
      epoch: route.epoch,
      actor: request.actor,
      caller: request.caller,
      deadlineMs: clock.now() + Math.max(0, settings.deadlineMs - elapsedMs),
      operation: request.operation,
      ...(request.trail === undefined ? {} : { trail: request.trail }),
    }
    appendTo(this.outgoing, route.session, item)
    if (this.flushing) return
    this.flushing = true
    const sinceMs = clock.monotonic() - this.flushedMs
    clock.after(Math.max(0, settings.lingerMs - sinceMs), () => {
      this.flushing = false
      this.flushedMs = clock.monotonic()
      const batches = this.outgoing
      this.outgoing = new Map()
      for (const [session, batch] of batches) for (const message of this.split(batch)) this.deliver(session, message)
    })
  }

  /** Uses as few messages as the transport's limit allows. */
  private split(items: readonly Item[]): readonly (readonly Item[])[] {
    const { transport, rare } = this.dependencies
    const maxBytes = rare.takes('items_one_by_one') ? 0 : transport.maxMessageBytes() - ENVELOPE_BYTES
    const messages: Item[][] = []
    let bytes = Number.POSITIVE_INFINITY
    for (const item of items) {
      const size = boundOfSize(item)
      if (bytes + size > maxBytes) {
        messages.push([])
        bytes = 0
      }
      messages.at(-1)?.push(item)
      bytes += size
    }
    return messages
  }

  private deliver(session: string, items: readonly Item[]): void {
    const { transport, settings, routes, wire = WIRE } = this.dependencies
    const open = new Set(items.map(({ requestId }) => requestId))
    const turnAllAway = (): void => {
      void routes.refresh()
      for (const { requestId, attempt } of items) {
        const waiting = this.waiting.get(requestId)
        if (waiting?.attempt === attempt && waiting.underWay) this.retry(waiting, 'shard_unavailable')
      }
    }
    const takeReply = (reply: string | NotDelivered): void => {
      if (reply === NOT_DELIVERED || reply === UNSUPPORTED_VERSION) return turnAllAway()
      // W6.
      const { members = [], malformed = items } = decodeList(reply, VERDICTS, wire) ?? {}
      for (const { requestId, attempt } of malformed) this.take(requestId, attempt, { kind: 'undecided' })
      for (const { requestId, attempt, verdict } of members) {
        open.delete(requestId)
        this.take(requestId, attempt, verdict)
      }
      if (open.size === 0) pending?.close()
    }
    let pending: PendingRequest | undefined
    try {
      pending = transport.request(
        sessionSubject(session),
        encodeFrame(wire.writes, items),
        settings.deadlineMs,
        takeReply,
      )
    } catch {
      // `request` throws before it sends, for a message that the server would reject.
      turnAllAway()
    }
  }

  private take(requestId: string, attempt: number, verdict: Verdict): void {
    const { settings, routes } = this.dependencies
    if (verdict.kind === 'moved' || verdict.kind === 'unsupported_version') void routes.refresh()
    const waiting = this.waiting.get(requestId)
    if (waiting === undefined) return
    const isLatest = waiting.attempt === attempt
    const isOpen = isLatest && waiting.underWay
    switch (verdict.kind) {
      case 'answered':
        this.answered(waiting, isLatest, verdict.answer)
        return
      case 'moved':
      case 'unsupported_version':
        if (isOpen) this.retry(waiting, 'shard_unavailable')
        return
      case 'overloaded':
        if (isOpen && !waiting.uncertain) this.finish(waiting, FULL)
        else if (isOpen) this.retry(waiting, 'overloaded')
        return
      case 'not_applied':
        if (isOpen) this.retry(waiting, 'shard_unavailable', settings.patienceMs / 2)
        return
      case 'undecided':
        waiting.uncertain = true
        if (isOpen) this.withoutVerdict(waiting)
    }
  }

  private answered(waiting: Waiting, isLatest: boolean, answer: Answer): void {
    const isRefused = answer.kind === 'refused'
    // W3: an earlier attempt's refusal may predate a later attempt's effect.
    if (isRefused && !isLatest) return
    // The refusal may be due to an earlier attempt's effect.
    if (isRefused && waiting.uncertain && retryOf(waiting.request.operation) !== 'replays') {
      this.finish(waiting, this.unavailable(waiting, 'shard_unavailable'))
      return
    }
    this.finish(waiting, { kind: 'answered', answer: this.asFirst(waiting, answer) })
  }

  /** The result of an earlier attempt of the same request is no replay to its client. */
  private asFirst(waiting: Waiting, answer: Answer): Answer {
    const madeAtMs = madeAtOf(answer)
    if (!waiting.uncertain || madeAtMs === undefined || !('mismatch' in answer) || answer.mismatch) return answer
    if (madeAtMs < waiting.startedAtMs) return answer
    return answer.kind === 'registered' ? { ...answer, created: true, replayed: false } : { ...answer, replayed: false }
  }

  private retry(waiting: Waiting, reason: UnavailableReason, patienceMs = this.dependencies.settings.patienceMs): void {
    const { clock, settings, random } = this.dependencies
    waiting.timer?.cancel()
    waiting.underWay = false
    waiting.tries += 1
    const elapsedMs = clock.monotonic() - waiting.startedMs
    // W4: applied a second time, the request would undo later changes of other clients.
    if (waiting.uncertain && retryOf(waiting.request.operation) === 'overrules') {
      this.finish(waiting, this.unavailable(waiting, reason))
      return
    }
    const limitMs = waiting.uncertain ? settings.deadlineMs : patienceMs
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(waiting.tries, 10), LAST_BACKOFF_MS)
    const waitMs = Math.ceil(backoffMs / 2) + random.integer(backoffMs)
    if (elapsedMs + waitMs >= limitMs) {
      this.finish(waiting, this.unavailable(waiting, reason))
      return
    }
    waiting.timer = clock.after(waitMs, () => {
      this.send(waiting)
    })
  }

  private unavailable(waiting: Waiting, reason: UnavailableReason): GatewayOutcome {
    const state = this.dependencies.routes.state()
    const outcome = waiting.uncertain ? 'unknown' : 'not_applied'
    return {
      kind: 'unavailable',
      reason: state === 'no_shards' || state === 'no_healthy_shards' ? state : reason,
      outcome,
    }
  }

  private finish(waiting: Waiting, outcome: GatewayOutcome): void {
    waiting.timer?.cancel()
    this.waiting.delete(waiting.requestId)
    const end = this.count(waiting.request, outcome)
    this.dependencies.log?.debug?.('submission_answered', {
      ...this.requestFields(waiting),
      ...end,
      attempts: waiting.attempt,
      duration_ms: this.dependencies.clock.monotonic() - waiting.startedMs,
    })
    waiting.resolve(outcome)
  }

  private count({ operation }: GatewayRequest, outcome: GatewayOutcome): SubmissionEnd {
    const end = endOf(outcome)
    this.dependencies.metrics?.submission(operation.kind, end)
    return end
  }

  /** `submission`: the request's ID in the verdicts; the other fields are the trail of the client's request. */
  private requestFields({ request, requestId, shardId }: Waiting): LogFields {
    const { actor, operation, trail } = request
    const { accountTag } = this.dependencies
    const account = accountTag === undefined || actor.kind !== 'account' ? {} : { account: accountTag(actor.id) }
    return { ...fieldsOf(trail), submission: requestId, operation: operation.kind, shard: shardId, ...account }
  }

  measures(): { readonly waiting: number } {
    return { waiting: this.waiting.size }
  }
}

/** When what the answer shows was made; undefined: it shows nothing that an earlier attempt could have made. */
function madeAtOf(answer: Answer): number | undefined {
  switch (answer.kind) {
    case 'accepted':
      return answer.receipt.enqueuedAtMs
    case 'registered':
      return answer.account.createdAtMs
    case 'minted':
      return answer.instance.mintedAtMs
    case 'hold_created':
      return answer.hold.createdAtMs
    default:
      return undefined
  }
}
