/**
 * Contains faults: a command whose handling throws does not affect other commands. Each fault logs one line at the
 * level
 * `error` with the stage and the cause.
 *   C1. A request is refused with a code for this case. If an earlier attempt may have been applied, or its key was not
 *       looked up, the request is left undecided, because a refusal would deny what took effect.
 *   C2. A message parks its channel (R5 of inbox.ts) instead of stopping the shard: every owner can serve the shard.
 *   C3. A timer parks its actor and is retried after `PARKED_RETRY_MS`. More than `MAX_PARKED_TIMERS` of one shard
 *       quarantine it: they would displace other timers in the store's list of due actors. Timers whose look-up the
 *       store did not answer do not count.
 *   C4. A request that breaks an invariant quarantines its shard, because the shard's state cannot be trusted. If the
 *       request's own handling broke the invariant, it is refused, so that it does not quarantine the shard at the next
 *       owner.
 */
import { mintUnderWay } from '../../../actors/account/mint.ts'
import { refusal } from '../../../actors/account/outcome.ts'
import { BrokenInvariant } from '../../../actors/result.ts'
import { LedgerStoreUnavailable } from '../../ports/ledger-store.ts'
import { reasonOf } from '../../common/reason.ts'
import type { ShardRecovery } from './shard-recovery.ts'
import { requestFields, leaveUndecided } from '../shard/request-log.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { type Pending, settle } from '../shard/pending-command.ts'

/** The stage of handling that failed. */
export type Stage =
  | 'delivery'
  | 'look_up'
  | 'verification'
  | 'step'
  | 'rows'
  | 'signing'
  | 'commit'
  | 'apply'
  | 'send'
  | 'recovery'

/** Whether the same command would fail at every owner. A failure to read or write rows may be specific to this node. */
export function isOfTheCommand(stage: Stage): boolean {
  return stage === 'step' || stage === 'rows' || stage === 'signing'
}

export interface Fault {
  readonly stage: Stage
  /** The text of `reasonOf`. */
  readonly cause: string
  /** Whether an invariant of the code is broken. */
  readonly breaksInvariant: boolean
  /** Whether the store did not reply, which is no fault of the command. */
  readonly isOfStore?: boolean
}

export function faultOf(stage: Stage, error: unknown): Fault {
  return {
    stage,
    cause: reasonOf(error),
    breaksInvariant: error instanceof BrokenInvariant,
    isOfStore: error instanceof LedgerStoreUnavailable,
  }
}

export interface ContainmentDependencies extends Pick<NodeContext, 'clock' | 'log' | 'metrics'> {
  readonly confirmed: ShardRecovery['confirmed']
  readonly parkChannel: (incarnation: Incarnation, source: number, number: number, fault: Fault) => void
  readonly quarantine: (incarnation: Incarnation, fault: Fault, pending: Pending) => void
}

/** Returns whether the command stays in its mailbox: the next step sends its refusal through the output gate. */
export type Contain = (pending: Pending, fault: Fault) => boolean

export const CANNOT_BE_PROCESSED = refusal('cannot_be_processed', 'The ledger cannot process this request.')

/** Delay between a failure and the retry of a parked message or timer, milliseconds. */
export const PARKED_RETRY_MS = 15_000
export const MAX_PARKED_TIMERS = 100
/** Requests that `createFirstOf` remembers. */
const MAX_KNOWN = 1_000

export function createContainment(dependencies: ContainmentDependencies): Contain {
  const { clock, log, confirmed, parkChannel, quarantine } = dependencies
  const isFirst = createFirstOf()

  function containRequest(pending: Pending, fault: Fault): boolean {
    // A command with a forced refusal needs no handling: it did not cause this fault.
    if (fault.breaksInvariant || pending.forced !== null) {
      quarantine(pending.incarnation, fault, pending)
      return false
    }
    const { stage, cause } = fault
    const isStored = stage === 'rows' || stage === 'commit'
    // The idempotency key was not looked up: the request may repeat one that took effect.
    const mayBeApplied = !isStored && (stage === 'look_up' || mayHaveTakenEffect(pending))
    const event = mayBeApplied ? 'command_left_undecided' : 'command_refused'
    if (!mayBeApplied || isFirst(pending)) {
      log.error(event, { ...requestFields(pending), shard: pending.incarnation.token.shardId, stage, cause })
    }
    if (mayBeApplied) {
      leaveUndecided([pending], 'failed', dependencies)
      return false
    }
    pending.forced = isStored
      ? refusal('cannot_be_stored', 'The ledger cannot store this request.')
      : CANNOT_BE_PROCESSED
    return true
  }

  function parkTimer(pending: Pending, fault: Fault): void {
    const { incarnation, actor, actorKey } = pending
    const { parkedTimers, dueWaiting, token } = incarnation
    const { stage, cause, isOfStore = false } = fault
    if (!parkedTimers.has(actorKey)) {
      const fields = { shard: token.shardId, actor: actor.kind, stage, cause }
      void confirmed(incarnation, () => log.error('timer_parked', fields))
    }
    parkedTimers.set(actorKey, { untilMs: clock.monotonic() + PARKED_RETRY_MS, isOfStore })
    dueWaiting.delete(actorKey)
    settle(pending)
    let faulty = 0
    for (const parked of parkedTimers.values()) if (!parked.isOfStore) faulty += 1
    if (faulty > MAX_PARKED_TIMERS) quarantine(incarnation, fault, pending)
  }

  return (pending, fault) => {
    const { origin, incarnation } = pending
    switch (origin.kind) {
      case 'request':
        return containRequest(pending, fault)
      case 'message':
        parkChannel(incarnation, origin.source, origin.number, fault)
        return false
      case 'due':
        parkTimer(pending, fault)
        return false
    }
  }
}

/** Whether this is the first call for a request, among the last `MAX_KNOWN`: later attempts log nothing. */
export function createFirstOf(): (pending: Pick<Pending, 'origin'>) => boolean {
  const known = new Set<string>()
  return ({ origin }) => {
    if (origin.kind !== 'request') return true
    const { requestId } = origin.item
    if (known.has(requestId)) return false
    if (known.size === MAX_KNOWN) known.clear()
    known.add(requestId)
    return true
  }
}

/** Whether an earlier attempt, on this node or another, may have been applied. */
export function mayHaveTakenEffect(pending: Pending): boolean {
  const { origin } = pending
  return (origin.kind === 'request' && origin.item.attempt > 1) || mayHaveBeenApplied(pending)
}

/** As far as this node knows. A fault in handling a replay proves nothing about the original request. */
export function mayHaveBeenApplied(pending: Pending): boolean {
  const { perhapsApplied, earlier, keyAddress, incarnation } = pending
  const isUsed = keyAddress !== null && incarnation.recent.keys.get(keyAddress) !== undefined
  return perhapsApplied || earlier !== undefined || isUsed || isUnderWay(pending)
}

/** Whether the request repeats a registration, a mint or a hold that its actor has begun: a later step may have applied it. */
function isUnderWay({ command, resident }: Pending): boolean {
  const state = resident?.state ?? null
  if (state?.kind === 'account') {
    if (command.type === 'create_hold') return state.holds.openingOf(command.idempotencyKey) !== undefined
    return command.type === 'mint' && mintUnderWay(state, command.idempotencyKey) !== undefined
  }
  if (state === null || !('registrationKey' in state) || !('registrationKey' in command)) return false
  return state.registrationKey === command.registrationKey && state.clientId === command.caller.clientId
}
