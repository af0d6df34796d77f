/**
 * Observes ownership changes in the messages between nodes and in the calls to the store. Counts the ways of each change,
 * and checks rules whose breach the fence would hide.
 *   T1. A node releases a shard that it serves only when no command waits in it.
 *   T2. A node commits only in epochs that the store has granted to its session.
 *   T3. No node commits to, or reads from, a database server that was not accepted for the ledger.
 */
import type { ShardHost } from '../../../runtime/node/host/shard-host.ts'
import type { LedgerStore } from '../../../runtime/ports/ledger-store.ts'
import { NOT_DELIVERED, type NotDelivered, type Transport } from '../../../runtime/ports/transport.ts'
import { bodyIn } from '../../support/bodies.ts'
import type { Demand } from '../invariants/messages.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { ShardChange } from '../store/applied.ts'
import type { SimDatabase } from '../store/database.ts'
import { subjectKind } from '../subjects.ts'

export type ControlCall =
  | { readonly kind: 'ping' }
  | { readonly kind: 'offer'; readonly shardIds: readonly number[] }
  | { readonly kind: 'released'; readonly shardId: number; readonly epoch: number }

export function controlCall(message: string): ControlCall {
  return bodyIn(message) as ControlCall
}

/** Ways in which shards change hands; many runs must have shown each. */
export const OWNERSHIP_COUNTERS = [
  'fault:control_lost',
  'fault:control_no_responders',
  'fault:cut_from_store',
  'fault:cut_from_store_and_nodes',
  'store:lock_let_go_of_living',
  'move:offer_turned_down',
  'move:offer_unanswered',
  'move:served_at_once',
  'move:word_without_answer',
  'move:found_by_a_look',
  'move:taken_back_from_itself',
  'takeover:at_once',
  'takeover:at_once_of_living',
  'edge:gave_up_what_moved',
] as const

type Counter = (typeof OWNERSHIP_COUNTERS)[number]

/** The observer of one node's session. */
export interface WatchedNode {
  readonly session: string
  readonly process: SimProcess
  readonly host: () => ShardHost
}

export class OwnershipWitness {
  private readonly kernel: Kernel
  private readonly demand: Demand
  private readonly living = new Set<string>()
  /** Every `session shard epoch` that was ever granted. */
  private readonly given = new Set<string>()
  /** By shard, the epoch of its release, until a node has received notice of it. */
  private readonly unannounced = new Map<number, number>()
  /** `node session`: the store has reported to the node that the session can no longer commit. */
  private readonly lockFree = new Set<string>()

  constructor(database: SimDatabase, demand: Demand) {
    this.kernel = database.kernel
    this.demand = demand
    database.shards.onChange((change) => this.changed(change))
    const onAccepted = (nodeId: string, what: string): void => {
      const { accepted, timeline } = database.server
      if (!accepted) demand(false, `T3: ${nodeId} ${what} timeline ${timeline}, which was not accepted`)
    }
    database.onApplied(({ nodeId }) => onAccepted(nodeId, 'commits on'))
    database.onRead((nodeId) => onAccepted(nodeId, 'reads from'))
  }

  watchedStore(store: LedgerStore, { session, process, host }: WatchedNode): LedgerStore {
    this.living.add(session)
    process.onEnd(() => this.living.delete(session))
    const answered = new Set<string>()
    return {
      ...store,
      acquire: async (shardId, seenEpoch, nextEpoch) => {
        const result = await store.acquire(shardId, seenEpoch, nextEpoch)
        if (result.kind === 'owned') answered.add(`${shardId} ${result.token.epoch}`)
        return result
      },
      release: async (token) => {
        const { shardId, epoch } = token
        const served = host().serving().get(shardId)
        if (served?.epoch === epoch) {
          const waiting = waitingIn(host(), shardId)
          this.demand(waiting === 0, `T1: ${process.id} releases shard ${shardId} with ${waiting} commands waiting`)
        }
        const released = await store.release(token)
        if (released && served === undefined && !answered.has(`${shardId} ${epoch}`))
          this.kernel.count('move:stranded_released')
        return released
      },
      sessionHeld: async (other) => {
        const held = await store.sessionHeld(other)
        if (!held) this.lockFree.add(`${session} ${other}`)
        return held
      },
      commit: (batch) => {
        for (const { token } of batch.shards) {
          const { shardId, epoch } = token
          const isGiven = this.given.has(`${session} ${shardId} ${epoch}`)
          this.demand(isGiven, `T2: ${process.id} commits in shard ${shardId} in ${epoch}, which it was never granted`)
        }
        return store.commit(batch)
      },
    }
  }

  watchedTransport(transport: Transport): Transport {
    return {
      ...transport,
      request: (subject, message, timeoutMs, onReply) => {
        if (subjectKind(subject) !== 'control') return transport.request(subject, message, timeoutMs, onReply)
        const call = controlCall(message)
        if (call.kind === 'released') this.unannounced.set(call.shardId, call.epoch)
        let isAnswered = false
        const request = transport.request(subject, message, timeoutMs, (reply) => {
          isAnswered = true
          this.answered(call, reply)
          onReply(reply)
        })
        return {
          close: () => {
            if (!isAnswered) this.unanswered(call)
            request.close()
          },
        }
      },
      serve: (subject, handler) =>
        transport.serve(subject, (message, reply) => {
          const call = subjectKind(subject) === 'control' ? controlCall(message) : undefined
          if (call?.kind === 'released') this.unannounced.delete(call.shardId)
          handler(message, reply)
        }),
    }
  }

  private answered(call: ControlCall, reply: string | NotDelivered): void {
    if (reply === NOT_DELIVERED) {
      this.unanswered(call)
      return
    }
    const { shardIds, served } = (bodyIn(reply) ?? {}) as { shardIds?: readonly number[]; served?: boolean }
    if (call.kind === 'offer' && (shardIds?.length ?? 0) < call.shardIds.length) this.count('move:offer_turned_down')
    if (call.kind === 'released' && served === true) this.count('move:served_at_once')
  }

  private unanswered({ kind }: ControlCall): void {
    if (kind === 'offer') this.count('move:offer_unanswered')
    if (kind === 'released') this.count('move:word_without_answer')
  }

  private changed({ shardId, before, after }: ShardChange): void {
    if (after.session === null || after.epoch === before.epoch) return
    this.given.add(`${after.session} ${shardId} ${after.epoch}`)
    if (before.session === null && this.unannounced.get(shardId) === before.epoch) this.count('move:found_by_a_look')
    if (before.session === after.session) this.count('move:taken_back_from_itself')
    this.unannounced.delete(shardId)
    if (before.session === null || before.nodeId === after.nodeId) return
    if (!this.lockFree.has(`${after.session} ${before.session}`)) return
    this.count(this.living.has(before.session) ? 'takeover:at_once_of_living' : 'takeover:at_once')
  }

  private count(counter: Counter): void {
    this.kernel.count(counter)
  }
}

/** The number of waiting commands, read from the node's internals. */
function waitingIn(host: ShardHost, shardId: number): number {
  const incarnations = Reflect.get(host, 'incarnations') as ReadonlyMap<number, { readonly mailbox: { size: number } }>
  return incarnations.get(shardId)?.mailbox.size ?? 0
}
