import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They compute from beginning to end: they take what the others, which wait a lot and have deadlines, leave of the processors. */
const BESIDE = ['test/simulation/cluster.sim.test.ts', 'test/simulation/cluster.full.test.ts']
/** `npm test` leaves these out. `npm run test:full`, which is `--mode full`, runs all. */
const FULL_ONLY = 'test/**/*.full.test.ts'
/** `npm run test:quick`, which is `--mode quick`, runs these: they need no server. */
const QUICK = ['test/unit/**/*.test.ts', 'test/model/**/*.test.ts']
/** `npm run test:containers`, which is `--mode containers`, runs these alone: they need a container engine. */
const CONTAINERS = 'test/containers/**/*.test.ts'
/** It puts another module in the place of one that others import. */
const REPLACING = 'test/unit/api/openapi/openapi-routes.test.ts'

/** Those that start servers take longest: begun last, they would leave the other processors with nothing to do. */
const LONGEST_FIRST = [
  '/test/e2e/many-nodes',
  '/test/e2e/',
  '/test/simulation/',
  '/test/integration/',
  '/test/contract/',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      if (BESIDE.some((file) => moduleId.endsWith(file))) return -2
      // A process of its own, for which one that has loaded much already would have to go.
      if (moduleId.endsWith(REPLACING)) return -1
      const rank = LONGEST_FIRST.findIndex((folder) => moduleId.includes(folder))
      return rank === -1 ? LONGEST_FIRST.length : rank
    }
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other))
  }
}

export default defineConfig(({ mode }) => {
  const leftOut = mode === 'full' ? [CONTAINERS] : [FULL_ONLY, ...(mode === 'containers' ? [] : [CONTAINERS])]
  const include = new Map([
    ['quick', QUICK],
    ['containers', [CONTAINERS]],
  ]).get(mode)
  return {
    test: {
      testTimeout: 900_000,
      hookTimeout: 900_000,
      // A condition is met when the machine gets to it.
      expect: { poll: { timeout: 180_000 } },
      retry: 0,
      // Many tests wait most of their time, for servers of their own to start or for a dead node to be missed: three at
      // once, on two processors too. The fourth gives way to them, until those that start ledgers are through; `npm test`
      // with names of tests has none that does, and runs three.
      maxWorkers: 4,
      // Simulations leave much behind that is short-lived.
      execArgv: ['--max-semi-space-size=64'],
      sequence: { sequencer: LongestFirst },
      allowOnly: false,
      passWithNoTests: false,
      projects: [
        {
          extends: true,
          test: {
            name: 'tests',
            include: include ?? ['test/**/*.test.ts'],
            exclude: [...configDefaults.exclude, ...BESIDE, REPLACING, ...leftOut],
            globalSetup: ['test/support/processes/run-setup.ts'],
            // A process runs many files, one after the other: what they import is loaded once, and one PostgreSQL serves
            // them all. No file may change what another imports.
            isolate: false,
            sequence: { groupOrder: 0 },
          },
        },
        {
          extends: true,
          test: { name: 'replacing', include: mode === 'containers' ? [] : [REPLACING], sequence: { groupOrder: 0 } },
        },
        {
          extends: true,
          test: {
            name: 'simulation',
            include: include === undefined ? BESIDE : [],
            exclude: leftOut,
            sequence: { groupOrder: 0 },
          },
        },
      ],
    },
  }
})
