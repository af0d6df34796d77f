/**
 * A model of the ledger that shares no code with it: one account, one thread, whole numbers of 10^-18. It keeps every
 * state of an account, so that an answer can be judged as of any moment.
 *   M1. In the order of commits, the model must reach every committed effect.
 *   M2. An answer is right if some state between the request and the answer gives it; an effect has exactly one place.
 *   M3. A condition on other actors must have held at some moment in between.
 */
import type { AccountStatus, IncomingPolicy, LegHold } from '../../../actors/account/state.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import type { AccountView, Answer, SubmissionReceipt } from '../../../actors/account/outcome.ts'
import type { RefusalCode } from '../../../actors/refusal.ts'
import type { Caller, TransactionType } from '../../../actors/account/commands.ts'
import { CLOCK_ERROR_MS, type Doubtful, doubtsOf } from './doubts.ts'
import { fieldsOf, isPoisonous, type SignedFields, signedFields } from './fields.ts'
import type { HoldState } from '../../../actors/hold/state.ts'
import type { Holdings } from './funds.ts'
import { judgeHold, judgeRelease, objectionToRelease } from './payment-holds.ts'
import { type HeldArrival, isPortage, isTrueOf, judgePortage, type Origin, type PortageOperation } from './portage.ts'
import { Registrations } from './registrations.ts'
import {
  BY_NFT_HOME,
  isAs,
  judgeDecline,
  judgeMint,
  judgePause,
  judgeRegistration,
  judgeRotation,
  judgeStatus,
  refusedFor,
} from './rules.ts'

export interface ModelState {
  /** Virtual time from which it was committed. */
  readonly fromMs: number
  readonly status: AccountStatus
  readonly incoming: IncomingPolicy
  readonly paused: boolean
  /** The client that registered it; empty if an import created the account and was dropped. */
  readonly registeredBy: string
  /** Both empty while the account has no key. */
  readonly publicKey: string
  readonly keyId: string
  readonly sequence: number
  readonly tip: string
  readonly holdings: Holdings
  /** Only of registered groups. */
  readonly legs: readonly LegHold[]
  /** Whether it holds anything; `perhaps` in the middle of a commit. */
  readonly occupied: 'yes' | 'no' | 'perhaps'
  /** Whether anything of it is pending, or it owns NFTs. */
  readonly busy: 'yes' | 'no' | 'perhaps'
  /** Whether this state lies between several steps of one commit: its holdings are unknown. */
  readonly isMidway: boolean
  /** The arrival from another ledger that is held and not yet taken. */
  readonly held: HeldArrival | null
  readonly origin: Origin | null
  /** The ledger that it departs to. */
  readonly moved: string | null
}

/** The use of an idempotency key, visible from the state with this index. */
export interface ModelUse {
  readonly from: number
  readonly fromMs: number
  readonly payload: string
  readonly signature: string
  /** The key that signed the original. */
  readonly publicKey: string
  /** null for a rotation, a mint and a hold. */
  readonly receipt: SubmissionReceipt | null
  /** The transaction of a mint. */
  readonly mintTxnId?: string
  readonly holdId?: string
}

/** A submission under a group ID: it may have been entered from `from` on, and surely from `surelyFrom` on. */
export interface GroupedUse {
  readonly from: number
  readonly surelyFrom: number
  readonly groupId: string
  readonly type: TransactionType
  readonly tokenId: string
}

/** Operations on an account; other checkers judge other actors. */
export type AccountOperation =
  | Extract<
      Operation,
      {
        readonly kind:
          | 'submit'
          | 'capture'
          | 'create_hold'
          | 'release_hold'
          | 'rotate_key'
          | 'register'
          | 'change_status'
          | 'mint'
          | 'decline_legs'
          | 'pause'
          | 'resume'
          | 'show_actor'
      }
    >
  | PortageOperation

/** The parts of a client's request that its answer depends on. */
export interface ModelRequest {
  readonly accountId: string
  readonly caller: Caller
  readonly operation: AccountOperation
}

/** Virtual times, both included. */
export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

/** The model's possible answer to a request in one state. */
export type Expected =
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | { readonly kind: 'repeat'; readonly use: ModelUse }
  | { readonly kind: 'registered'; readonly created: boolean }
  | { readonly kind: 'declined' }
  | { readonly kind: 'released' }
  | { readonly kind: 'effect' }
  | { readonly kind: 'unchanged' }

export interface ModelSettings {
  readonly ledgerId: string
  readonly verifies: (publicKey: string, payload: string, signature: string) => boolean
  /** Milliseconds since 1970 at a virtual time. */
  readonly wallAt: (ms: number) => number
}

/** Facts about other actors, with their start; they never change. */
export interface ModelFacts {
  readonly token: (
    tokenId: string,
  ) => { readonly fromMs: number; readonly decimals: number; readonly issuer: string } | undefined
  readonly openSince: (accountId: string) => number | undefined
  readonly nftClass: (classId: string) => { readonly fromMs: number; readonly issuer: string } | undefined
  /** The time from which the NFT exists. */
  readonly mintedSince: (nftId: string) => number | undefined
  /** The latest state of a hold, and the time from which it was open. */
  readonly hold: (holdId: string) => { readonly fromMs: number; readonly state: HoldState } | undefined
  /** The hold's end, if it came by then. */
  readonly endOfHold: (holdId: string, byMs: number) => HoldState | undefined
  /** The idempotency keys that an imported account used on its former ledger, by `useKey`. */
  readonly usedThere: (importId: string, accountId: string) => ReadonlySet<string>
}

/** D25: 90 days. */
const LONGEST_HOLD_MS = 7_776_000_000
const EFFECT = { kind: 'effect' } as const

/** One account through time. */
export class AccountModel {
  readonly states: ModelState[] = []
  /** By operation and idempotency key. */
  readonly uses = new Map<string, ModelUse>()
  readonly grouped: GroupedUse[] = []
  readonly registrations = new Registrations()
  private readonly settings: ModelSettings
  private readonly facts: ModelFacts

  constructor(settings: ModelSettings, facts: ModelFacts) {
    this.settings = settings
    this.facts = facts
  }

  latest(): ModelState | undefined {
    return this.states.at(-1)
  }

  /** The possible answers if the request is decided in the state with this index; -1 is the time before any. */
  judge(request: ModelRequest, index: number, window: Window): readonly Expected[] {
    const state = this.states[index]
    const { operation } = request
    switch (operation.kind) {
      case 'register':
        return [judgeRegistration(state, request, operation, this.registrations)]
      case 'change_status':
        return judgeStatus(state, operation)
      case 'submit':
      case 'capture':
      case 'create_hold':
      case 'rotate_key':
      case 'mint':
        return state === undefined
          ? [refusedFor('account_not_found')]
          : this.judgeSigned(state, index, request, operation, window)
      case 'release_hold':
        return judgeRelease(state, operation, window, this.settings, this.facts)
      case 'decline_legs':
        return [judgeDecline(state, operation, this.settings.verifies)]
      case 'pause':
      case 'resume':
      case 'show_actor':
        return [judgePause(state, operation)]
      default:
        return judgePortage(state, request.caller.role, operation)
    }
  }

  /**
   * Whether an answer sent at `toMs` to a request received at `fromMs` is right; the reason if it is not. With several
   * `attempts` the answer may repeat an earlier attempt's answer without being marked as a replay.
   */
  objection(request: ModelRequest, answer: Answer, window: Window, attempts: 'one' | 'many'): string | undefined {
    const indexes = this.indexesBetween(window)
    const allowed = (isIt: (one: Expected) => boolean): string | undefined => {
      const expected = indexes.flatMap((index) => this.judge(request, index, window))
      const said = answer.kind === 'refused' ? answer.code : answer.kind
      return expected.some(isIt) ? undefined : `${said}, where every state between says ${show(expected)}`
    }
    switch (answer.kind) {
      case 'refused':
        // An unstorable value is refused although the ledger's rules accept it.
        if (request.operation.kind === 'mint' && BY_NFT_HOME.has(answer.code)) return undefined
        if (answer.code === 'cannot_be_stored') {
          return isPoisonous(request.operation) ? undefined : 'refused with cannot_be_stored, though it can be stored'
        }
        return allowed((one) => one.kind === 'refused' && one.code === answer.code)
      case 'accepted':
      case 'rotated':
      case 'minted':
      case 'hold_created':
        return this.objectionToUse(request, answer, indexes, window, attempts)
      case 'registered': {
        const { created, replayed, mismatch, account } = answer
        if (!this.knows(account.sequence, account.auditHash, window.toMs)) return 'shows an account that was never so'
        if (mismatch !== (created && this.registrations.differs(request))) return `a mismatch is ${mismatch}`
        if (created && !replayed) return this.gotItsKeyIn(window) ? undefined : 'created an account that existed'
        return allowed((one) => one.kind === 'registered' && one.created === created)
      }
      case 'status_changed': {
        const { sequence, auditHash, status, incoming } = answer.account
        const shown = indexes
          .map((index) => this.states[index])
          .some((state) => state?.tip === auditHash && state.sequence === sequence && isAs(state, status, incoming))
        return shown ? undefined : 'shows a status that was not so'
      }
      case 'actor_shown': {
        const { state: status, paused, holds, pending } = answer.actor
        const shown = indexes.some((index) => {
          const state = this.states[index]
          return state?.status === status && state.paused === paused
        })
        return shown && pending <= holds ? undefined : 'shows an actor that was not so'
      }
      case 'arrival': {
        const { operation } = request
        if (!isPortage(operation) || operation.kind === 'erase' || operation.kind === 'depart')
          return 'it is no arrival'
        if (indexes.some((index) => isTrueOf(this.states[index], operation, answer))) return undefined
        return `${answer.state}, and it was not so`
      }
      case 'departed':
        return (
          this.objectionToDeparture(request.operation, answer.account, indexes) ??
          allowed((one) => one.kind === 'effect')
        )
      case 'hold_released': {
        const { operation } = request
        if (operation.kind !== 'release_hold') return 'another kind of answer'
        const holdId = signedFields(operation.payload).holdId ?? ''
        return (
          objectionToRelease(answer, holdId, this.facts.endOfHold(holdId, window.toMs)) ??
          allowed((one) => one.kind === 'released')
        )
      }
      case 'legs_declined':
        return allowed((one) => one.kind === 'declined')
      default:
        return `no account answers ${answer.kind}`
    }
  }

  /** The states during the window; -1 is the time before the first. */
  indexesBetween({ fromMs, toMs }: Window): readonly number[] {
    const indexes: number[] = []
    for (let index = this.states.length - 1; index >= -1; index -= 1) {
      const startMs = this.states[index]?.fromMs ?? -Infinity
      const endMs = this.states[index + 1]?.fromMs ?? Infinity
      if (endMs < fromMs) break
      if (startMs <= toMs) indexes.push(index)
    }
    return indexes.reverse()
  }

  private objectionToDeparture(
    operation: AccountOperation,
    { sequence, auditHash, status }: AccountView,
    indexes: readonly number[],
  ): string | undefined {
    if (operation.kind === 'depart' && operation.tokenId === null && status !== 'closed') return `gone, and ${status}`
    const shown = indexes
      .map((index) => this.states[index])
      .some((state) => state?.tip === auditHash && state.sequence === sequence && state.status === status)
    return shown ? undefined : 'shows a departure that was not so'
  }

  private gotItsKeyIn({ fromMs }: Window): boolean {
    return this.states.some(
      ({ keyId, fromMs: sinceMs }, index) =>
        keyId !== '' && sinceMs >= fromMs && (this.states[index - 1]?.keyId ?? '') === '',
    )
  }

  private objectionToUse(
    { operation }: ModelRequest,
    answer: Extract<Answer, { kind: UsingKind }>,
    indexes: readonly number[],
    { fromMs, toMs }: Window,
    attempts: 'one' | 'many',
  ): string | undefined {
    const kind = KINDS[answer.kind]
    if (!('payload' in operation) || !isUsing(operation) || USES[operation.kind] !== kind)
      return 'another kind of answer'
    const { payload, signature } = operation
    const use = this.uses.get(useKey(kind, signedFields(payload).idempotencyKey))
    if (use === undefined || use.fromMs > toMs) return `${answer.kind}, and not committed (I10)`
    if (!this.isAnswerOf(use, answer)) return 'another answer than the one committed (I3)'
    const mismatch = use.payload !== payload
    if (answer.mismatch !== mismatch) return `the mark of a mismatch is ${answer.mismatch}`
    if (attempts === 'one' && !answer.replayed && (use.fromMs < fromMs || mismatch))
      return 'a repeat that is not marked as one'
    const keys = [use.publicKey, ...indexes.map((index) => this.states[index]?.publicKey ?? '')]
    const signed = keys.some((publicKey) => publicKey !== '' && this.settings.verifies(publicKey, payload, signature))
    return signed ? undefined : `${answer.kind} without a signature by any key that was in force`
  }

  private isAnswerOf(use: ModelUse, answer: Extract<Answer, { kind: UsingKind }>): boolean {
    switch (answer.kind) {
      case 'accepted':
        return JSON.stringify(use.receipt) === JSON.stringify(answer.receipt)
      case 'rotated':
        return this.states[use.from]?.tip === answer.account.auditHash
      case 'minted':
        return use.mintTxnId === answer.txnId
      case 'hold_created':
        return use.holdId === answer.hold.holdId && answer.hold.status === 'active'
    }
  }

  private knows(sequence: number, tip: string, toMs: number): boolean {
    return this.states.some((state) => state.sequence === sequence && state.tip === tip && state.fromMs <= toMs)
  }

  private judgeSigned(
    state: ModelState,
    index: number,
    request: ModelRequest,
    operation: SignedOperation,
    window: Window,
  ): readonly Expected[] {
    if (state.status === 'erased') return [refusedFor('account_closed')]
    const { payload, signature } = operation
    const fields = fieldsOf(operation)
    const kind = USES[operation.kind]
    const found = this.uses.get(useKey(kind, fields.idempotencyKey))
    const use = found !== undefined && found.from <= index ? found : undefined
    const { verifies } = this.settings
    const keys = [state.publicKey, use?.publicKey ?? ''].filter((publicKey) => publicKey !== '')
    if (keys.length === 0) return [refusedFor('account_keyless')]
    if (!keys.some((publicKey) => verifies(publicKey, payload, signature))) return [refusedFor('signature_mismatch')]
    if (use !== undefined) return [{ kind: 'repeat', use }]
    const elsewhere = this.signedElsewhere(state, request.accountId, kind, fields)
    if (elsewhere !== undefined) return [elsewhere]
    switch (operation.kind) {
      case 'submit':
      case 'capture':
        return this.judgeSubmission(state, index, request, fields, window)
      case 'create_hold':
        return this.judgeCreation(state, index, request.accountId, fields, window)
      case 'mint':
        return judgeMint(state, request, fields, window, this.facts)
      case 'rotate_key':
        return [judgeRotation(state, operation, verifies)]
    }
  }

  /** Whether an order may have been signed for the account's former ledger. */
  private signedElsewhere(
    { origin }: ModelState,
    accountId: string,
    kind: UseKind,
    { idempotencyKey, ledgerId }: SignedFields,
  ): Expected | undefined {
    if (origin === null) return undefined
    if (ledgerId === null) return refusedFor('wrong_ledger')
    if (!origin.whole) return undefined
    const used = this.facts.usedThere(origin.importId, accountId).has(useKey(kind, idempotencyKey))
    return used ? refusedFor('key_used_elsewhere') : undefined
  }

  /** In the ledger's order of checks. After an uncertain refusal the next check may decide. */
  private judgeSubmission(
    state: ModelState,
    index: number,
    { caller, accountId }: ModelRequest,
    fields: SignedFields,
    window: Window,
  ): readonly Expected[] {
    const { type, ledgerId, termsHash } = fields
    const isStopped = state.paused && state.status === 'active' && type !== 'credit'
    if (type === 'credit' && termsHash === null && caller.boundary !== true) return [refusedFor('boundary_not_granted')]
    if (ledgerId !== null && ledgerId !== this.settings.ledgerId) return [refusedFor('wrong_ledger')]
    const doubts: Expected[] = []
    for (const { code, certain } of doubtsOf(this.doubtful(index), state, accountId, fields, window)) {
      doubts.push(refusedFor(code))
      if (certain) return doubts
    }
    return [...doubts, isStopped ? refusedFor('account_paused') : EFFECT]
  }

  private doubtful(index: number): Doubtful {
    const grouped = this.grouped.filter(({ from }) => from <= index)
    return { wallAt: this.settings.wallAt, facts: this.facts, grouped, index }
  }

  private judgeCreation(
    state: ModelState,
    index: number,
    accountId: string,
    fields: SignedFields,
    window: Window,
  ): readonly Expected[] {
    const { ledgerId, expiresAtMs } = fields
    const { ledgerId: own, wallAt } = this.settings
    if (ledgerId !== null && ledgerId !== own) return [refusedFor('wrong_ledger')]
    const isTooLong = (expiresAtMs ?? 0) > wallAt(window.fromMs) + LONGEST_HOLD_MS + CLOCK_ERROR_MS
    if (isTooLong) return [refusedFor('expired')]
    const doubts: Expected[] = []
    for (const { code, certain } of doubtsOf(this.doubtful(index), state, accountId, fields, window)) {
      doubts.push(refusedFor(code))
      if (certain) return doubts
    }
    return [...doubts, ...judgeHold(state, fields)]
  }
}

const KINDS = {
  accepted: 'transaction',
  rotated: 'key_rotation',
  minted: 'mint',
  hold_created: 'hold',
} as const
export const USES = {
  submit: 'transaction',
  capture: 'transaction',
  rotate_key: 'key_rotation',
  mint: 'mint',
  create_hold: 'hold',
} as const

type UseKind = (typeof USES)[keyof typeof USES]
type UsingKind = keyof typeof KINDS
type SignedOperation = Extract<AccountOperation, { readonly kind: keyof typeof USES }>

function isUsing(operation: AccountOperation): operation is SignedOperation {
  return operation.kind in USES
}

export function useKey(operation: UseKind, idempotencyKey: string): string {
  return `${operation} ${idempotencyKey}`
}

function show(expected: readonly Expected[]): string {
  return expected.map((one) => ('code' in one ? one.code : one.kind)).join(', ')
}
