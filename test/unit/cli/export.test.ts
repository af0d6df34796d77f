import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'
import { AUDIENCE, makeExport, SOURCE } from '../portability/export-scene.ts'
import { commandLine, serving } from './cli-fixture.ts'

function jwksOf(keys: FakeServiceKeys): JsonObject {
  return {
    ledger_id: SOURCE,
    keys: keys.published().map(({ keyId, purpose, x, y, activeFromMs }) => ({
      kid: keyId,
      purpose,
      x,
      y,
      nbf: Math.floor(activeFromMs / 1_000),
    })),
  }
}

function fileOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

describe('ledger verify of an export', () => {
  test('summarizes a valid export', async () => {
    const { lines, keys } = await makeExport()
    const { write, run } = commandLine()
    const ran = await run(['verify', '--jwks', write('jwks.json', jwksOf(keys)), write('export.ndjson', fileOf(lines))])
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(new RegExp(`^ok: export of ledger ${SOURCE} for ${AUDIENCE}, copy of some accounts at `))
    expect(ran.out).toContain('3 accounts, 1 tokens, 0 NFT classes, 0 NFTs, 0 attestations; signed at ')
  })

  test('names the first changed line, or the line where the file was cut off', async () => {
    const { lines, keys } = await makeExport()
    const { write, run } = commandLine()
    const jwks = write('jwks.json', jwksOf(keys))
    const verify = async (text: string): Promise<string> => {
      const { code, out } = await run(['verify', '--jwks', jwks, write('export.ndjson', text)])
      expect(code).toBe(1)
      return out
    }
    const damaged = lines.map((line, at) => (at === 2 ? line.replace('"txn_count":3', '"txn_count":4') : line))
    const of = 'TAMPERED: export.ndjson: line'
    expect(await verify(fileOf(damaged))).toBe(`${of} 2: it was changed\n`)
    expect(await verify(fileOf(lines).slice(0, -1))).toBe(`${of} 6 is cut off: it has no line feed\n`)
    expect(await verify(fileOf([lines[0] ?? '', 'x'.repeat(2_000_000)]))).toMatch(/line 1 is longer than any record/)
  })

  test('needs the keys of the ledger, and only exports', async () => {
    const { lines, keys } = await makeExport()
    const { write, run } = commandLine()
    const file = write('export.ndjson', fileOf(lines))
    expect(await run(['verify', file])).toMatchObject({ code: 2, out: '' })
    const jwks = write('jwks.json', jwksOf(keys))
    const other = write('receipt.json', { receipt: {}, signature: '' })
    expect((await run(['verify', '--jwks', jwks, file, other])).err).toContain('verify exports separately')
  })
})

/** The beginning of an export, without its proof. */
function firstLines(file: string): string {
  return fileOf(file.split('\n').slice(0, 3))
}

interface SentRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string
  readonly body: string
}

type Responder = (response: ServerResponse, file: string) => void

const SECRET = 'the-secret-of-operations'

/** A server that issues tokens, publishes keys, and responds to the export by `answer`: by default with the file. */
async function exportingLedger(
  answer: Responder = (response, file) => void response.writeHead(200).end(file),
): Promise<{ readonly file: string; readonly url: string; readonly asked: readonly SentRequest[] }> {
  const { lines, keys } = await makeExport()
  const file = fileOf(lines)
  const asked: SentRequest[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { method = '', url: path = '', headers } = request
    asked.push({ method, path, authorization: headers.authorization ?? '', body })
    if (path === '/v1/auth/token') {
      const good = (JSON.parse(body) as { client_secret: string }).client_secret === SECRET
      response.writeHead(good ? 200 : 401).end(JSON.stringify(good ? { access_token: 'token', expires_in: 3600 } : {}))
    } else if (path === '/.well-known/jwks.json') response.writeHead(200).end(JSON.stringify(jwksOf(keys)))
    else answer(response, file)
  }
  const { url } = await serving((request, response) => void handle(request, response))
  return { file, url, asked }
}

const KEY = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }

/** `ledger export` with the necessary files. */
function exporting(url: string) {
  const line = commandLine()
  const secret = line.write('clients.json', [
    { client_id: 'viewer', client_secret: 'another' },
    { client_id: 'operations', client_secret: SECRET },
  ])
  const recipient = line.write('recipient.json', { ledger_id: AUDIENCE, public_key: KEY, key_id: 'k' })
  const given = ['--client', 'operations', '--secret-file', secret, '--recipient-key', recipient, '--requester', 'me']
  const run = (...args: readonly string[]) =>
    line.run(['export', '--url', url, ...given, '--out', 'export.ndjson', ...args])
  return { ...line, run, out: join(line.cwd, 'export.ndjson') }
}

describe('ledger export', () => {
  test('sends the request of its arguments, and writes a reply that verifies', async () => {
    const { file, url, asked } = await exportingLedger()
    const { run, out } = exporting(url)
    const ran = await run('alice', 'bob', '--move')
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain(`ok: export of ledger ${SOURCE}`)
    expect(readFileSync(out, 'utf8')).toBe(file)
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const request = asked.find(({ path }) => path === '/v1/exports')
    expect(request).toMatchObject({ method: 'POST', path: '/v1/exports', authorization: 'Bearer token' })
    expect(JSON.parse(request?.body ?? '')).toEqual({
      requester: 'me',
      account_ids: ['alice', 'bob'],
      mode: 'move',
      audience: AUDIENCE,
      recipient_public_key: KEY,
    })
  })

  test('takes accounts from a file, or all accounts', async () => {
    const { url, asked } = await exportingLedger()
    const first = exporting(url)
    first.write('accounts.txt', 'alice\n\n bob\r\n')
    expect((await first.run('--accounts', 'accounts.txt')).code).toBe(0)
    expect((await exporting(url).run('--all')).code).toBe(0)
    const bodies = asked.filter(({ path }) => path === '/v1/exports').map(({ body }) => JSON.parse(body) as JsonObject)
    expect(bodies).toMatchObject([
      { account_ids: ['alice', 'bob'], mode: 'copy' },
      { all: true, mode: 'copy' },
    ])
  })

  test.for<[string, Responder, string]>([
    [
      'is cut off',
      (response, file) => {
        response.writeHead(200)
        response.write(firstLines(file), () => response.destroy())
      },
      'was cut off',
    ],
    [
      'was changed',
      (response, file) => void response.writeHead(200).end(file.replace('"txn_count":3', '"txn_count":4')),
      'line 2',
    ],
  ])('leaves no file of an export that %s', async ([, answer, message]) => {
    const { url } = await exportingLedger(answer)
    const { run, out, cwd } = exporting(url)
    const ran = await run('alice')
    expect(ran.code).toBe(1)
    expect(ran.err).toContain(message)
    expect(existsSync(out)).toBe(false)
    expect(readdirSync(cwd).filter((name) => name.startsWith('export'))).toEqual([])
  })

  test('prints the problem of a refusal with its fields, without the secret', async () => {
    const problem = {
      title: 'Not Found',
      detail: 'There is no such account.',
      error_codes: ['ERR_NOT_FOUND'],
      errors: [{ field: 'account_ids[0]', message: 'There is no such account.' }],
    }
    const { url } = await exportingLedger((response) => void response.writeHead(404).end(JSON.stringify(problem)))
    const ran = await exporting(url).run('mallory')
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('404 Not Found: There is no such account.\n  mallory: There is no such account.')
    expect(ran.err).not.toContain(SECRET)
  })

  test('X1: an unwritable file is reported before any request', async () => {
    const { url, asked } = await exportingLedger()
    const { run, cwd } = exporting(url)
    const ran = await run('alice', '--move', '--out', 'nodir/m1.ndjson')
    expect(ran).toEqual({
      code: 1,
      out: '',
      err: `ledger export: nodir/m1.ndjson cannot be written: there is no directory ${join(cwd, 'nodir')}; nothing was exported\n`,
    })
    expect(asked).toEqual([])
  })

  test.for([
    [
      'a move that is cut off',
      ['--move'],
      200,
      'the accounts have left this ledger: run the same command to write the file',
    ],
    [
      'a move with an unknown outcome',
      ['--move'],
      500,
      'the accounts may have left this ledger: run the same command again to finish the move and write the file',
    ],
    [
      'a move that a proxy refuses',
      ['--move'],
      408,
      'the accounts may have left this ledger: run the same command again to finish the move and write the file',
    ],
    ['a copy that is cut off', [], 200, undefined],
  ] as const)('X2: prints where the accounts are after %s', async ([, args, status, message]) => {
    const { url } = await exportingLedger((response, file) => {
      response.writeHead(status)
      response.write(firstLines(file), () => response.destroy())
    })
    const ran = await exporting(url).run('alice', ...args)
    expect(ran.code).toBe(1)
    expect(/; ([^;]*the accounts (?:have|may have) left [^;]*)\n$/.exec(ran.err)?.[1]).toBe(message)
  })

  test('X2: prints only the refusal of the ledger after a move that is refused', async () => {
    const { url } = await exportingLedger((response) => {
      const refusal = { title: 'Conflict', detail: 'The account is not frozen.', error_codes: ['ERR_CONFLICT'] }
      response.writeHead(409).end(JSON.stringify(refusal))
    })
    const ran = await exporting(url).run('alice', '--move')
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/The account is not frozen\.[^;]*\n$/)])
  })

  test('X2: a file that another program created meanwhile stays, and a repeated move writes another file', async () => {
    const { url } = await exportingLedger((response, file) => {
      line.write('export.ndjson', 'something else')
      response.writeHead(200).end(file)
    })
    const line = exporting(url)
    const ran = await line.run('alice', '--move')
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('export.ndjson already exists; the accounts have left this ledger')
    expect(ran.err).toContain('run the same command with another --out to write the file')
    expect(readFileSync(line.out, 'utf8')).toBe('something else')
    expect(await line.run('alice', '--move', '--out', 'again.ndjson')).toMatchObject({ code: 0 })
  })

  test('does not follow a redirect, which could leak the secret', async () => {
    const { url, asked } = await exportingLedger(
      (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    )
    const ran = await exporting(url).run('alice')
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('does not respond')
    expect(asked.map(({ path }) => path)).not.toContain('/elsewhere')
  })

  test.for([
    [['alice', '--all'], 'name the accounts in one way'],
    [[], 'name the accounts in one way'],
    [['--all', '--move'], '--move needs named accounts'],
    [['alice', '--audience', SOURCE], '--audience differs from the ledger'],
    [['alice', '--url', 'ftp://ledger'], '--url must be'],
    [['alice', '--url', 'http://127.0.0.1:8080/v1/'], '--url must not end with /v1'],
    [['alice', '--url', 'http://user:password@127.0.0.1'], 'must not contain credentials'],
  ] as const)('refuses the arguments %j', async ([args, message]) => {
    const ran = await exporting('http://127.0.0.1:1').run(...args)
    expect(ran.code).toBe(2)
    expect(ran.err).toContain(message)
    expect(ran.err).not.toContain('password@')
  })
})
