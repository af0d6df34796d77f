/**
 * `npm run test:machines`: removes each target, guard and transition from the machines of actors, one at a time, and
 * lists those that no test misses. It runs a few seeds of the simulation, then unit tests and models of actors, then
 * more seeds. Exit code 1: no test missed one of them.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { failedFile } from '../mutations/workspace.ts'
import { runCluster } from '../simulation/cluster/cluster.ts'
import { SimulationFailure } from '../simulation/kernel/kernel.ts'
import { planOf } from '../simulation/plan.ts'
import { brokenStep, type MachineMutation, machineMutations, nameOf } from './mutations.ts'

const OPTIONS = {
  /** Only mutations whose names contain this, such as `account.frozen`. */
  of: { type: 'string', default: '' },
  workers: { type: 'string' },
  /** Seeds of the simulation for a mutation that the tests do not notice. */
  seeds: { type: 'string', default: '60' },
  /** The file of verdicts. Changes with a verdict are not run again. */
  results: { type: 'string', default: 'dist/machines.jsonl' },
} as const

interface Verdict {
  readonly name: string
  /** null: no test noticed it. */
  readonly by: string | null
}

/** Those that judge before the tests do. */
const QUICK_SEEDS = 8

const TESTS = ['test/unit/actors', 'test/model', 'test/unit/runtime']
const CONFIG = 'vitest.machines.config.ts'

/** The tests of actors, on whatever machine the environment names. */
const CONFIG_TEXT = `import { defineConfig } from 'vitest/config'
export default defineConfig({
  test: {
    include: ${JSON.stringify(TESTS.map((folder) => `${folder}/**/*.test.ts`))},
    globalSetup: ['test/support/processes/run-setup.ts'],
    setupFiles: ['test/machines/break-machine.ts'],
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    testTimeout: 120_000,
  },
})
`

function noticedByTests(name: string): Promise<string | null> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', CONFIG, '--reporter=minimal']
  const child = spawn(process.execPath, vitest, { env: { ...process.env, LEDGER_BROKEN_MACHINE: name } })
  let output = ''
  const keep = (chunk: Buffer): void => void (output += chunk.toString())
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      if (exitCode === 0) resolve(null)
      else resolve(failedFile(output) ?? `exit code ${exitCode}`)
    })
  })
}

async function noticedBySeeds(mutation: MachineMutation, from: number, to: number): Promise<string | null> {
  const step = brokenStep(mutation)
  for (let seed = from; seed <= to; seed += 1) {
    try {
      await runCluster({ plan: planOf(seed), breaks: { step } })
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error
      return `seed ${seed}`
    }
  }
  return null
}

function verdictsIn(path: string): Verdict[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Verdict)
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  mkdirSync('dist', { recursive: true })
  const verdicts = verdictsIn(values.results)
  const all = machineMutations().filter((mutation) => nameOf(mutation).includes(values.of))
  const left = all.filter((mutation) => !verdicts.some(({ name }) => name === nameOf(mutation)))
  writeFileSync(CONFIG, CONFIG_TEXT)
  try {
    if ((await noticedByTests('')) !== null) throw new Error('The tests fail on the machines as they are.')
    const workers = Number(values.workers ?? availableParallelism())
    await Promise.all(
      Array.from({ length: workers }, async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const name = nameOf(next)
          const by =
            (await noticedBySeeds(next, 1, QUICK_SEEDS)) ??
            (await noticedByTests(name)) ??
            (await noticedBySeeds(next, QUICK_SEEDS + 1, Number(values.seeds)))
          verdicts.push({ name, by })
          appendFileSync(values.results, `${JSON.stringify({ name, by })}\n`)
          say(`${verdicts.length} of ${all.length}: ${name}: ${by ?? 'NOT NOTICED'}`)
        }
      }),
    )
  } finally {
    rmSync(CONFIG)
  }
  return tell(verdicts, say)
}

function tell(verdicts: readonly Verdict[], say: (line: string) => void): number {
  say(
    '\n| machine | without | taken out | noticed by tests | by the simulation | not noticed |\n|---|---|---|---|---|---|',
  )
  const groups = new Map<string, Verdict[]>()
  for (const verdict of verdicts) {
    const parts = verdict.name.split('.')
    const group = `${parts[0]} | ${parts.at(-1)}`
    groups.set(group, [...(groups.get(group) ?? []), verdict])
  }
  for (const [group, of] of groups) {
    const bySeed = of.filter(({ by }) => by?.startsWith('seed') === true).length
    const missed = of.filter(({ by }) => by === null).length
    say(`| ${group} | ${of.length} | ${of.length - bySeed - missed} | ${bySeed} | ${missed} |`)
  }
  const missed = verdicts.filter(({ by }) => by === null)
  for (const { name } of missed) say(`not noticed: ${name}`)
  return missed.length === 0 ? 0 : 1
}

process.exitCode = await run()
