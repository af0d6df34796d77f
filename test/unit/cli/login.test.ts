/** `ledger login` stores credentials that the ledger accepts, and never takes or shows a secret. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerAddress } from '../../../infra/cli/profile/client-secret.ts'
import { commandLine, serving } from './cli-fixture.ts'
import { silentIo } from './silent-io.ts'

const LEDGER_ID = '0e0f6a3c-3f0c-4a3e-9f39-2b1f9a7a4d11'
const CLAIMS = Buffer.from(JSON.stringify({ role: 'transactor' })).toString('base64url')
const PROBLEM = { title: 'Unauthorized', detail: 'The credentials are wrong.', error_codes: ['ERR_UNAUTHORIZED'] }

/** A ledger that accepts one secret. */
function ledger() {
  return serving((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (request.url === '/.well-known/jwks.json')
        return response.end(JSON.stringify({ ledger_id: LEDGER_ID, keys: [] }))
      const { client_secret: secret, client_assertion: assertion } = JSON.parse(body) as Record<string, string>
      if (secret !== 'the right secret' && assertion === undefined)
        return response.writeHead(401).end(JSON.stringify(PROBLEM))
      return response.end(JSON.stringify({ access_token: `a.${CLAIMS}.c`, refresh_token: 'r', expires_in: 60 }))
    })
  })
}

function user() {
  const line = commandLine()
  const env = { XDG_CONFIG_HOME: join(line.cwd, 'config') }
  const stored = (name: string): unknown => {
    const path = join(line.cwd, 'config', 'ledger', 'profiles', `${name}.json`)
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
  }
  return { ...line, env, stored }
}

test('a secret typed at the prompt is stored, and not shown', async () => {
  const { url } = await ledger()
  const { run, env, stored } = user()
  const args = ['login', '--profile', 'books', '--url', `${url}/`, '--client-id', 'books']
  const { code, out, err } = await run(args, '', { ...env, NO_COLOR: '1' }, { typed: 'the right secret' })
  expect([code, err]).toEqual([0, 'secret of client books: '])
  expect(out).toContain('role       transactor\n')
  expect(out).not.toContain('the right secret')
  expect(stored('books')).toEqual({
    url,
    client_id: 'books',
    client_secret: 'the right secret',
    ledger_id: LEDGER_ID,
  })
})

test('a secret comes from standard input with --secret-file -', async () => {
  const { url } = await ledger()
  const { run, env, stored } = user()
  const args = ['login', '--url', url, '--client-id', 'books', '--secret-file', '-', '--json']
  const { code, out } = await run(args, 'the right secret\n', { ...env, LEDGER_PROFILE: 'nightly' })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ profile: 'nightly', client_id: 'books', ledger_id: LEDGER_ID })
  expect(stored('nightly')).toMatchObject({ url })
})

test('a client with a key needs no secret, and the profile has the path of its key alone', async () => {
  const { url } = await ledger()
  const { run, env, cwd, stored } = user()
  expect((await run(['keygen', '--out', 'books.pem'])).code).toBe(0)
  const login = ['login', '--url', url, '--client-id', 'books', '--key-file']
  expect((await run([...login, 'books.pem'], '', env)).code).toBe(0)
  expect(stored('default')).toEqual({
    url,
    client_id: 'books',
    key_file: join(cwd, 'books.pem'),
    ledger_id: LEDGER_ID,
  })
  expect((await run([...login, 'missing.pem'], '', env)).err).toContain('there is no such file')
})

test('a profile of another address or ledger is replaced with a note', async () => {
  const [first, second] = [await ledger(), await ledger()]
  const { run, env, write, stored } = user()
  const file = write('secret', 'the right secret')
  const login = async (url: string) =>
    (await run(['login', '--url', url, '--client-id', 'books', '--secret-file', file], '', env)).err
  expect([await login(first.url), await login(first.url)]).toEqual(['', ''])
  expect(await login(second.url)).toBe(`replaced profile default, which was of ledger ${LEDGER_ID} at ${first.url}\n`)
  write('config/ledger/profiles/default.json', '{}')
  expect(await login(second.url)).toBe('')
  expect(stored('default')).toMatchObject({ url: second.url })
})

test('credentials that the ledger refuses are not stored', async () => {
  const { url } = await ledger()
  const { run, env, stored } = user()
  const args = ['login', '--url', url, '--client-id', 'books', '--secret-file', '-']
  const { code, out, err } = await run(args, 'a wrong secret', env)
  expect([code, out, err]).toEqual([1, '', 'ledger login: Unauthorized: The credentials are wrong.\n'])
  expect(stored('default')).toBeUndefined()
})

test('beside a ledger of npm start the address and the secret are found, and named', async () => {
  const { url } = await ledger()
  const { run, env, cwd, stored } = user()
  mkdirSync(join(cwd, '.ledger'))
  const clients = join(cwd, '.ledger', 'clients.json')
  writeFileSync(clients, JSON.stringify([{ client_id: 'transactor', client_secret: 'the right secret' }]))
  writeFileSync(join(cwd, '.ledger', 'addresses.json'), JSON.stringify({ addresses: [url] }))
  const { code, err } = await run(['login'], '', env)
  expect([code, err]).toEqual([0, `using the secret of transactor in ${clients}\n`])
  expect(stored('default')).toMatchObject({ url, client_id: 'transactor' })
  expect((await run(['login', '--client-id', 'clerk'], '', env)).err).toContain('has no secret of client clerk')
})

test.each([
  [['login'], 'ledger login: --url is missing: there is no ledger of npm start in this directory'],
  [['login', '--url', 'https://ledger.example'], 'ledger login: --client-id is missing'],
  [['login', '--url', 'https://ledger.example', '--client-id', 'a'], 'the secret is missing: name its file'],
  [['login', '--url', 'https://a:b@ledger.example', '--client-id', 'a'], '--url must not contain credentials'],
  [['login', '--url', 'ledger.example', '--client-id', 'a'], '--url must be an http or https URL'],
  [['login', '--key-file', 'k'], '--key-file needs --url and --client-id'],
  [['login', '--key-file', 'k', '--secret-file', 's'], 'give --secret-file or --key-file, not both'],
  [['login', '--profile', 'a/b'], '--profile must be 1 to 64 letters'],
  [['login', '--secret', 'x'], "ledger login: unknown option '--secret'"],
])('wrong usage exits with 2: ledger %j', async (args, message) => {
  const { run, env } = user()
  const { code, err } = await run(args, '', env)
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})

test.each([
  ['http://127.evil.com', true],
  ['http://127.0.0.1.evil.com', true],
  ['http://ledger.example', true],
  ['http://127.0.0.1:8080', false],
  ['http://127.1', false],
  ['http://[::1]:8080', false],
  ['http://localhost', false],
  ['https://ledger.example', false],
])('a secret that would leave this machine unencrypted is warned of: %s', (url, warns) => {
  let err = ''
  ledgerAddress(url, silentIo({ err: (text) => void (err += text) }))
  expect(err.includes('unencrypted')).toBe(warns)
})
