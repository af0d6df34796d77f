/**
 * Shard owners as this process knows them. PostgreSQL decides; hints arrive sooner. A stale route costs only a retry:
 * the owner checks the epoch of every item.
 */
import type { Clock, Timer } from '../ports/clock.ts'
import type { LeaseStore, Watch } from '../ports/lease-store.ts'
import type { LedgerStore } from '../ports/ledger-store.ts'
import type { RarePaths } from '../ports/rare-paths.ts'

export interface Route {
  readonly session: string
  readonly epoch: number
  /** When the route became known, on the monotonic clock. */
  readonly sinceMs: number
}

export interface RouteDependencies {
  readonly store: Pick<LedgerStore, 'shards'>
  readonly leases: Pick<LeaseStore, 'watchHints'>
  readonly clock: Clock
  readonly rare: RarePaths
}

const REFRESH_MS = 1_000
/** Failed deliveries request a refresh; they share one within this time. */
const MIN_REFRESH_GAP_MS = 20

export class Routes {
  private readonly dependencies: RouteDependencies
  private readonly routes = new Map<number, Route | { readonly session: null; readonly epoch: number }>()
  private readonly movers: (() => void)[] = []
  private refreshing: Promise<void> | undefined
  private lastRefreshMs = Number.NEGATIVE_INFINITY
  private timer: Timer | undefined
  private watch: Watch | undefined
  private known = false
  private stopped = false

  constructor(dependencies: RouteDependencies) {
    this.dependencies = dependencies
  }

  async start(): Promise<void> {
    this.watch = this.dependencies.leases.watchHints(({ shardId, session, epoch }) =>
      this.note(shardId, session, epoch),
    )
    await this.refresh()
    this.schedule()
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
    this.watch?.stop()
  }

  find(shardId: number): Route | undefined {
    const route = this.routes.get(shardId)
    return route === undefined || route.session === null ? undefined : route
  }

  /** Calls back when an unknown owner of a shard becomes known. */
  onMove(run: () => void): void {
    this.movers.push(run)
  }

  /** `unknown` until the first successful query. */
  state(): 'unknown' | 'no_shards' | 'no_healthy_shards' | 'served' {
    if (!this.known) return 'unknown'
    if (this.routes.size === 0) return 'no_shards'
    for (const { session } of this.routes.values()) if (session !== null) return 'served'
    return 'no_healthy_shards'
  }

  /** Queries the store, one query at a time and not too often. Never rejects. */
  refresh(): Promise<void> {
    const { clock, store, rare } = this.dependencies
    if (this.refreshing !== undefined) return this.refreshing
    if (clock.monotonic() - this.lastRefreshMs < MIN_REFRESH_GAP_MS) return Promise.resolve()
    if (rare.takes('refresh_left_out')) return Promise.resolve()
    this.lastRefreshMs = clock.monotonic()
    this.refreshing = store
      .shards()
      .then((records) => {
        this.known = true
        for (const { shardId, session, epoch } of records) this.note(shardId, session, epoch)
      })
      .catch(() => undefined)
      .finally(() => {
        this.refreshing = undefined
      })
    return this.refreshing
  }

  private schedule(): void {
    if (this.stopped) return
    this.timer = this.dependencies.clock.after(REFRESH_MS, () => {
      void this.refresh().then(() => this.schedule())
    })
  }

  private note(shardId: number, session: string | null, epoch: number): void {
    const before = this.routes.get(shardId)
    if (before !== undefined && epoch <= before.epoch) return
    if (session === null) {
      this.routes.set(shardId, { session, epoch })
      return
    }
    this.routes.set(shardId, { session, epoch, sinceMs: this.dependencies.clock.monotonic() })
    for (const run of this.movers) run()
  }
}
