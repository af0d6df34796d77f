/** Records the test files that reach each function of the product: each file runs once on instrumented sources. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourcesOf } from './sample.ts'
import { instrumented } from './sites.ts'
import { createWorkspace, testsWith } from './workspace.ts'

export interface TestFile {
  readonly file: string
  readonly tookMs: number
  /** `<source>:<offset of the function's block>`. */
  readonly reached: readonly string[]
}

/** In this order: what is cheap and near comes first. Tests of running ledgers come after them all, by themselves. */
const FOLDERS = ['test/unit', 'test/model', 'test/contract', 'test/simulation', 'test/integration']
/** They run the product as built programs, which tell nothing. */
const LEFT_OUT = /cluster\.(?:sim|full)\.test\.ts$|mutations\.full\.test\.ts$/
const SETUP = 'reached.setup.ts'
const REACHED = 'reached.jsonl'
const TIMEOUT_MS = 3_600_000
/** With fewer something else is wrong. */
const LEAST_PASSED = 100

export async function readReach(root: string): Promise<readonly TestFile[]> {
  const workspace = createWorkspace(root)
  try {
    for (const file of sourcesOf(root)) workspace.write(file, instrumented(workspace.read(file), file))
    workspace.write(SETUP, setupText(join(workspace.directory, REACHED)))
    workspace.write(REACHED, '')
    const { output, passed } = await testsWith(workspace, SETUP, FOLDERS, TIMEOUT_MS)
    if (passed.length < LEAST_PASSED) throw new Error(`too few test files pass:\n${output.slice(-4_000)}`)
    const lines = workspace.read(REACHED).trimEnd().split('\n')
    const told = lines.map((line) => JSON.parse(line) as TestFile)
    return told
      .filter(({ file }) => passed.includes(file))
      .map(({ file, ...others }) => ({ ...others, file: file.slice(workspace.directory.length + 1) }))
  } finally {
    workspace.remove()
  }
}

function setupText(path: string): string {
  return `import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'

let beganMs = 0
beforeAll(() => {
  globalThis.__reached ??= new Set()
  globalThis.__reached.clear()
  beganMs = performance.now()
})
afterAll(() => {
  const tookMs = Math.round(performance.now() - beganMs)
  const line = { file: expect.getState().testPath, tookMs, reached: [...globalThis.__reached] }
  appendFileSync(${JSON.stringify(path)}, JSON.stringify(line) + '\\n')
})
`
}

/** The test files that reach the innermost reached function around the place; else whatever reaches the source. */
export function reaching(
  tests: readonly TestFile[],
  source: string,
  functions: readonly number[],
): readonly TestFile[] {
  for (const start of functions.toReversed()) {
    const found = tests.filter(({ reached }) => reached.includes(`${source}:${start}`))
    if (found.length > 0) return inOrder(found)
  }
  return inOrder(tests.filter(({ reached }) => reached.some((name) => name.startsWith(`${source}:`))))
}

function inOrder(tests: readonly TestFile[]): readonly TestFile[] {
  const rankOf = ({ file }: TestFile): number => FOLDERS.findIndex((folder) => file.startsWith(folder))
  return tests
    .filter(({ file }) => !LEFT_OUT.test(file))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.tookMs - other.tookMs)
}

/** Test files that import the source, directly or not: for sources that are constants only. */
export function importing(root: string, source: string): readonly string[] {
  const importers = importersIn(root)
  const seen = new Set([source])
  for (const file of seen) for (const importer of importers.get(file) ?? []) seen.add(importer)
  return [...seen].filter((file) => file.endsWith('.test.ts') && FOLDERS.some((folder) => file.startsWith(folder)))
}

function importersIn(root: string): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const folder of ['actors', 'api', 'infra', 'runtime', 'test']) {
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.ts')) continue
      const file = `${folder}/${path}`
      for (const [, target = ''] of readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+)'/g)) {
        const imported = join(file, '..', target)
        importers.set(imported, [...(importers.get(imported) ?? []), file])
      }
    }
  }
  return importers
}
