/**
 * Steps actors whose timer is due. Timers are stored, so a shard's next owner finds those that fell due without an
 * owner. The actor decides whether its timer still matters.
 */
import type { Timer } from '../../ports/clock.ts'
import type { DueActor, LedgerStore } from '../../ports/ledger-store.ts'
import { reasonOf } from '../../common/reason.ts'
import type { NodeContext } from '../shard/node-context.ts'

export interface TimersDependencies extends Pick<NodeContext, 'clock' | 'log' | 'rare'> {
  readonly store: Pick<LedgerStore, 'due' | 'prune'>
  readonly shards: () => readonly number[]
  readonly onDue: (due: DueActor) => void
  readonly onTick: () => void
}

const TICK_MS = 1_000
/** Limit per tick; the next tick takes the rest. */
const MAX_DUE = 1_000
const PRUNE_MS = 60_000
const MAX_PRUNED = 10_000
/** Consumed messages are kept this long: longer than the changes since a backup reach back. */
const KEEP_MS = 7 * 86_400_000

export class Timers {
  private readonly dependencies: TimersDependencies
  private timer: Timer | undefined
  private prunedMs: number
  private stopped = false

  constructor(dependencies: TimersDependencies) {
    this.dependencies = dependencies
    this.prunedMs = dependencies.clock.monotonic()
  }

  start(): void {
    this.timer = this.dependencies.clock.after(TICK_MS, () => void this.tick())
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
  }

  private async tick(): Promise<void> {
    const { store, clock, log, rare, shards, onDue, onTick } = this.dependencies
    onTick()
    try {
      const served = shards()
      if (served.length > 0) {
        const limit = rare.takes('due_one_by_one') ? 1 : MAX_DUE
        for (const due of await store.due(served, clock.now(), limit)) onDue(due)
        await this.prune(served)
      }
    } catch (error) {
      log.warn('timers_delayed', { cause: reasonOf(error) })
    }
    if (!this.stopped) this.start()
  }

  private async prune(served: readonly number[]): Promise<void> {
    const { store, clock } = this.dependencies
    if (clock.monotonic() - this.prunedMs < PRUNE_MS) return
    const pruned = await store.prune(served, clock.now() - KEEP_MS, MAX_PRUNED)
    // A full batch means that there is more.
    if (pruned < MAX_PRUNED) this.prunedMs = clock.monotonic()
  }
}
