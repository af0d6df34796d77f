/**
 * What the ledger should say, told by a model that shares no code with it: one account, one thread, whole numbers of
 * 10^-18. It keeps every state that an account ever had, so that an answer can be judged as of any moment.
 *   M1. Fed in the order of commits, it must itself arrive at every effect that was committed.
 *   M2. An answer is right if some state between the request and the answer gives it; an effect has its one place.
 */
import type { AccountStatus, IncomingPolicy } from '../../actors/account/state.ts'
import type { Operation } from '../../runtime/messages.ts'
import type { Answer, RefusalCode, SubmissionReceipt } from '../../actors/account/outcome.ts'
import type { Caller } from '../../actors/account/commands.ts'

const SCALE = 18
const LARGEST = 10n ** 36n - 1n

/** Whole units of 10^-18. */
export function unitsOf(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}

export interface ModelState {
  /** Virtual time from which it was committed. */
  readonly fromMs: number
  readonly status: AccountStatus
  readonly incoming: IncomingPolicy
  readonly publicKey: string
  readonly keyId: string
  readonly balance: bigint
  readonly sequence: number
  readonly tip: string
}

/** What a key was used for, visible from the state with this index. */
export interface ModelUse {
  readonly from: number
  readonly fromMs: number
  readonly payload: string
  readonly signature: string
  /** The key that the original was accepted under. */
  readonly publicKey: string
  /** null for a rotation. */
  readonly receipt: SubmissionReceipt | null
}

/** What a client asked, as far as its answer depends on it. */
export interface ModelRequest {
  readonly accountId: string
  readonly caller: Caller
  readonly operation: Operation
}

export type SignatureJudge = (publicKey: string, payload: string, signature: string) => boolean

/** What the model would say of a request in one state. */
export type Expected =
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | { readonly kind: 'repeat'; readonly use: ModelUse }
  | { readonly kind: 'registered'; readonly created: boolean }
  /** An effect: `failure` null when it completes. */
  | { readonly kind: 'effect'; readonly failure: string | null }
  | { readonly kind: 'unchanged' }

export interface SignedFields {
  readonly idempotencyKey: string
  readonly type: string
  readonly amount: string
  readonly tokenId: string
  readonly ledgerId: string | null
  readonly expired: boolean
}

/** The fields of a signed payload that matter here. `expires_at` in the workload lies far in the past or far ahead. */
export function signedFields(payload: string): SignedFields {
  const fields = JSON.parse(payload) as Record<string, string | undefined>
  const expiresAt = fields['expires_at']
  return {
    idempotencyKey: fields['idempotency_key'] ?? '',
    type: fields['type'] ?? '',
    amount: fields['amount'] ?? '0',
    tokenId: fields['token_id'] ?? 'BASE',
    ledgerId: fields['ledger_id'] ?? null,
    expired: expiresAt !== undefined && expiresAt < '2020',
  }
}

export interface ModelSettings {
  readonly ledgerId: string
  readonly verifies: SignatureJudge
}

/** One account through time. */
export class AccountModel {
  readonly states: ModelState[] = []
  /** By operation and idempotency key. */
  readonly uses = new Map<string, ModelUse>()
  registeredBy = ''
  /** The client and the key that the account was registered under, if a key was sent. */
  registrationUse: string | null = null
  private readonly settings: ModelSettings

  constructor(settings: ModelSettings) {
    this.settings = settings
  }

  latest(): ModelState | undefined {
    return this.states.at(-1)
  }

  /** What the request would get if it were decided on the state with this index; -1 is the time before any. */
  judge(request: ModelRequest, index: number): Expected {
    const state = this.states[index]
    const { operation } = request
    switch (operation.kind) {
      case 'register':
        return this.judgeRegistration(state, request, operation)
      case 'change_status':
        return judgeStatus(state, operation)
      case 'submit':
      case 'rotate_key':
        return state === undefined
          ? refusedFor('account_not_found')
          : this.judgeSigned(state, index, request, operation)
    }
  }

  /**
   * Whether an answer that left at `toMs` to a request that came at `fromMs` is right; the reason when it is not.
   * `attempts` more than one: the answer may be a repeat of what an earlier attempt did, and need not say so.
   */
  objection(
    request: ModelRequest,
    answer: Answer,
    fromMs: number,
    toMs: number,
    attempts: 'one' | 'many',
  ): string | undefined {
    const window = this.indexesBetween(fromMs, toMs)
    const expected = window.map((index) => this.judge(request, index))
    switch (answer.kind) {
      case 'refused':
        // Only what the store cannot take is refused for no reason of the ledger's own.
        if (answer.code === 'rejected') return isPoisonous(request) ? undefined : 'rejected, and could have been stored'
        return expected.some((one) => one.kind === 'refused' && one.code === answer.code)
          ? undefined
          : `refused with ${answer.code}, which no state between allows: ${show(expected)}`
      case 'accepted':
        return this.objectionToUse(request, answer, window, { fromMs, toMs, attempts })
      case 'rotated':
        return this.objectionToUse(request, answer, window, { fromMs, toMs, attempts })
      case 'registered': {
        const { created, replayed, account } = answer
        if (!this.knows(account.sequence, account.auditHash, toMs)) return 'shows an account that was never so'
        if (created && !replayed) {
          const first = this.states[0]
          return first !== undefined && first.fromMs >= fromMs ? undefined : 'created what was there before'
        }
        return expected.some((one) => one.kind === 'registered' && one.created === created)
          ? undefined
          : `registered (created ${created}), which no state between allows: ${show(expected)}`
      }
      case 'status_changed': {
        const { sequence, auditHash, status, incoming } = answer.account
        const shown = window.some((index) => {
          const state = this.states[index]
          return (
            state?.tip === auditHash &&
            state.sequence === sequence &&
            state.status === status &&
            state.incoming === incoming
          )
        })
        return shown ? undefined : 'shows a status that was not so'
      }
    }
  }

  /** The states that held at some moment from `fromMs` to `toMs`, both included; -1 stands for the time before the first. */
  indexesBetween(fromMs: number, toMs: number): readonly number[] {
    const indexes: number[] = []
    for (let index = -1; index < this.states.length; index += 1) {
      const startMs = this.states[index]?.fromMs ?? -Infinity
      const endMs = this.states[index + 1]?.fromMs ?? Infinity
      if (startMs <= toMs && endMs >= fromMs) indexes.push(index)
    }
    return indexes
  }

  private objectionToUse(
    { operation }: ModelRequest,
    answer: Extract<Answer, { kind: 'accepted' | 'rotated' }>,
    window: readonly number[],
    { fromMs, toMs, attempts }: { readonly fromMs: number; readonly toMs: number; readonly attempts: 'one' | 'many' },
  ): string | undefined {
    const kind = answer.kind === 'accepted' ? 'transaction' : 'key_rotation'
    if (!('payload' in operation) || (operation.kind === 'submit') !== (kind === 'transaction'))
      return 'another kind of answer'
    const { payload, signature } = operation
    const use = this.uses.get(useKey(kind, signedFields(payload).idempotencyKey))
    if (use === undefined || use.fromMs > toMs) return `${answer.kind}, and not committed (I10)`
    const same =
      answer.kind === 'accepted'
        ? JSON.stringify(use.receipt) === JSON.stringify(answer.receipt)
        : this.states[use.from]?.tip === answer.account.auditHash
    if (!same) return 'another answer than the one committed (I3)'
    const mismatch = use.payload !== payload
    if (answer.mismatch !== mismatch) return `the mark of a mismatch is ${answer.mismatch}`
    if (attempts === 'one' && !answer.replayed && (use.fromMs < fromMs || mismatch))
      return 'a repeat that is not marked as one'
    const keys = [use.publicKey, ...window.map((index) => this.states[index]?.publicKey ?? '')]
    const signed = keys.some((publicKey) => publicKey !== '' && this.settings.verifies(publicKey, payload, signature))
    return signed ? undefined : `${answer.kind} without a signature by any key that was in force`
  }

  private knows(sequence: number, tip: string, toMs: number): boolean {
    return this.states.some((state) => state.sequence === sequence && state.tip === tip && state.fromMs <= toMs)
  }

  private judgeRegistration(
    state: ModelState | undefined,
    { caller }: ModelRequest,
    operation: Extract<Operation, { kind: 'register' }>,
  ): Expected {
    if (state === undefined) return { kind: 'effect', failure: null }
    const { registrationKey } = operation
    const repeats = registrationKey !== null && `${caller.clientId} ${registrationKey}` === this.registrationUse
    if (!repeats && operation.key.keyId !== state.keyId) return refusedFor('public_key_conflict')
    return { kind: 'registered', created: repeats }
  }

  private judgeSigned(
    state: ModelState,
    index: number,
    request: ModelRequest,
    operation: Extract<Operation, { kind: 'submit' | 'rotate_key' }>,
  ): Expected {
    const { payload, signature } = operation
    const fields = signedFields(payload)
    const kind = operation.kind === 'submit' ? 'transaction' : 'key_rotation'
    const found = this.uses.get(useKey(kind, fields.idempotencyKey))
    const use = found !== undefined && found.from <= index ? found : undefined
    const { verifies } = this.settings
    const signed =
      verifies(state.publicKey, payload, signature) ||
      (use !== undefined && verifies(use.publicKey, payload, signature))
    if (!signed) return refusedFor('signature_mismatch')
    if (use !== undefined) return { kind: 'repeat', use }
    return operation.kind === 'submit'
      ? this.judgeSubmission(state, request, fields)
      : judgeRotation(state, operation, verifies)
  }

  private judgeSubmission(state: ModelState, { caller }: ModelRequest, fields: SignedFields): Expected {
    const { type, amount, tokenId, ledgerId } = fields
    if (type === 'credit' && caller.boundary !== true) return refusedFor('boundary_not_granted')
    if (ledgerId !== null && ledgerId !== this.settings.ledgerId) return refusedFor('wrong_ledger')
    if (fields.expired) return refusedFor('expired')
    if (tokenId !== 'BASE') return refusedFor('token_not_found')
    const units = unitsOf(amount)
    if (state.status === 'closed') return { kind: 'effect', failure: 'account_closed' }
    if (type === 'credit') {
      if (state.incoming === 'refuse') return { kind: 'effect', failure: 'incoming_refused' }
      return { kind: 'effect', failure: state.balance + units > LARGEST ? 'balance_limit' : null }
    }
    if (state.status === 'frozen') return { kind: 'effect', failure: 'account_frozen' }
    return { kind: 'effect', failure: state.balance < units ? 'insufficient_funds' : null }
  }
}

function judgeRotation(
  state: ModelState,
  operation: Extract<Operation, { kind: 'rotate_key' }>,
  verifies: SignatureJudge,
): Expected {
  const { proof, newKey, payload } = operation
  if (proof !== null && !verifies(newKey.publicKey, payload, proof)) return refusedFor('proof_mismatch')
  return state.status === 'active' ? { kind: 'effect', failure: null } : refusedFor('account_not_active')
}

function judgeStatus(state: ModelState | undefined, wish: Extract<Operation, { kind: 'change_status' }>): Expected {
  if (state === undefined) return refusedFor('account_not_found')
  if (state.status === 'closed') return refusedFor('account_closed')
  const status = wish.status ?? state.status
  if (status === state.status && (wish.incoming ?? state.incoming) === state.incoming) return { kind: 'unchanged' }
  const closesFull = status === 'closed' && state.balance > 0n
  return closesFull ? refusedFor('account_not_empty') : { kind: 'effect', failure: null }
}

function refusedFor(code: RefusalCode): Expected {
  return { kind: 'refused', code }
}

export function useKey(operation: 'transaction' | 'key_rotation', idempotencyKey: string): string {
  return `${operation} ${idempotencyKey}`
}

/** Whether the request carries a value that the simulated store refuses. */
export function isPoisonous({ operation }: ModelRequest): boolean {
  return 'payload' in operation && operation.payload.includes('\\u0000')
}

function show(expected: readonly Expected[]): string {
  return expected.map((one) => ('code' in one ? one.code : one.kind)).join(', ')
}
