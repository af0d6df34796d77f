/** The simulation as a separate process beside other tests. */
import { buildProgram } from '../support/processes/built-program.ts'
import { type ProgramRun, runProgram } from '../support/processes/program-run.ts'

/** Only ends a hanging run: 500 seeds alone take four minutes on two processors, and longer beside other tests. */
export const TIMEOUT_MS = 3_600_000

export interface SeedsOutcome {
  readonly exitCode: number
  readonly hasRunAll: boolean
  readonly hasNoneFailed: boolean
  /** Whether every demanded event has occurred; not required of few seeds. */
  readonly isAllSeen: boolean
}

export const ALL_HELD = { exitCode: 0, hasRunAll: true, hasNoneFailed: true }

export interface BuiltSimulation {
  /** `args`: as for `npm run sim`. */
  readonly run: (...args: readonly string[]) => Promise<ProgramRun>
  /** Runs `count` seeds and prints the simulation's output. */
  readonly outcomeOf: (from: number, count: number) => Promise<SeedsOutcome>
  readonly remove: () => void
}

export function buildSimulation(): BuiltSimulation {
  const program = buildProgram('test/simulation/main.ts')
  const run: BuiltSimulation['run'] = (...args) =>
    runProgram(program.path, args, { timeoutMs: TIMEOUT_MS, givesWay: true })
  return {
    run,
    outcomeOf: async (from, count) => {
      const { stdout, exitCode } = await run('--seeds', `${count}`, '--from', `${from}`, '--workers', '2')
      process.stdout.write(stdout)
      return {
        exitCode,
        hasRunAll: stdout.includes(`${count} seeds from ${from} in `),
        hasNoneFailed: stdout.endsWith('no seed failed\n'),
        isAllSeen: /all \d+ demanded counters were seen/.test(stdout),
      }
    },
    remove: program.remove,
  }
}
