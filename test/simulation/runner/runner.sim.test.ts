/** `npm run sim`: its output and its exit codes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltProgram, buildProgram } from '../../support/processes/built-program.ts'
import { runProgram } from '../../support/processes/program-run.ts'
import { DEMANDED, DEMANDED_FROM_SEEDS } from '../demanded.ts'
import { readArguments } from './runner-arguments.ts'
import { hasFailed, type Summary, summaryText, Sums } from './runner-summary.ts'

const TIMEOUT_MS = 120_000

let program: BuiltProgram
beforeAll(() => {
  program = buildProgram('test/simulation/main.ts')
})
afterAll(() => program.remove())

const simulate = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runProgram(program.path, args, { timeoutMs: TIMEOUT_MS, environment })

test('a seed that fails ends with 1, and is shown in a shorter run that replays exactly', async () => {
  const { stdout, exitCode } = await simulate(['--seeds', '3', '--break', 'replyBeforeCommit', '--workers', '2'])
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/3 seeds failed:\n {2}1 I10: .*\n {2}2 I10: /)
  const replay = /^replay: (?:SIM_PLAN='(.+)' )?SIM_SEED=(\d+) npm run sim -- --break replyBeforeCommit$/m.exec(stdout)
  const shown = stdout.slice(replay?.index, stdout.indexOf('\n\n', replay?.index))
  expect(shown).toMatch(/BROKEN:\n {2}at [\d.]+ ms: I10: /)
  const environment = { SIM_SEED: replay?.[2] ?? '', SIM_PLAN: replay?.[1] ?? '' }
  const again = await simulate(['--break', 'replyBeforeCommit'], environment)
  expect(again.stdout.trimEnd()).toBe(shown)
  expect(again.exitCode).toBe(1)
})

test('a seed that holds is replayed with its story, its hash and exit code 0', async () => {
  const [replayed, hashed] = await Promise.all([
    simulate(['--full'], { SIM_SEED: '5' }),
    simulate(['--hash', '--from', '5', '--seeds', '1']),
  ])
  const hash = /^5 ([0-9a-f]{16})\n$/.exec(hashed.stdout)?.[1]
  expect(replayed.stdout).toMatch(new RegExp(`nothing broke\\nseed 5: \\d+ steps in .* hash ${hash}\\n$`))
  expect(replayed.exitCode).toBe(0)
})

test('--json gives one object; --minutes ends when the time is up', async () => {
  const { stdout, exitCode } = await simulate(['--json', '--minutes', '0.01', '--workers', '1', '--from', '8'])
  expect(JSON.parse(stdout)).toMatchObject({ from: 8, failures: [], unseen: null })
  expect((JSON.parse(stdout) as Summary).seeds).toBeGreaterThan(0)
  expect(exitCode).toBe(0)
})

test.for([
  [['--seeds', '1e3'], {}, '--seeds 1e3: a whole number from 1 to'],
  [['--minutes', '0'], {}, '--minutes 0: a number above 0'],
  [['--wat'], {}, '--wat'],
  [['--break', 'noPin'], {}, '--break noPin: the rules that can be switched off are fenceChecks'],
  [['--shrink'], {}, '--shrink needs SIM_SEED'],
  [[], { SIM_SEED: '' }, 'SIM_SEED=: a whole number from 0 to'],
  [[], { SIM_PLAN: '{}' }, 'SIM_PLAN needs SIM_SEED'],
  [[], { SIM_SEED: '1', SIM_PLAN: '{"without":"x"}' }, 'SIM_PLAN has no such without'],
] as const)('%j with %j is refused with a reason', ([args, environment, why]) => {
  expect(() => readArguments(args, environment)).toThrow(why)
})

test('invalid arguments end with 2', async () => {
  const { stderr, stdout, exitCode } = await simulate(['--seeds', 'many'])
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 })
  expect(stderr).toMatch(/^--seeds many: a whole number from 1 .*\n\nnpm run sim -- /)
})

test('a demanded event that never occurs fails many seeds and is named; few seeds need not show it', () => {
  const summaryOf = (seeds: number, counters: ReadonlyMap<string, number>): Summary => {
    const sums = new Sums()
    for (let seed = 1; seed <= seeds; seed += 1) {
      sums.add({ seed, end: { hash: '', steps: 1, virtualMs: 1, counters }, violations: [] })
    }
    return sums.summary(1, 1_000)
  }
  const all = new Map(DEMANDED.map((name) => [name, 1]))
  const most = new Map([...all].slice(1))
  expect(hasFailed(summaryOf(DEMANDED_FROM_SEEDS, all))).toBe(false)
  const lacking = summaryOf(DEMANDED_FROM_SEEDS, most)
  expect(hasFailed(lacking)).toBe(true)
  expect(summaryText(lacking)).toEqual(expect.arrayContaining(['demanded and never seen:', `  ${DEMANDED[0]}`]))
  expect(hasFailed(summaryOf(DEMANDED_FROM_SEEDS - 1, most))).toBe(false)
})
