/**
 * Statements of edges: each takes effect at the server that it was sent to, also if its process dies, or waits no longer for
 * the reply. Edges lose their connection to the database for a while.
 */
import type { Schedule, SimProcess } from '../kernel/kernel-process.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import type { SimDatabase } from './database.ts'

/** Often longer than a lease. */
export const LATE_MS = { from: 100, to: 25_000 }
/** Of what may be late, while faults last. */
export const LATE_SHARE = 0.01

const CALL_TIMEOUT_MS = 2_000
const CUT_EVERY_MS = { from: 1_000, to: 20_000 }

export interface EdgeStatementsOptions {
  readonly database: SimDatabase
  readonly random: SeededRandom
  readonly schedule: Schedule
  /** Names these statements in the trace and in counters. */
  readonly name: string
}

export class EdgeStatements {
  /** Ends with the faults of the run. */
  isFaulty = true
  private readonly options: EdgeStatementsOptions
  /** By edge, the end of its cut. */
  private readonly cuts = new Map<string, number>()

  constructor(options: EdgeStatementsOptions) {
    this.options = options
  }

  /** Cuts the edge off from time to time until its process ends. */
  cutLater(process: SimProcess): void {
    const { database, random, name } = this.options
    const { from, to } = CUT_EVERY_MS
    process.later(random.between(from, to), `is cut from ${name}s`, () => {
      if (!this.isFaulty) return
      database.kernel.count(`${name}:cut`)
      this.cuts.set(process.name, database.kernel.now() + random.between(LATE_MS.from, LATE_MS.to))
      this.cutLater(process)
    })
  }

  heal(): void {
    this.isFaulty = false
    this.cuts.clear()
  }

  isCut({ name }: SimProcess): boolean {
    const { database } = this.options
    return database.kernel.now() < (this.cuts.get(name) ?? 0) || database.cutOff.has(name)
  }

  trip(): number {
    return this.options.random.between(0.1, 3)
  }

  /** `mayBeLate`: the statement may arrive when its process no longer waits for it. */
  ask<T>(
    process: SimProcess,
    label: string,
    Unavailable: new (text: string) => Error,
    run: () => Promise<T>,
    mayBeLate = false,
  ): Promise<T> {
    const { database, random, schedule, name } = this.options
    const { faults, server } = database
    const isLost = random.chance(faults.callLost)
    const isLate = mayBeLate && random.chance(this.isFaulty ? faults.commitLate + LATE_SHARE : 0)
    const lateMs = isLate ? random.between(LATE_MS.from, LATE_MS.to) : 0
    const isAnswered = !isLost && !isLate && !random.chance(faults.callAnswerLost)
    return process.promise((resolve, reject) => {
      const fail = (): void =>
        void process.later(CALL_TIMEOUT_MS, `${name} ${label} fails`, () => reject(new Unavailable('no answer')))
      if (!isAnswered) fail()
      if (isLost) return
      schedule(this.trip() + lateMs, `${name} ${label} of ${process.id} arrives`, () => {
        if (this.isCut(process) || database.server.timeline !== server.timeline) return isAnswered ? fail() : undefined
        const settled = run().then(
          (value) => () => resolve(value),
          (error: Error) => () => reject(error),
        )
        if (isAnswered)
          process.later(this.trip(), `${name} ${label} answered`, () => void settled.then((settle) => settle()))
        return undefined
      })
    })
  }
}
