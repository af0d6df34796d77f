/**
 * `npm run test:mutations`: applies each change of the fixed sample to the product, one at a time, and lists those that
 * no test notices. `--complete` draws the missing changes of the sample. Exit code 2: the arguments are invalid.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readReach, type TestFile } from './reach.ts'
import { completeSample, type Mutation, readSample, writeSample } from './sample.ts'
import { judge, type Judging, type Verdict } from './verdict.ts'
import { createWorkspace } from './workspace.ts'

const OPTIONS = {
  complete: { type: 'boolean', default: false },
  /** Only mutations of files whose paths contain this. */
  of: { type: 'string', default: '' },
  workers: { type: 'string' },
  /** Leaves out what takes minutes for each mutation that nothing else notices: above all tests of running ledgers. */
  quick: { type: 'boolean', default: false },
  /** The file of verdicts. Mutations with a verdict are not run again. */
  results: { type: 'string', default: 'dist/mutations.jsonl' },
  /** Writes into the sample what noticed each mutation. */
  record: { type: 'boolean', default: false },
} as const

const root = process.cwd()
const say = (line: string): void => void process.stdout.write(`${line}\n`)

function verdictsIn(path: string): Verdict[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Verdict)
}

/** The tests that noticed mutations of each file when they were recorded. */
function testsByFile(sample: readonly Mutation[]): ReadonlyMap<string, ReadonlySet<string>> {
  const tests = new Map<string, Set<string>>()
  for (const { file, noticedBy } of sample) {
    if (typeof noticedBy === 'string') tests.set(file, (tests.get(file) ?? new Set()).add(noticedBy))
  }
  return tests
}

function recorded(sample: readonly Mutation[], verdicts: readonly Verdict[]): readonly Mutation[] {
  const byName = new Map(verdicts.map((verdict) => [nameOf(verdict.mutation), verdict]))
  return sample.map((mutation) => {
    const verdict = byName.get(nameOf(mutation))
    if (verdict === undefined || verdict.verdict === 'stale') return mutation
    return { ...mutation, noticedBy: verdict.verdict === 'killed' ? verdict.by : null }
  })
}

function nameOf({ file, from, to, nth }: Mutation): string {
  return JSON.stringify([file, from, to, nth])
}

/** Kept beside the results: both hold for the sources as they were. */
async function reachKept(path: string): Promise<readonly TestFile[]> {
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as readonly TestFile[]
  say('Running all tests once, to see what each of them reaches ...')
  const reach = await readReach(root)
  writeFileSync(path, JSON.stringify(reach))
  return reach
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.complete) {
    say(`${completeSample(root)} mutations are new in the sample.`)
    return 0
  }
  const path = join(root, values.results)
  mkdirSync(join(path, '..'), { recursive: true })
  const verdicts = verdictsIn(path)
  const known = new Set(verdicts.map(({ mutation }) => nameOf(mutation)))
  const sample = readSample(root).filter(({ file }) => file.includes(values.of))
  const left = sample.filter((mutation) => !known.has(nameOf(mutation)))
  const judging: Judging = {
    root,
    tests: await reachKept(`${path}.reach`),
    noticedBefore: testsByFile(sample),
    withLedger: !values.quick,
  }
  await judgeAll(left, Number(values.workers ?? availableParallelism()), judging, (verdict) => {
    verdicts.push(verdict)
    appendFileSync(path, `${JSON.stringify(verdict)}\n`)
    const { mutation, by, tookMs } = verdict
    const done = `${verdicts.length} of ${sample.length}`
    say(`${done}: ${verdict.verdict} ${by} (${(tookMs / 1_000).toFixed(0)} s) ${mutation.operator} ${mutation.file}`)
  })
  tell(verdicts)
  if (values.record) writeSample(root, recorded(readSample(root), verdicts))
  return 0
}

async function judgeAll(
  left: Mutation[],
  workers: number,
  judging: Judging,
  onVerdict: (verdict: Verdict) => void,
): Promise<void> {
  await Promise.all(
    Array.from({ length: workers }, async () => {
      const workspace = createWorkspace(root)
      try {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          onVerdict(await judge(workspace, next, judging))
        }
      } finally {
        workspace.remove()
      }
    }),
  )
}

function tell(verdicts: readonly Verdict[]): void {
  for (const { verdict, mutation } of verdicts) {
    if (verdict === 'killed') continue
    const isNew = typeof mutation.noticedBy === 'string' ? `, once noticed by ${mutation.noticedBy}` : ''
    say(
      `\n${verdict}${isNew}: ${mutation.file} (${mutation.operator})\n- ${mutation.from.trim()}\n+ ${mutation.to.trim()}`,
    )
  }
  say('\n| | sampled | killed | survived | stale |\n|---|---|---|---|---|')
  const folders = new Set(verdicts.map(({ mutation }) => mutation.file.split('/')[0] ?? ''))
  for (const folder of [...folders].toSorted()) {
    say(
      row(
        folder,
        verdicts.filter(({ mutation }) => mutation.file.startsWith(`${folder}/`)),
      ),
    )
  }
  say(row('all', verdicts))
}

function row(name: string, verdicts: readonly Verdict[]): string {
  const counted = (kind: Verdict['verdict']): number => verdicts.filter(({ verdict }) => verdict === kind).length
  return `| ${name} | ${verdicts.length} | ${counted('killed')} | ${counted('survived')} | ${counted('stale')} |`
}

try {
  process.exitCode = await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
