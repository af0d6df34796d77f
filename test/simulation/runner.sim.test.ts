/** `npm run sim`: what it says, and with which exit code it ends. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltProgram, buildProgram } from '../support/built-program.ts'
import { runProgram } from '../support/program-run.ts'
import { DEMANDED, DEMANDED_FROM_SEEDS } from './demanded.ts'
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

test('--json gives one object, and --seeds bounds --minutes', async () => {
  const { stdout, exitCode } = await simulate(['--json', '--minutes', '5', '--seeds', '2', '--from', '8'])
  const summary = JSON.parse(stdout) as Summary
  expect(summary).toMatchObject({ seeds: 2, from: 8, failures: [], unseen: null })
  expect(summary.virtualMs).toBeGreaterThan(10_000)
  expect(exitCode).toBe(0)
})

test('--minutes ends when the time is up', async () => {
  const { stdout } = await simulate(['--json', '--minutes', '0.01', '--workers', '1'])
  expect((JSON.parse(stdout) as Summary).seeds).toBeGreaterThan(0)
})

const KNOWN = { faultKinds: ['blow.crash'], breakable: ['noPins'], processors: 2 }

test.for([
  [['--seeds', '0'], {}, '--seeds 0: a whole number from 1 on'],
  [['--seeds', '1e3'], {}, '--seeds 1e3: a whole number from 1 on'],
  [['--from', '-1'], {}, '--from'],
  [['--from', '1.5'], {}, '--from 1.5: a whole number from 0 on'],
  [['--minutes', 'long'], {}, '--minutes long: a number above 0'],
  [['--minutes', ''], {}, '--minutes'],
  [['--workers', '0'], {}, '--workers 0: a whole number from 1 to 256'],
  [['--wat'], {}, '--wat'],
  [['7'], {}, '7'],
  [['--break', 'noPin'], {}, '--break noPin: the rules that can be switched off are noPins'],
  [['--shrink'], {}, '--shrink needs SIM_SEED'],
  [[], { SIM_SEED: 'x' }, 'SIM_SEED=x: a whole number from 0 on'],
  [[], { SIM_SEED: '' }, 'SIM_SEED=: a whole number from 0 on'],
  [[], { SIM_PLAN: '{}' }, 'SIM_PLAN needs SIM_SEED'],
  [[], { SIM_SEED: '1', SIM_PLAN: '{"only":["x"]}' }, 'only is a list of kinds of faults: blow.crash'],
] as const)('%j with %j is refused, and it is said why', ([args, environment, why]) => {
  const asked = readArguments(args, environment, KNOWN)
  expect(asked).toMatchObject({ kind: 'wrong', why: expect.stringContaining(why) })
})

test('what makes no sense ends with 2', async () => {
  const { stderr, stdout, exitCode } = await simulate(['--seeds', 'many'])
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 })
  expect(stderr).toMatch(/^--seeds many: a whole number from 1 on\n\nnpm run sim -- /)
})

function summaryOf(seeds: number, counters: ReadonlyMap<string, number>): Summary {
  const sums = new Sums()
  for (let seed = 1; seed <= seeds; seed += 1) {
    sums.add({ seed, end: { hash: '', steps: 1, virtualMs: 1, counters }, violations: [] })
  }
  return sums.summary(1, 1_000)
}

test('what is demanded and never seen fails many seeds, and is named; of few it is not expected', () => {
  const all = new Map(DEMANDED.map((name) => [name, 1]))
  const most = new Map([...all].slice(1))
  const [missing = ''] = DEMANDED
  expect(hasFailed(summaryOf(DEMANDED_FROM_SEEDS, all))).toBe(false)
  const lacking = summaryOf(DEMANDED_FROM_SEEDS, most)
  expect(hasFailed(lacking)).toBe(true)
  expect(summaryText(lacking)).toEqual(expect.arrayContaining(['demanded and never seen:', `  ${missing}`]))
  const few = summaryOf(DEMANDED_FROM_SEEDS - 1, most)
  expect(hasFailed(few)).toBe(false)
  expect(summaryText(few).join('\n')).toContain('cannot be expected')
})
