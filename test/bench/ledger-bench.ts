/** The bench of one ledger, which runs measurements one after another. */
import type { BenchCluster } from './bench-cluster.ts'
import { type Bench, say, WARM_UP_RATE, WARM_UP_S } from './context.ts'
import type { Begun } from './load/interruptible.ts'
import type { LoadGenerator } from './load/load-generator.ts'

export interface LedgerBench extends Bench, Begun {
  readonly cluster: BenchCluster
  readonly rate: ClosedLoopRate
}

/** The rate of submissions to random accounts in a closed loop, a second: open loops use shares of it. */
export interface ClosedLoopRate {
  readonly note: (perSecond: number) => void
  /** The recorded rate, or else that of a short run. */
  readonly perSecond: () => Promise<number>
}

/** `warmUpS`: while code is compiled and accounts and keys are loaded, the rate is half the later one. */
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
