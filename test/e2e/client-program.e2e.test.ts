/** The first program of the client's guide, at most 30 lines, says the same in Node.js and in Chromium. So does Python. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/browser/chromium.ts'
import { hasCryptography } from '../support/processes/python.ts'
import { buildOnce, freshDirectory, LedgerUp } from './start-harness.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const MOST_LINES = 30

let ledger: LedgerUp
let pages: Server | undefined
let project = ''
let program = ''
let others: readonly string[] = []

/** For this ledger, with accounts and a token of their own. */
function programFor(name: string, source = program): string {
  const { clientSecret } = ledger.credentials('transactor')
  return source
    .replace('http://127.0.0.1:8080', ledger.address)
    .replace('the secret', clientSecret)
    .replaceAll(/'(iris|jack|COPPER)'/g, `'$1-${name}'`)
}

/** The address of a page. Its origin is another than that of the ledger, which permits all in the sandbox. */
async function served(html: string): Promise<string> {
  pages = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html))
  pages.listen(0, '127.0.0.1')
  await once(pages, 'listening')
  return `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`
}

function expectProof(output: string, name: string): void {
  const outcome = `transfer of 25 COPPER-${name} from iris-${name} to jack-${name}`
  expect(output.trim().split('\n')).toEqual([
    expect.stringMatching(/^completed\s*$/),
    expect.stringMatching(new RegExp(`^Ledger \\S+ signed that txn_\\w+ of iris-${name} is completed: ${outcome}\\.$`)),
    'It is entry 2 of the audit chain.',
  ])
}

beforeAll(async () => {
  await buildOnce()
  ledger = await LedgerUp.start(await freshDirectory())
  const guide = await readFile(join(ROOT, 'api', 'client', 'README.md'), 'utf8')
  ;[program = '', ...others] = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  project = await freshDirectory()
  await mkdir(join(project, 'node_modules'))
  await symlink(ROOT, join(project, 'node_modules', 'ledger'))
})

afterAll(async () => {
  pages?.close()
  await ledger.destroy()
  await rm(project, { recursive: true, force: true })
})

describe('the Python client', () => {
  test.runIf(hasCryptography)('transfers, captures a hold, and verifies the receipts', async () => {
    const { clientId, clientSecret } = ledger.credentials('transactor')
    const script = join(ROOT, 'api', 'client', 'python', 'ledger_client.py')
    const env = { ...process.env, LEDGER_CLIENT_SECRET: clientSecret }
    const { stdout } = await promisify(execFile)('python3', ['-B', script, ledger.address, clientId], { env })
    expect(stdout.trim().split('\n')).toEqual([
      'transfer: completed',
      'capture: completed',
      'hold: released',
      'chain: verified',
      'receipt of the transfer: verified',
      'receipt of the transfer: verified',
    ])
  })
})

describe('the first program of the guide', () => {
  test('has two accounts, a token, a transfer and its verified receipt in 30 lines at most', () => {
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
    expect(program).toContain('verifyReceipt')
  })

  test('runs in Node.js', async () => {
    const file = join(project, 'first.mjs')
    await writeFile(file, programFor('node'))
    const { stdout } = await promisify(execFile)(process.execPath, [file])
    expectProof(stdout, 'node')
  })

  test('goes on with the other examples, each of which runs', async () => {
    const blocks = others.map((code, index) => {
      // The loop over events has no end of its own.
      const finite = code.replace(/^import .*\n/gm, '').replace('await store(cursor)', 'await store(cursor)\n  break')
      return `{\n${finite}\nconsole.log('example ${index}')\n}`
    })
    const file = join(project, 'all.mjs')
    const head = `import { isLedgerError, parsePolicy, verifyLogProof } from 'ledger/client'
import { readFileSync } from 'node:fs'
const store = (value) => Promise.resolve(value)
`
    const verifierKey = await (await fetch(`${ledger.address}/log/key`)).text()
    await writeFile(join(project, 'policy.txt'), `log ${verifierKey}quorum none\n`)
    await writeFile(file, programFor('all', [head, program, ...blocks].join('\n')))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: project })
    const lines = stdout.split('\n')
    expect(lines.filter((line) => line.startsWith('example '))).toEqual(others.map((_, index) => `example ${index}`))
    expect(others.length).toBeGreaterThan(3)
    expect(lines).toContainEqual(expect.stringMatching(/^ledger\.transaction\.completed\.v1 /))
    expect(lines).toContain('settled')
    // The proof verifies, and no witness has signed.
    expect(lines).toContain('[]')
  })

  test('runs in Chromium', async () => {
    const file = join(project, 'browser.mjs')
    await writeFile(file, programFor('browser'))
    const alias = { 'ledger/client': join(ROOT, 'api', 'client', 'index.ts') }
    const bundle = await rolldown({ input: file, platform: 'browser', resolve: { alias } })
    const { output } = await bundle.generate({ format: 'esm' })
    await bundle.close()
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      const lines: string[] = []
      page.on('console', (message) => void lines.push(message.text()))
      page.on('pageerror', (error) => void lines.push(String(error)))
      await page.goto(await served(`<script type="module">${output[0].code};console.log('end')</script>`))
      await expect.poll(() => lines.at(-1)).toMatch(/^end$|Error/)
      expectProof(lines.slice(0, -1).join('\n'), 'browser')
    } finally {
      await browser.close()
    }
  })
})
