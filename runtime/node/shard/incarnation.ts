/**
 * A node's state of one shard belongs to one incarnation (shard, epoch, attempt): memory, mailbox, counters. Work that
 * completes for another incarnation is dropped.
 *   N1. IDs and times of an incarnation never go back; they continue from the shard's last owner.
 *   N2. Commands of a shard are stepped in the order in which they entered its mailbox.
 *   N3. Memory holds committed state only; a batch in flight carries its own.
 */
import type { EarlierUse } from '../../../actors/account/outcome.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import { decodeUlid, encodeUlid, MAX_IDS_PER_MS } from '../../../actors/identifiers.ts'
import type { Stamp } from '../../../actors/message.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import { TransientMap } from '../../common/transient-map.ts'
import type { GroupUse, ShardStart, ShardToken } from '../../ports/ledger-store.ts'
import type { Random } from '../../ports/random.ts'
import { Mailbox } from './mailbox.ts'
import { residentBytes } from './weights.ts'
import type { Pending } from './pending-command.ts'

/**
 * An actor in memory; `pins` and `waiting` keep it there. Its machine is made anew for each step: a snapshot takes a
 * microsecond to make, and several times the actor's memory to keep.
 */
export interface Resident {
  /** null: the actor does not exist. Set by `setState`. */
  state: AnyState | null
  /** Approximate size of `state`. */
  bytes: number
  /** Batches whose look-ups have not all closed (P1). */
  pins: number
  /** Commands in the mailbox that will be stepped on it. */
  waiting: number
  /** Whether it was stepped since `passivate` last passed it over. */
  used: boolean
}

/** `serving`; `suspended`: an outcome is unknown, nothing is stepped; `draining`: admits no new commands; `ended`. */
export type IncarnationPhase = 'serving' | 'suspended' | 'draining' | 'ended'

/**
 * `signature`: under verification again; `fence`: the shard's owner is unknown; `postponed`: the command failed alone.
 */
type Block = 'signature' | 'fence' | 'postponed'

export class Incarnation {
  readonly token: ShardToken
  phase: IncarnationPhase = 'serving'
  /** Every command without a verdict, in order of entry. */
  readonly mailbox = new Mailbox()
  /** Commands that may be stepped, in order. */
  ready: Pending[] = []
  /** Number of commands whose look-up is in flight or about to start. */
  lookingUp = 0
  /** Causes that delay the first of `ready`. Each is removed only where it was added. */
  readonly blocks = new Set<Block>()
  /** By actor key. */
  readonly residents = new TransientMap<string, Resident>()
  /** Sum over all residents. */
  residentBytes = 0
  /** Changes committed since open look-ups began, whose findings may be older. */
  readonly recent = {
    /**
     * By key address. Entries are objects of their own, so that a later one is not removed with an earlier one's pin.
     */
    keys: new TransientMap<string, { readonly earlier: EarlierUse }>(),
    /** By transaction ID. */
    transactions: new TransientMap<string, TransactionNews>(),
    /** By group use address. */
    groupUses: new TransientMap<string, readonly GroupUse[]>(),
  }
  /** Requests that a later step of their actor concludes, by `waitsFor`. */
  readonly parked = new TransientMap<string, Set<Pending>>()
  /** Actor keys of timers in the mailbox. */
  readonly dueWaiting = new Set<string>()
  /** Parked timers, by actor key, with the monotonic time of the next retry, milliseconds (C3). */
  readonly parkedTimers = new Map<string, { readonly untilMs: number; readonly isOfStore: boolean }>()
  /** Parked channels, by source: the number of the message whose handling failed (R5). */
  readonly parkedChannels = new Map<number, number>()
  /** The last committed number sent, by target. */
  readonly sent: Map<number, number>
  /** The last number sent by earlier incarnations, by target. */
  readonly began: ReadonlyMap<number, number>
  /** The last number consumed, by source: committed (`marks`), and in the mailbox (`entered`). */
  readonly marks: Map<number, number>
  readonly entered: Map<number, number>
  lastIdMs: number
  lastIdCounter: number

  constructor(token: ShardToken, { lastTransactionId, channels, marks }: ShardStart) {
    const last = lastTransactionId === null ? undefined : decodeUlid(lastTransactionId.slice(4))
    this.token = token
    this.sent = new Map(channels.map(({ target, sent }) => [target, sent]))
    this.began = new Map(this.sent)
    this.marks = new Map(marks.map(({ source, mark }) => [source, mark]))
    this.entered = new Map(this.marks)
    this.lastIdMs = last?.timeMs ?? 0
    this.lastIdCounter = last?.counter ?? 0
  }
}

export type TransactionNews = Partial<
  Pick<CompensableTransaction, 'status' | 'counterTxnId' | 'compensatedBy' | 'refunded'>
>

/** The stamp of the next command: its time never goes back (N1), and its transaction ID has that time. */
export function nextStamp(incarnation: Incarnation, nowMs: number, random: Random): Stamp {
  if (nowMs > incarnation.lastIdMs) {
    incarnation.lastIdMs = nowMs
    incarnation.lastIdCounter = 0
  } else if (incarnation.lastIdCounter + 1 < MAX_IDS_PER_MS) {
    incarnation.lastIdCounter += 1
  } else {
    incarnation.lastIdMs += 1
    incarnation.lastIdCounter = 0
  }
  const atMs = incarnation.lastIdMs
  const { shardId } = incarnation.token
  const parts = { timeMs: atMs, counter: incarnation.lastIdCounter, shardId, random: random.integer(2 ** 48) }
  return { atMs, salt: random.hex(16), newTxnId: `txn_${encodeUlid(parts)}` }
}

/** Adds the loaded actor, unless a newer state is in memory. */
export function takeUp(incarnation: Incarnation, key: string, loaded: AnyState | undefined): Resident {
  const known = incarnation.residents.get(key)
  if (known !== undefined) return known
  const resident: Resident = { state: null, bytes: 0, pins: 0, waiting: 0, used: true }
  setState(incarnation, resident, loaded ?? null)
  incarnation.residents.set(key, resident)
  return resident
}

export function setState(incarnation: Incarnation, resident: Resident, state: AnyState | null): void {
  const bytes = residentBytes(state)
  incarnation.residentBytes += bytes - resident.bytes
  resident.bytes = bytes
  resident.state = state
}

/** Bounds on the residents of a shard. */
export interface ResidentLimits {
  readonly maxResidents: number
  readonly maxResidentBytes: number
}

/**
 * Evicts unpinned actors, the oldest first, until the rest is within the limits. An actor used since its last turn is
 * passed over once (clock algorithm: a use sets a flag and reorders nothing).
 */
export function passivate(incarnation: Incarnation, { maxResidents, maxResidentBytes }: ResidentLimits): void {
  const { residents } = incarnation
  const isWithin = () => residents.size <= maxResidents && incarnation.residentBytes <= maxResidentBytes
  // Two rounds: all may have been used before the first.
  let looks = 2 * residents.size
  for (const [key, resident] of residents) {
    if (looks === 0 || isWithin()) return
    looks -= 1
    if (resident.pins > 0 || resident.waiting > 0) continue
    residents.delete(key)
    if (!resident.used) {
      incarnation.residentBytes -= resident.bytes
      continue
    }
    resident.used = false
    residents.set(key, resident)
  }
}
