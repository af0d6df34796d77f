/**
 * The witnessed log of the simulated cluster: production sequencers and publishers on the edges, over simulated statements
 * and witnesses.
 */
import { LogPublisher } from '../../../infra/log/log-publisher.ts'
import { LogSequencer } from '../../../runtime/log/sequencer.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { type LogStore, LogStoreUnavailable } from '../../../runtime/ports/log-store.ts'
import { createMemoryLogStore } from '../../support/memory/log-store-memory.ts'
import type { Breaks } from '../breaks.ts'
import { LogChecker } from '../invariants/log.ts'
import type { Demand } from '../invariants/messages.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { createSimClock } from '../kernel/sim-clock.ts'
import type { SimDatabase } from '../store/database.ts'
import { EdgeStatements } from '../store/edge-statements.ts'
import { committedIn } from '../store/log-entries.ts'
import { SimWitnesses } from './sim-witnesses.ts'

export interface SimLogOptions {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly breaks: Breaks
  readonly demand: Demand
}

/** Small, so that a busy moment takes several batches. */
const PIECE_ENTRIES = 30

export class SimLog {
  private readonly options: SimLogOptions
  private readonly random
  private readonly schedule
  private readonly statements: EdgeStatements
  private readonly witnesses: SimWitnesses
  private readonly checker: LogChecker
  /** The edge that added the last batch. */
  private lastEdge: string | undefined

  constructor(options: SimLogOptions) {
    const { kernel, database, breaks, demand } = options
    this.options = options
    const random = kernel.random.fork('ledger log')
    const schedule = kernel.beside('ledger log')
    this.random = random
    this.schedule = schedule
    this.statements = new EdgeStatements({ database, random, schedule, name: 'ledger_log' })
    this.witnesses = new SimWitnesses({
      kernel,
      random: random.fork('witnesses'),
      schedule,
      breaks,
      checker: () => this.checker,
    })
    this.checker = new LogChecker(demand, database, this.witnesses.keys)
  }

  /** Extends and publishes the log on this edge until its process ends. */
  extendOn(edge: SimProcess, log: Log): void {
    const { breaks } = this.options
    const process = edge.beside(this.schedule)
    const clock = createSimClock(process, this.random)
    const own = this.storeOf(process)
    const store = breaks.logStore?.(own) ?? own
    const { key, sign } = this.witnesses.log
    const signer = {
      key,
      sign: (text: string) => {
        this.checker.signed(text, process.id)
        return sign(text)
      },
    }
    const { policy } = this.witnesses
    const publisher = new LogPublisher({ store, signer, policy, ask: this.witnesses.askOf(process), clock, log })
    breaks.publisher?.(publisher)
    const onHead: (head: Parameters<LogPublisher['take']>[0]) => void = (head) => publisher.take(head)
    new LogSequencer({ store, holder: process.id, clock, log, onHead }).start()
    this.statements.cutLater(process)
  }

  /** Ends all faults. */
  heal(): void {
    this.statements.heal()
    this.witnesses.heal()
  }

  /** Whether all committed entries are in the published head. */
  isDone(): boolean {
    const { log, rows } = this.options.database
    const size = rows.events.chainLength
    return !rows.events.isWaiting() && log.entries.length >= size && (log.published?.size ?? 0) >= size
  }

  atEnd(): void {
    this.checker.atEnd(this.isDone())
  }

  private get store(): LogStore {
    const { kernel, database, breaks } = this.options
    return createMemoryLogStore({
      state: database.log,
      clock: { now: kernel.wallMs },
      since: async (position) => committedIn(database, position, PIECE_ENTRIES),
      isAccepted: () => breaks.database === 'logAccepted' || (database.server.accepted && !database.server.wentBack),
      isFenced: breaks.database !== 'logFence',
    })
  }

  private storeOf(process: SimProcess): LogStore {
    const ask = <T>(label: string, run: () => Promise<T>, mayBeLate = false): Promise<T> =>
      this.statements.ask(process, label, LogStoreUnavailable, run, mayBeLate)
    return {
      claim: (holder) => ask('claim', () => this.store.claim(holder)),
      release: (holder) => ask('release', () => this.store.release(holder)),
      head: () => ask('head', () => this.store.head()),
      since: (position) => ask('since', () => this.store.since(position)),
      append: (...appended) => ask('append', () => this.append(process, appended), true),
      published: () => ask('published', () => this.store.published()),
      publish: (head) => ask('publish', () => this.publish(process, head), true),
      // Read many times for each head: no events of their own.
      hashes: async (...tile) => {
        if (this.statements.isCut(process)) throw new LogStoreUnavailable('no answer')
        return this.store.hashes(...tile)
      },
      entries: (...tile) => ask('entries', () => this.store.entries(...tile)),
    }
  }

  private async append(process: SimProcess, [head, batch]: Parameters<LogStore['append']>): Promise<boolean> {
    const { kernel } = this.options
    const isStored = await this.store.append(head, batch)
    kernel.count(isStored ? 'ledger_log:batch' : 'ledger_log:append_fenced')
    if (!isStored) return false
    this.checker.appended(head.edge.size, batch.entries, process.id)
    if (this.lastEdge !== undefined && this.lastEdge !== process.name) kernel.count('ledger_log:sequencer_changed')
    this.lastEdge = process.name
    return true
  }

  private async publish(process: SimProcess, head: Parameters<LogStore['publish']>[0]): Promise<boolean> {
    const isPublished = await this.store.publish(head)
    this.options.kernel.count(isPublished ? 'ledger_log:published' : 'ledger_log:publish_refused')
    if (isPublished) this.checker.published(head, process.id)
    return isPublished
  }
}
