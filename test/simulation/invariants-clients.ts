/**
 * What clients were told, held against what was committed: I2, I3, I10, I11 and I12.
 * Each answer is looked at twice: as it leaves its node (nothing may be told that was not committed by then), and as the
 * client got it. A request without a verdict may have had its effect or not.
 */
import { sha256Hex } from '../../actors/audit-chain.ts'
import { decodeItems, decodeVerdicts } from '../../runtime/messages.ts'
import type { GatewayOutcome } from '../../runtime/ports/ledger-gateway.ts'
import type { LedgerChecker } from './invariants.ts'
import { type ModelRequest, signedFields, useKey } from './reference-model.ts'

/** One request as its client saw it. */
export interface HistoryEntry {
  readonly request: ModelRequest
  readonly shardId: number
  readonly fromMs: number
  /** undefined while, and if, nothing is heard. */
  toMs: number | undefined
  outcome: GatewayOutcome | undefined
}

export class ClientChecker {
  readonly histories: HistoryEntry[] = []
  private readonly checker: LedgerChecker
  private readonly now: () => number
  private readonly ordered = new Set<string>()
  private readonly rotations = new Map<string, { readonly payload: string; readonly signature: string }>()

  constructor(checker: LedgerChecker, now: () => number) {
    this.checker = checker
    this.now = now
  }

  /** A client is about to send this. */
  sends(request: ModelRequest, shardId: number): HistoryEntry {
    const { operation } = request
    if ('payload' in operation) this.ordered.add(orderOf(operation.payload, operation.signature))
    if (operation.kind === 'rotate_key') {
      const { payload, signature } = operation
      const { idempotencyKey } = signedFields(payload)
      this.rotations.set(`${request.accountId} ${idempotencyKey} ${sha256Hex(payload)}`, { payload, signature })
    }
    const entry: HistoryEntry = { request, shardId, fromMs: this.now(), toMs: undefined, outcome: undefined }
    this.histories.push(entry)
    return entry
  }

  hears(entry: HistoryEntry, outcome: GatewayOutcome): void {
    entry.toMs = this.now()
    entry.outcome = outcome
    if (outcome.kind !== 'answered') return
    const model = this.checker.account(entry.shardId, entry.request.accountId)
    const objection = model.objection(entry.request, outcome.answer, entry.fromMs, entry.toMs, 'many')
    this.checker.demand(objection === undefined, `I10: a client of ${entry.request.accountId} was told: ${objection}`)
  }

  wasOrdered(payload: string, signature: string): boolean {
    return this.ordered.has(orderOf(payload, signature))
  }

  rotationOrdered(
    accountId: string,
    idempotencyKey: string,
    payloadHash: string,
  ): { readonly payload: string; readonly signature: string } | undefined {
    return this.rotations.get(`${accountId} ${idempotencyKey} ${payloadHash}`)
  }

  /** A node's way to answer a message, watched: checks each verdict at the moment it leaves (I10). */
  watched(message: string, reply: (message: string) => void, nodeId: string): (message: string) => void {
    const cameMs = this.now()
    const items = new Map(decodeItems(message).map((item) => [`${item.requestId} ${item.attempt}`, item]))
    return (verdicts) => {
      for (const { requestId, attempt, verdict } of decodeVerdicts(verdicts)) {
        const item = items.get(`${requestId} ${attempt}`)
        this.checker.demand(item !== undefined, `I10: ${nodeId} answers what was not asked`)
        if (item === undefined || verdict.kind !== 'answered') continue
        const model = this.checker.account(item.shardId, item.accountId)
        const objection = model.objection(item, verdict.answer, cameMs, this.now(), 'one')
        const about = `${item.operation.kind} on ${item.accountId} (${requestId}.${attempt})`
        this.checker.demand(objection === undefined, `I10: ${nodeId} said of ${about}: ${objection}`)
      }
      reply(verdicts)
    }
  }

  /** I12: what a client was told not to have happened has not happened, unless another request did it. */
  atEnd(): void {
    for (const entry of this.histories) {
      if (!isDenied(entry)) continue
      const effectMs = this.effectOf(entry)
      if (effectMs === undefined || effectMs < entry.fromMs) continue
      const others = this.histories.some(
        (other) => isSame(other, entry) && other.fromMs <= effectMs && !isDenied(other),
      )
      const what = `${entry.request.operation.kind} on ${entry.request.accountId} sent at ${entry.fromMs}`
      this.checker.demand(others, `I12: ${what} was said not to be applied, and took effect at ${effectMs}`)
    }
  }

  /** When what this request ordered took effect, by whichever request. */
  private effectOf({ request, shardId }: HistoryEntry): number | undefined {
    const model = this.checker.account(shardId, request.accountId)
    const { operation } = request
    switch (operation.kind) {
      case 'register':
        return model.states[0]?.keyId === operation.key.keyId ? model.states[0].fromMs : undefined
      case 'change_status':
        return this.checker.statusReasons.get(operation.reason)
      case 'submit':
      case 'rotate_key': {
        const kind = operation.kind === 'submit' ? 'transaction' : 'key_rotation'
        const use = model.uses.get(useKey(kind, signedFields(operation.payload).idempotencyKey))
        const same =
          use?.payload === operation.payload && (use.receipt === null || use.signature === operation.signature)
        return same ? use.fromMs : undefined
      }
    }
  }
}

/** Whether either request may have done what the other ordered. */
function isSame({ request: left }: HistoryEntry, { request: right }: HistoryEntry): boolean {
  if (left.accountId !== right.accountId) return false
  if (left.operation.kind === 'register' && right.operation.kind === 'register') {
    return left.operation.key.keyId === right.operation.key.keyId
  }
  return JSON.stringify(left.operation) === JSON.stringify(right.operation)
}

/**
 * Whether the client knows that its request did nothing: it was never applied, or refused. A refusal proves that only
 * under a key: a registration or a change of status may be refused because of what its own earlier attempt did.
 */
function isDenied({ outcome, request }: HistoryEntry): boolean {
  if (outcome?.kind === 'unavailable') return outcome.outcome === 'not_applied'
  return outcome?.answer.kind === 'refused' && 'payload' in request.operation
}

function orderOf(payload: string, signature: string): string {
  return `${signature} ${payload}`
}
