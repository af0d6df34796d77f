/** Runs tests that reach a mutation, the types, the simulation and tests of running ledgers until one notices it. */
import { type Mutation, mutated, placeOf } from './sample.ts'
import { importing, reaching, type TestFile } from './reach.ts'
import { functionsAround } from './sites.ts'
import { failedFile, testsOf, type Workspace } from './workspace.ts'

export interface Verdict {
  readonly mutation: Mutation
  readonly verdict: 'killed' | 'survived' | 'stale'
  /** A test file, `types` or `simulation`; a time limit counts as noticed, too. */
  readonly by: string
  readonly tookMs: number
}

const TSC = 'node_modules/typescript/bin/tsc'
const SEEDS = 25
/** Of the tests that run for one mutation, cheapest first, when what takes long is left out. */
const QUICK_MS = 60_000
const STEP_TIMEOUT_MS = 600_000
/** Beside three times what the tests took without the mutation. */
const LEAST_TIMEOUT_MS = 120_000

/** Tests of running ledgers that know most of a source, beside the one that knows all. */
const LEDGER_TESTS: readonly (readonly [RegExp, string])[] = [
  [/portability|import|export/, 'test/e2e/portability.e2e.test.ts'],
  [/^api\/|edge|http/, 'test/e2e/conformance.e2e.test.ts'],
  [/./, 'test/e2e/running-ledger.e2e.test.ts'],
]

export interface Judging {
  readonly root: string
  readonly tests: readonly TestFile[]
  /** By file: tests that noticed other mutations of it before. They run first. */
  readonly noticedBefore: ReadonlyMap<string, ReadonlySet<string>>
  /** Also what takes minutes: for those that nothing else notices. */
  readonly withLedger: boolean
}

export async function judge(workspace: Workspace, mutation: Mutation, judging: Judging): Promise<Verdict> {
  const beganMs = performance.now()
  const text = workspace.read(mutation.file)
  const changed = mutated(mutation, text)
  const by = changed === undefined ? undefined : await noticedBy(workspace, { mutation, text, changed }, judging)
  const verdict = changed === undefined ? 'stale' : by === undefined ? 'survived' : 'killed'
  return { mutation, verdict, by: by ?? '', tookMs: Math.round(performance.now() - beganMs) }
}

interface Change {
  readonly mutation: Mutation
  readonly text: string
  readonly changed: string
}

async function noticedBy(workspace: Workspace, change: Change, judging: Judging): Promise<string | undefined> {
  const { file } = change.mutation
  workspace.write(file, change.changed)
  try {
    return (
      (await noticedByTests(workspace, change, judging)) ??
      (await noticedByTypes(workspace)) ??
      (/^(?:actors|runtime)\//.test(file) ? await noticedBySimulation(workspace) : undefined) ??
      (judging.withLedger ? await noticedByLedger(workspace, file) : undefined)
    )
  } finally {
    workspace.write(file, change.text)
  }
}

async function noticedByTests(workspace: Workspace, { mutation, text, changed }: Change, judging: Judging) {
  const { root, tests, noticedBefore, withLedger } = judging
  const place = (placeOf(mutation, text) ?? 0) + firstDifference(mutation.from, changed.slice(placeOf(mutation, text)))
  const all = reaching(tests, mutation.file, functionsAround(text, place))
  const before = noticedBefore.get(mutation.file) ?? new Set()
  const first = all.filter(({ file }) => before.has(file))
  const others = all.filter(({ file }) => !before.has(file))
  const reached = withLedger ? [...first, ...others] : within(QUICK_MS, [...first, ...others])
  const files = reached.length > 0 ? reached.map(({ file }) => file) : importing(root, mutation.file)
  if (files.length === 0) return undefined
  const expectedMs = reached.reduce((sum, { tookMs }) => sum + tookMs, 0)
  return noticed(await testsOf(workspace, files, LEAST_TIMEOUT_MS + 3 * expectedMs))
}

/** The first one always. */
function within(budgetMs: number, tests: readonly TestFile[]): readonly TestFile[] {
  let sumMs = 0
  return tests.filter(({ tookMs }, index) => {
    sumMs += tookMs
    return index === 0 || sumMs <= budgetMs
  })
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return at
}

function noticed({ exitCode, output }: { readonly exitCode: number | null; readonly output: string }) {
  if (exitCode === 0) return undefined
  if (exitCode === null) return 'time limit'
  return failedFile(output) ?? `exit code ${exitCode}`
}

async function noticedByTypes({ run }: Workspace): Promise<string | undefined> {
  const { exitCode } = await run([TSC, '--noEmit'], STEP_TIMEOUT_MS)
  return exitCode === 0 ? undefined : 'types'
}

async function noticedBySimulation({ run }: Workspace): Promise<string | undefined> {
  await run([TSC, '-p', 'test/simulation'], STEP_TIMEOUT_MS)
  const { exitCode } = await run(['dist/test/simulation/main.js', '--seeds', String(SEEDS)], STEP_TIMEOUT_MS)
  return exitCode === 0 ? undefined : 'simulation'
}

async function noticedByLedger(workspace: Workspace, file: string): Promise<string | undefined> {
  await workspace.run([TSC, '-p', 'tsconfig.build.json'], STEP_TIMEOUT_MS)
  const tests = LEDGER_TESTS.filter(([pattern]) => pattern.test(file)).map(([, test]) => test)
  return noticed(await testsOf(workspace, tests, STEP_TIMEOUT_MS))
}
