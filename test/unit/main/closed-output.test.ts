/** The exit code of a command is that of its effect, also if its output is lost. */
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ledgerUser } from '../cli/replying-ledger.ts'
import { chainOf, shown } from '../cli/verify/signed-chain.ts'

const COMPLETED = {
  txn_id: 'txn_1',
  account_id: 'alice',
  status: 'completed',
  created_at: '2030-01-01T00:00:00.000Z',
}

/** The program as JavaScript, below node_modules, so that it finds its packages. */
const built = mkdtempSync(join('node_modules', '.closed-output-'))

beforeAll(async () => {
  const bundle = await rolldown({
    input: 'infra/main/ledger.ts',
    platform: 'node',
    external: /^[^./]/,
    logLevel: 'silent',
  })
  await bundle.write({ dir: built, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
})

afterAll(() => rmSync(built, { recursive: true }))

interface Circumstances {
  readonly configHome?: string
  readonly output?: 'pipe' | number
}

/** Runs the program with a standard output that is closed, or fails, before the program starts. */
function runWithout(args: readonly string[], { configHome = '', output = 'pipe' }: Circumstances = {}) {
  const child = spawn(process.execPath, [join(built, 'ledger.mjs'), ...args], {
    env: { ...process.env, XDG_CONFIG_HOME: configHome },
    stdio: ['ignore', output, 'pipe'],
  })
  child.stdout?.destroy()
  let err = ''
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise<{ readonly code: number | null; readonly err: string }>((settle) =>
    child.once('close', (code) => settle({ code, err })),
  )
}

test('a closed output fails neither help nor an order', async () => {
  expect(await runWithout(['--help'])).toEqual({ code: 0, err: '' })
  const { directory, requests } = await ledgerUser({ '/v1/transactions': COMPLETED }, ['alice'])
  const args = ['transfer', 'alice', 'bob', '1', '--idempotency-key', 'order-7']
  expect(await runWithout(args, { configHome: dirname(directory) })).toEqual({ code: 0, err: '' })
  expect(requests.map(([request]) => request)).toEqual(['POST /v1/transactions'])
})

test('a closed output does not hide that a chain is wrong', async () => {
  const file = join(built, 'chain.json')
  const [first, ...others] = chainOf(3).map(shown)
  writeFileSync(file, JSON.stringify([{ ...first, payload: '{}' }, ...others]))
  expect(await runWithout(['verify', file])).toEqual({ code: 1, err: '' })
})

test('output that is lost for another reason has the exit code 3', async () => {
  const { code, err } = await runWithout(['--version'], { output: openSync('package.json', 'r') })
  expect([code, err]).toEqual([3, expect.stringMatching(/^ledger: the command is done, but .*EBADF/)])
})
