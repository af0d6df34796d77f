/** Copies of the project in which sources may be changed, with the tests that run there. */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const COPIED = ['actors', 'api', 'infra', 'runtime', 'test', 'package.json', 'package-lock.json', 'vitest.config.ts']
const CONFIGURATIONS = ['tsconfig.json', 'tsconfig.build.json', 'tsconfig.bench.json', 'README.md', 'CHANGELOG.md']
/** Settings of a run of vitest beside those of the project. */
const SETTINGS = 'vitest.mutations.config.ts'

export interface Ended {
  /** null: the program was ended at its time limit. */
  readonly exitCode: number | null
  readonly output: string
}

export interface Workspace {
  readonly directory: string
  readonly read: (file: string) => string
  readonly write: (file: string, text: string) => void
  /** Runs a program of the project. */
  readonly run: (args: readonly string[], timeoutMs: number) => Promise<Ended>
  readonly remove: () => void
}

export function createWorkspace(root: string): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-mutations-'))
  for (const name of [...COPIED, ...CONFIGURATIONS])
    cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  mkdirSync(join(directory, 'dist'))
  return {
    directory,
    read: (file) => readFileSync(join(directory, file), 'utf8'),
    write: (file, text) => writeFileSync(join(directory, file), text),
    run: (args, timeoutMs) => runIn(directory, args, timeoutMs),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function runIn(directory: string, args: readonly string[], timeoutMs: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // A group of its own: what it has started ends with it.
    const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    let late = false
    const timer = setTimeout(() => {
      late = true
      endGroup(child.pid)
    }, timeoutMs)
    child.once('error', reject)
    child.once('close', (exitCode) => {
      clearTimeout(timer)
      endGroup(child.pid)
      resolve({ exitCode: late ? null : exitCode, output })
    })
  })
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** In the order given, until one fails. */
export function testsOf({ write, run }: Workspace, files: readonly string[], timeoutMs: number): Promise<Ended> {
  write(
    SETTINGS,
    `import { mergeConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import base from './vitest.config.ts'

const order = ${JSON.stringify(files)}
const rankOf = ({ moduleId }) => order.findIndex((file) => moduleId.endsWith(file))

class AsGiven extends BaseSequencer {
  async sort(files) {
    return [...files].sort((one, other) => rankOf(one) - rankOf(other))
  }
}

export default (env) => mergeConfig(base(env), { test: { maxWorkers: 1, bail: 1, sequence: { sequencer: AsGiven } } })
`,
  )
  return vitest(run, files, timeoutMs)
}

export interface AllTests {
  readonly output: string
  /** Absolute paths of the test files in which nothing failed. */
  readonly passed: readonly string[]
}

/** All of them, with a module that is loaded before each. */
export async function testsWith(
  { directory, read, write, run }: Workspace,
  setup: string,
  files: readonly string[],
  timeoutMs: number,
): Promise<AllTests> {
  write(
    SETTINGS,
    `import { mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default (env) => mergeConfig(base(env), { test: { setupFiles: ['./${setup}'] } })
`,
  )
  const report = join(directory, 'report.json')
  const { output } = await vitest(run, ['--reporter=json', `--outputFile=${report}`, ...files], timeoutMs)
  const { testResults } = JSON.parse(read('report.json')) as { testResults: { name: string; status: string }[] }
  return { output, passed: testResults.filter(({ status }) => status === 'passed').map(({ name }) => name) }
}

function vitest(run: Workspace['run'], args: readonly string[], timeoutMs: number): Promise<Ended> {
  return run(['node_modules/vitest/vitest.mjs', 'run', '--config', SETTINGS, ...args], timeoutMs)
}

/** The first failed test file in the output of vitest. */
export function failedFile(output: string): string | undefined {
  return /FAIL .*?(test\/\S+\.test\.ts)/.exec(stripVTControlCharacters(output))?.[1]
}
