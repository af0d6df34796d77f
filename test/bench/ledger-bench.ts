/** The bench of one ledger, on which measurements follow each other. */
import type { BenchCluster } from './bench-cluster.ts'
import { type Bench, say, WARM_UP_RATE, WARM_UP_S } from './context.ts'
import type { Begun } from './interruptible.ts'
import type { LoadGenerator } from './load-generator.ts'

export interface LedgerBench extends Bench, Begun {
  readonly cluster: BenchCluster
  readonly rate: ClosedLoopRate
}

/** Submissions to random accounts that a closed loop gets through, a second: what rates of open loops are shares of. */
export interface ClosedLoopRate {
  readonly note: (perSecond: number) => void
  /** What was noted, or else what a short run shows. */
  readonly perSecond: () => Promise<number>
}

/** `warmUpS`: while code is being compiled, and accounts and keys are read in, half as much gets through as later. */
export function createClosedLoopRate(
  load: LoadGenerator,
  connections: number,
  warmUpS: number = WARM_UP_S,
): ClosedLoopRate {
  let noted: number | undefined
  return {
    note: (perSecond) => {
      noted = perSecond
    },
    perSecond: async () => {
      if (noted !== undefined) return noted
      const rounds = Math.ceil(warmUpS / WARM_UP_S)
      say(`finding out how much gets through: ${WARM_UP_S} s, after ${rounds} times as long to warm up ...`)
      for (let round = 0; round < rounds; round += 1) await acceptedPerSecond(load, connections)
      noted = await acceptedPerSecond(load, connections)
      return noted
    },
  }
}

async function acceptedPerSecond(load: LoadGenerator, connections: number): Promise<number> {
  await load.prepare('random', WARM_UP_S * WARM_UP_RATE)
  const { durationMs, accepted } = await load.run({
    loop: { kind: 'closed', connections },
    seconds: WARM_UP_S,
  })
  return (accepted * 1000) / durationMs
}
