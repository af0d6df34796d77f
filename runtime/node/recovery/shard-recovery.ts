/**
 * Recovers shards whose ownership or last commit is uncertain. The store is queried until it replies.
 *   D1. A shard that the fence rejected waits: it was busy, or another node owns it.
 *   D2. After an unknown outcome the attempt is raised before anything is loaded, so that no earlier commit can take
 *       effect (H3).
 *   D3. A fault counts only if this node still owns the shard: rows loaded after the shard has moved may be newer than
 *       this node's marks (H4).
 *   D4. A failed recovery counts unless the store did not reply. After `MAX_RECOVERIES` of them the shard is
 *       quarantined: the fault concerns this shard alone.
 */
import { delay } from '../../ports/clock.ts'
import { LedgerStoreUnavailable, type ShardRecord, type ShardStart, type ShardToken } from '../../ports/ledger-store.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { suspend } from '../shard/pending-command.ts'
import { type Fault, faultOf } from './containment.ts'
import { reasonOf } from '../../common/reason.ts'

export interface ShardRecoveryDependencies extends Pick<NodeContext, 'store' | 'session' | 'clock' | 'log'> {
  /** Another node has the shard; `found`: its record, if it was queried. */
  readonly onFenced: (incarnation: Incarnation, found: ShardRecord | undefined) => void
  /** Shards that were only busy may be stepped again. */
  readonly onCleared: () => void
  /** The outcome of all commits is known, and their state is loaded. */
  readonly onRaised: (incarnation: Incarnation, token: ShardToken, start: ShardStart) => void
  /** The store does not reply. */
  readonly onDelayed: (incarnation: Incarnation) => void
  /** D4. */
  readonly onStuck: (incarnation: Incarnation, fault: Fault) => void
}

export interface ShardRecovery {
  readonly skipped: (incarnations: readonly Incarnation[]) => Promise<void>
  readonly unknown: (incarnation: Incarnation) => Promise<void>
  readonly broken: (incarnation: Incarnation, quarantine: () => void) => Promise<void>
  /** Calls `run` once the store confirms that this incarnation owns the shard. The incarnation continues meanwhile. */
  readonly confirmed: (incarnation: Incarnation, run: () => void) => Promise<void>
}

/** Delay before each attempt to recover, the first included. */
const RECOVERY_RETRY_MS = 20
const BUSY_RETRY_MS = 5
const LONGEST_RETRY_MS = 1_000
export const MAX_RECOVERIES = 10

export function createShardRecovery(dependencies: ShardRecoveryDependencies): ShardRecovery {
  const { store, session, clock, log, onFenced, onCleared, onRaised, onDelayed, onStuck } = dependencies

  /** D1. */
  async function skipped(incarnations: readonly Incarnation[]): Promise<void> {
    for (let waitMs = BUSY_RETRY_MS; !incarnations.every(isEnded); waitMs = longer(waitMs)) {
      await delay(clock, waitMs)
      try {
        const records = new Map((await store.shards()).map((record) => [record.shardId, record]))
        for (const incarnation of incarnations) {
          const record = records.get(incarnation.token.shardId)
          if (isEnded(incarnation)) continue
          if (isOf(incarnation, record)) incarnation.blocks.delete('fence')
          else onFenced(incarnation, record)
        }
        onCleared()
        return
      } catch {
        // The loop retries.
      }
    }
  }

  /** D2. */
  async function unknown(incarnation: Incarnation): Promise<void> {
    const { shardId, epoch, attempt } = incarnation.token
    let raised = false
    let unanswered = false
    let faults = 0
    for (let waitMs = RECOVERY_RETRY_MS; !isEnded(incarnation); waitMs = longer(waitMs)) {
      await delay(clock, waitMs)
      try {
        raised ||= await store.raiseAttempt(incarnation.token)
        if (!raised && unanswered && (await wasRaised(incarnation))) {
          raised = true
          log.info('attempt_already_incremented', { shard: shardId, epoch, attempt: attempt + 1 })
        }
        if (raised) onRaised(incarnation, { shardId, epoch, attempt: attempt + 1 }, await store.openShard(shardId))
        else onFenced(incarnation, undefined)
        return
      } catch (error) {
        if (!unanswered) log.warn('recovery_delayed', { shard: shardId, cause: reasonOf(error) })
        unanswered = true
        onDelayed(incarnation)
        if (!(error instanceof LedgerStoreUnavailable)) faults += 1
        if (faults >= MAX_RECOVERIES) return onStuck(incarnation, faultOf('recovery', error))
      }
    }
  }

  /**
   * Only the owner raises an attempt: a higher one with the owner's session was raised by the request without a reply.
   */
  async function wasRaised({ token }: Incarnation): Promise<boolean> {
    const record = (await store.shards()).find(({ shardId }) => shardId === token.shardId)
    if (record === undefined || record.session !== session) return false
    return record.epoch === token.epoch && record.attempt === token.attempt + 1
  }

  /** D3. */
  async function broken(incarnation: Incarnation, quarantine: () => void): Promise<void> {
    if (isEnded(incarnation)) return
    suspend(incarnation)
    await checkOwner(incarnation, quarantine, () => onDelayed(incarnation))
  }

  async function checkOwner(incarnation: Incarnation, onOwned: () => void, onNoReply: () => void): Promise<void> {
    for (let waitMs = BUSY_RETRY_MS; !isEnded(incarnation); waitMs = longer(waitMs)) {
      try {
        const record = (await store.shards()).find(({ shardId }) => shardId === incarnation.token.shardId)
        if (isEnded(incarnation)) return
        if (isOf(incarnation, record)) onOwned()
        else onFenced(incarnation, record)
        return
      } catch {
        onNoReply()
        await delay(clock, waitMs)
      }
    }
  }

  return { skipped, unknown, broken, confirmed: (incarnation, run) => checkOwner(incarnation, run, () => undefined) }
}

function isOf({ token }: Incarnation, record: ShardRecord | undefined): boolean {
  return record?.epoch === token.epoch && record.attempt === token.attempt
}

/** The incarnation may end while the store is queried. */
function isEnded({ phase }: Incarnation): boolean {
  return phase === 'ended'
}

function longer(waitMs: number): number {
  return Math.min(waitMs * 2, LONGEST_RETRY_MS)
}
