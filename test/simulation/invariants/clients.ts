/**
 * Compares the clients' answers with the commits: I2, I3, I10, I11 and I12. Each answer is checked twice: when it
 * leaves its node (only committed facts may be reported) and when the client receives it. A request with an unknown
 * outcome may have had its effect or not.
 */
import type { Answer, DryRunResult } from '../../../actors/account/outcome.ts'
import type { Item, Operation } from '../../../runtime/protocol/messages.ts'
import type { GatewayOutcome, GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { objectionToActor, type RegisterOperation, registeredAt } from './answers.ts'
import type { LedgerChecker } from './invariants.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { isPortage } from '../reference/portage.ts'
import { signedFields, unitsOf } from '../reference/fields.ts'
import { type ModelRequest, useKey, USES, type Window } from '../reference/model.ts'
import { itemsIn, verdictsIn } from '../../support/bodies.ts'
import { actorKey, sha256Hex } from '../../support/reference-encoding.ts'

/** One request as its client saw it. */
export interface HistoryEntry {
  readonly request: GatewayRequest
  readonly fromMs: number
  /** undefined until a reply arrives. */
  toMs: number | undefined
  outcome: GatewayOutcome | undefined
}

/** Refusals of commands whose handling fails. */
const FAULT_CODES: ReadonlySet<string> = new Set(['cannot_be_stored', 'cannot_be_processed'])

export class ClientChecker {
  readonly histories: HistoryEntry[] = []
  private readonly checker: LedgerChecker
  private readonly now: () => number
  private readonly homeOf: (actor: GatewayRequest['actor']) => number
  /** Whether faults are injected into the nodes. */
  private readonly injected: boolean
  private readonly count: (name: string) => void
  private readonly ordered = new Set<string>()
  /** The epoch in which a node first received each request. */
  private readonly firstEpochs = new Map<string, number>()
  private readonly orders = new Map<string, { readonly payload: string; readonly signature: string }>()

  constructor(
    checker: LedgerChecker,
    { now, count }: Pick<Kernel, 'now' | 'count'>,
    homeOf: (actor: GatewayRequest['actor']) => number,
    injected = false,
  ) {
    this.injected = injected
    this.checker = checker
    this.now = now
    this.count = count
    this.homeOf = homeOf
  }

  /** Records a request just before its client sends it. */
  sends(request: GatewayRequest): HistoryEntry {
    const { operation } = request
    if (operation.kind in USES && 'payload' in operation && 'signature' in operation) {
      const { payload, signature } = operation
      this.ordered.add(orderOf(payload, signature ?? ''))
      const { idempotencyKey } = signedFields(payload)
      const use = useKey(USES[operation.kind as keyof typeof USES], idempotencyKey)
      const name = `${request.actor.id} ${use} ${sha256Hex(payload)}`
      this.orders.set(name, { payload, signature: signature ?? '' })
    }
    const entry: HistoryEntry = { request, fromMs: this.now(), toMs: undefined, outcome: undefined }
    this.histories.push(entry)
    return entry
  }

  hears(entry: HistoryEntry, outcome: GatewayOutcome): void {
    entry.toMs = this.now()
    entry.outcome = outcome
    if (outcome.kind !== 'answered') return
    this.countPortage(entry.request, outcome.answer)
    const window = { fromMs: entry.fromMs, toMs: entry.toMs }
    const objection = this.objection(entry.request, outcome.answer, window, 'many')
    const about = `${entry.request.operation.kind} on ${actorKey(entry.request.actor)}`
    this.checker.demand(objection === undefined, `I10: a client's answer about ${about}: ${objection}`)
  }

  /** Counts the other answers of an account that arrives, has arrived or is erased. */
  private countPortage({ actor, operation }: GatewayRequest, answer: Answer): void {
    if (actor.kind !== 'account' || operation.kind === 'erase' || isPortage(operation)) return
    const state = this.checker.account(this.homeOf(actor), actor.id).latest()
    const isRefused = answer.kind === 'refused'
    if (isRefused && state !== undefined && state.held !== null && operation.kind === 'register')
      this.count('held:not_registered')
    if (isRefused && state?.status === 'erased') this.count('erased:refused')
    if (answer.kind === 'accepted' && !answer.replayed && state?.origin?.whole === true) this.count('arrived:acts')
  }

  private objection(
    request: GatewayRequest,
    answer: Answer,
    window: Window,
    attempts: 'one' | 'many',
  ): string | undefined {
    // I12 checks against the committed rows that the refused request had no effect.
    if (this.injected && answer.kind === 'refused' && FAULT_CODES.has(answer.code)) return undefined
    if (answer.kind === 'dry_run') return objectionToDryRun(request, answer.result)
    const asked = modelRequestOf(request)
    if (asked === undefined) {
      const { actors } = this.checker
      return objectionToActor(actors, { token: (tokenId) => actors.token(tokenId) }, request, answer, window)
    }
    return this.checker.account(this.homeOf(request.actor), asked.accountId).objection(asked, answer, window, attempts)
  }

  wasOrdered(payload: string, signature: string): boolean {
    return this.ordered.has(orderOf(payload, signature))
  }

  orderUnderKey(
    operation: 'key_rotation' | 'hold',
    accountId: string,
    idempotencyKey: string,
    payloadHash: string,
  ): { readonly payload: string; readonly signature: string } | undefined {
    return this.orders.get(`${accountId} ${useKey(operation, idempotencyKey)} ${payloadHash}`)
  }

  /** Wraps a node's reply function: checks each verdict when it leaves (I10). */
  watched(message: string, reply: (message: string) => void, nodeId: string): (message: string) => void {
    const cameMs = this.now()
    const items = new Map(itemsIn(message).map((item) => [`${item.requestId} ${item.attempt}`, item]))
    for (const { requestId, epoch } of items.values()) {
      if (!this.firstEpochs.has(requestId)) this.firstEpochs.set(requestId, epoch)
    }
    return (verdicts) => {
      for (const { requestId, attempt, verdict } of verdictsIn(verdicts)) {
        const item = items.get(`${requestId} ${attempt}`)
        this.checker.demand(item !== undefined, `I10: ${nodeId} answers an unknown request`)
        if (item === undefined || verdict.kind !== 'answered') continue
        this.countDeferred(item, verdict.answer)
        const window = { fromMs: cameMs, toMs: this.now() }
        const objection = this.objection(item, verdict.answer, window, 'one')
        const about = `${item.operation.kind} on ${actorKey(item.actor)} (${requestId}.${attempt})`
        this.checker.demand(objection === undefined, `I10: ${nodeId} replies to ${about}: ${objection}`)
      }
      reply(verdicts)
    }
  }

  /** Counts registrations answered by a later owner than the one that accepted them. */
  private countDeferred({ requestId, epoch }: Item, answer: Answer): void {
    const isDeferred = ['token_registered', 'group_registered', 'class_registered', 'minted', 'hold_created'].includes(
      answer.kind,
    )
    if (isDeferred && this.firstEpochs.get(requestId) !== epoch) this.count('answer:deferred_after_move')
  }

  /** I12: a request reported as not applied has had no effect, unless an equal request had it. */
  atEnd(): void {
    for (const entry of this.histories) {
      if (!isDenied(entry) || this.isOfErased(entry)) continue
      const effectMs = this.effectOf(entry)
      if (effectMs === undefined || effectMs < entry.fromMs) continue
      const others = this.histories.some(
        (other) => isSame(other, entry) && other.fromMs <= effectMs && !isDenied(other),
      )
      const what = `${entry.request.operation.kind} on ${actorKey(entry.request.actor)} sent at ${entry.fromMs}`
      this.checker.demand(others, `I12: ${what} was reported as not applied, and took effect at ${effectMs}`)
    }
  }

  /** The refusal of an erased account proves nothing about its former effects. */
  private isOfErased({ request: { actor }, outcome, toMs = 0 }: HistoryEntry): boolean {
    if (outcome?.kind !== 'answered' || outcome.answer.kind !== 'refused') return false
    if (actor.kind !== 'account' || outcome.answer.code !== 'account_closed') return false
    const { states } = this.checker.account(this.homeOf(actor), actor.id)
    return states.some(({ status, fromMs }) => status === 'erased' && fromMs <= toMs)
  }

  /** The time at which this request or an equal one took effect. */
  private effectOf({ request }: HistoryEntry): number | undefined {
    const { operation, actor } = request
    if (
      operation.kind === 'register_token' ||
      operation.kind === 'register_group' ||
      operation.kind === 'register_class'
    ) {
      return registeredAt(this.checker.actors, request, operation)
    }
    // A group may revert for many reasons.
    if (operation.kind === 'revert_group') return undefined
    // Several requests may decline a leg; only one of them has the effect.
    if (operation.kind === 'decline_legs') return undefined
    // A repeated erasure has the same effect, and may get either answer.
    if (operation.kind === 'erase') return undefined
    if (operation.kind === 'pause' || operation.kind === 'resume') return undefined
    if (operation.kind === 'show_actor' || operation.kind === 'dry_run') return undefined
    // Imports and departures are requested until they are done.
    if (isPortage(operation)) return undefined
    const model = this.checker.account(this.homeOf(actor), actor.id)
    // A hold ends once, and may end for many reasons.
    if (operation.kind === 'release_hold' || operation.kind === 'force_release') return undefined
    switch (operation.kind) {
      case 'register':
        // An account from another ledger brought its key along.
        return model.states.find(({ keyId, origin }) => keyId === operation.key.keyId && origin?.whole !== true)?.fromMs
      case 'change_status':
        return this.checker.replay.statusReasons.get(operation.reason)
      case 'submit':
      case 'capture':
      case 'create_hold':
      case 'mint':
      case 'rotate_key': {
        const kind = USES[operation.kind]
        const use = model.uses.get(useKey(kind, signedFields(operation.payload).idempotencyKey))
        const same =
          use?.payload === operation.payload && (kind === 'key_rotation' || use.signature === operation.signature)
        return same ? use.fromMs : undefined
      }
    }
  }
}

/** Whether either request may have had the effect that the other ordered. */
function isSame({ request: left }: HistoryEntry, { request: right }: HistoryEntry): boolean {
  if (actorKey(left.actor) !== actorKey(right.actor)) return false
  if (left.operation.kind === 'register' && right.operation.kind === 'register') {
    return left.operation.key.keyId === right.operation.key.keyId
  }
  // Registrations are identified by their terms: another key, or none, orders the same.
  if (isRegistration(left.operation) && isRegistration(right.operation)) {
    return left.operation.payload === right.operation.payload
  }
  return JSON.stringify(left.operation) === JSON.stringify(right.operation)
}

function isRegistration(operation: Operation): operation is RegisterOperation {
  return ['register_token', 'register_class', 'register_group'].includes(operation.kind)
}

/**
 * Whether the client knows that its request had no effect: it was never applied, or it was refused. A refusal proves
 * that only under a key: the request's own earlier attempt may cause the refusal of a registration or of a status
 * change.
 */
function isDenied({ outcome, request }: HistoryEntry): boolean {
  if (outcome?.kind === 'unavailable') return outcome.outcome === 'not_applied'
  return outcome?.answer.kind === 'refused' && 'signature' in request.operation
}

function orderOf(payload: string, signature: string): string {
  return `${signature} ${payload}`
}

/** The outcome of a dry run; the model of the domain judges it by the order itself. */
function objectionToDryRun({ operation }: GatewayRequest, result: DryRunResult): string | undefined {
  if (operation.kind !== 'dry_run') return `a dry run answers ${operation.kind}`
  const { outcome, failure, balanceAfter, availableAfter, decidedBy } = result
  if ((outcome === 'failed') !== (failure !== null)) return `${outcome} with the failure ${failure?.code ?? 'none'}`
  if ((outcome === 'pending') !== decidedBy.length > 0) return `${outcome}, and ${decidedBy.length} others decide`
  if (balanceAfter === null || availableAfter === null) return 'it states no balance'
  return unitsOf(availableAfter) <= unitsOf(balanceAfter) ? undefined : 'more is available than its balance'
}

/** undefined if the actor is not an account. */
function modelRequestOf({ actor, caller, operation }: GatewayRequest): ModelRequest | undefined {
  switch (operation.kind) {
    // The same refusals, but for those of a key that was used.
    case 'dry_run':
      return { accountId: actor.id, caller, operation: { ...operation, kind: 'submit' } }
    case 'submit':
    case 'capture':
    case 'create_hold':
    case 'release_hold':
    case 'rotate_key':
    case 'register':
    case 'mint':
    case 'change_status':
    case 'decline_legs':
    case 'erase':
    case 'pause':
    case 'resume':
    case 'show_actor':
    case 'depart':
      return { accountId: actor.id, caller, operation }
    case 'hold_arrival':
    case 'note_used_keys':
    case 'take_arrival':
    case 'drop_arrival':
      return actor.kind === 'account' ? { accountId: actor.id, caller, operation } : undefined
    default:
      return undefined
  }
}
