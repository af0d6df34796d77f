/** `npm pack` gives a package from which an empty project imports the client, without any other package, and the command. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildOnce, freshDirectory } from './start-harness.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const PROGRAM = `import { generateKey, LedgerClient, type Order, signOrder } from 'ledger/client'
const ledger: LedgerClient = new LedgerClient({ url: 'https://ledger.example' })
const order: Order = { type: 'credit', account_id: 'alice', amount: '1' }
const { signature } = await signOrder(order, await generateKey())
console.log(typeof ledger.submit, signature.length)
`
const WRONG = `import type { Order } from 'ledger/client'
export const order: Order = { type: 'credit', account_id: 'alice', amount: 1 }
`

const run = promisify(execFile)
let project = ''

/** The output of the compiler; empty if it finds no error. */
async function problemsIn(file: string, lib: string, types = ''): Promise<string> {
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--lib', lib, '--types', types]
  const args = [TSC, '--ignoreConfig', ...options, file]
  return run(process.execPath, args, { cwd: project }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
}

beforeAll(async () => {
  await buildOnce()
  await run(process.execPath, [TSC, '-p', 'api/client'], { cwd: ROOT })
  project = await freshDirectory()
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: ROOT,
  })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  const installed = join(project, 'node_modules', 'ledger')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', join(project, filename), '-C', installed, '--strip-components=1'])
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  await writeFile(join(project, 'program.ts'), PROGRAM)
  await writeFile(
    join(project, 'program.js'),
    PROGRAM.replace('type Order, ', '').replaceAll(/: (LedgerClient|Order)/g, ''),
  )
  await writeFile(join(project, 'wrong.ts'), WRONG)
})

afterAll(() => rm(project, { recursive: true, force: true }))

describe('the packed client', () => {
  test('runs in an empty project', async () => {
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: project })
    expect(stdout).toBe('function 86\n')
  })

  test('type-checks with the libraries of a browser alone, and refuses an amount that is a number', async () => {
    expect(await problemsIn('program.ts', 'es2023,dom')).toBe('')
    expect(await problemsIn('wrong.ts', 'es2023,dom')).toContain(`Type 'number' is not assignable to type 'string'`)
  })
})

test('has the files of the console', async () => {
  const names = await readdir(join(project, 'node_modules', 'ledger', 'dist', 'console'))
  expect(names).toEqual(expect.arrayContaining(['console.css', 'console.js']))
})

describe('with its dependencies', () => {
  beforeAll(async () => {
    const packages = await readdir(join(ROOT, 'node_modules'))
    const missing = packages.filter((name) => name !== 'ledger' && !name.startsWith('.'))
    const link = (name: string): Promise<void> =>
      symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
    await Promise.all(missing.map(link))
  })

  test('the packed client type-checks with the types of Node.js alone', async () => {
    expect(await problemsIn('program.ts', 'es2023', 'node')).toBe('')
  })

  test('the packed command runs, and builds nothing', async () => {
    const program = join(project, 'node_modules', 'ledger', 'infra', 'main', 'ledger.mjs')
    const { stdout, stderr } = await run(process.execPath, [program, 'keygen', '--out', 'alice.pem'], { cwd: project })
    expect(JSON.parse(stdout)).toMatchObject({ kty: 'EC' })
    expect(stderr).toBe('')
  })
})
