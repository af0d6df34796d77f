/** Goal: whatever a client sends, it gets a 'no' that says why, never a 500, and the service goes on for everybody else. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, send } from '../support/client.ts'
import { chunked, sendRaw } from '../support/client-raw.ts'
import { ProblemCheck } from './problem-check.ts'
import { signatureSuite, tokenSuite } from './hostile-credentials.suite.ts'
import { UNREADABLE, WELL_FORMED, WRONG } from './hostile-bodies.ts'
import type { GetRunning } from './running.ts'

const PATH = '/v1/transactions'
const LIMIT_BYTES = 1_048_576
const INVALID_REQUEST = { status: 400, slug: 'invalid-request' }
const UNSUPPORTED = { status: 415, slug: 'unsupported-media-type', code: 'ERR_UNSUPPORTED_CONTENT_TYPE' }
const TOO_LARGE = { status: 413, slug: 'payload-too-large', code: 'ERR_PAYLOAD_TOO_LARGE' }
const UNAUTHORIZED = { status: 401, slug: 'unauthorized', code: 'ERR_UNAUTHORIZED' }
const MISMATCH = { status: 403, slug: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' }
const NOT_FOUND = { status: 404, slug: 'not-found', code: 'ERR_NOT_FOUND' }

export function hostileSuite(running: GetRunning): void {
  describe('hostile input', () => {
    let holder: Holder
    let serial = 0

    beforeAll(async () => {
      holder = await running().client.register('target@hostile')
    })

    afterEach(async () => {
      serial += 1
      const fields = { amount: '1', type: 'credit', idempotency_key: `still here ${serial}` }
      for (const client of [running().client, running().elsewhere]) {
        expect((await client.submit(holder, fields)).status).toBe(202)
      }
    })

    afterAll(async () => {
      // Nothing of all that was applied but the good ones.
      const balance = await running().client.read('/v1/accounts/target@hostile/balances/BASE')
      expect(balance['balance']).toBe(`${serial}`)
    })

    test('D6, D14: what is no JSON, or is ambiguous JSON, is 400 invalid-request', async () => {
      const problems = new ProblemCheck()
      for (const [what, body] of UNREADABLE) {
        const reply = await running().client.post(PATH, body)
        problems.check(what, reply, { ...INVALID_REQUEST, code: 'ERR_INVALID_FIELD' })
      }
      expect(problems.faults).toEqual([])
    })

    test('D14: JSON that is no submission is 400 validation-error with the code of what is wrong', async () => {
      const problems = new ProblemCheck()
      for (const [what, body, code] of WRONG) {
        const reply = await running().client.post(PATH, body)
        problems.check(what, reply, { status: 400, slug: 'validation-error', code })
      }
      expect(problems.faults).toEqual([])
    })

    sizes(running)
    mediaTypes(running)
    tokenSuite(running)
    signatureSuite(running, () => holder)
    addresses(running)
    wire(running)
  })
}

/** A submission padded to so many bytes with a member that is wrong for another reason than size. */
function padded(sizeBytes: number): Buffer {
  const frame = Buffer.byteLength(JSON.stringify({ ...WELL_FORMED, metadata: { a: '' } }))
  return Buffer.from(JSON.stringify({ ...WELL_FORMED, metadata: { a: 'x'.repeat(sizeBytes - frame) } }))
}

function sizes(running: GetRunning): void {
  const post = (framing: string, body: Buffer): Promise<HttpReply> => {
    const { client } = running()
    const head = [
      `POST ${PATH} HTTP/1.1`,
      'Host: ledger',
      `Authorization: Bearer ${client.token}`,
      'Content-Type: application/json',
      'Connection: close',
      framing,
      '',
      '',
    ]
    return sendRaw(client.origin, Buffer.concat([Buffer.from(head.join('\r\n')), body]))
  }
  const announced = (body: Buffer): Promise<HttpReply> => post(`Content-Length: ${body.length}`, body)
  const inChunks = (body: Buffer): Promise<HttpReply> =>
    post('Transfer-Encoding: chunked', chunked(body.subarray(0, 1000), body.subarray(1000)))

  test('D14: 1,048,576 bytes pass the check of size, one more is 413, announced or in chunks', async () => {
    const problems = new ProblemCheck()
    const judged = { status: 400, slug: 'validation-error', code: 'ERR_INVALID_FIELD' }
    for (const [how, deliver] of [
      ['announced', announced],
      ['in chunks', inChunks],
    ] as const) {
      problems.check(`exactly the limit, ${how}`, await deliver(padded(LIMIT_BYTES)), judged)
      problems.check(`one byte more, ${how}`, await deliver(padded(LIMIT_BYTES + 1)), TOO_LARGE)
      problems.check(`four times as much, ${how}`, await deliver(padded(4 * LIMIT_BYTES)), TOO_LARGE)
    }
    expect(problems.faults).toEqual([])
  })
}

function mediaTypes(running: GetRunning): void {
  test('D14: a POST that is not declared as plain application/json is 415', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const body = JSON.stringify(WELL_FORMED)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', '', ',']) {
      problems.check(`type ${type}`, await client.post(PATH, body, { 'content-type': type }), UNSUPPORTED)
    }
    const headers = client.authorization()
    problems.check('no type', await send(client.origin, { method: 'POST', path: PATH, headers, body }), UNSUPPORTED)
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip']) {
      problems.check(encoding, await client.post(PATH, body, { 'content-encoding': encoding }), UNSUPPORTED)
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;']) {
      problems.check(`type ${type}`, await client.post(PATH, body, { 'content-type': type }), MISMATCH)
    }
    expect(problems.faults).toEqual([])
  })
}

function addresses(running: GetRunning): void {
  test('D1: an ill-formed account in a path is 400, whatever it is escaped as; what names nothing is 404', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const illFormed = { ...INVALID_REQUEST, code: 'ERR_INVALID_ACCOUNT_ID' }
    for (const id of [
      '%00',
      'a%00',
      'a%2Fb',
      '%2F',
      '%2e%2e%2f',
      '%2e',
      '%2E%2e',
      '.%2e',
      '.',
      '..',
      '%20',
      'a%0d%0ab',
      '%ff',
      '%',
      '%zz',
      '%c0%af',
      '%F0%9F',
    ]) {
      for (const path of [`/v1/accounts/${id}`, `/v1/accounts/${id}/state`, `/v1/accounts/${id}/audit-chain`]) {
        problems.check(path, await client.get(path), illFormed)
      }
    }
    problems.check('129', await client.get(`/v1/accounts/${'a'.repeat(129)}/balances`), illFormed)
    // What they would lead to if they were steps.
    problems.check('a step', await client.get('/v1/accounts/%2E/target@hostile'), NOT_FOUND)
    problems.check('two steps', await client.get('/v1/x/%2e%2e/accounts/target@hostile'), NOT_FOUND)
    const group = { ...INVALID_REQUEST, code: 'ERR_INVALID_GROUP_ID' }
    for (const id of ['%00', 'x', '%2F', '%2e', '%2e%2e']) {
      problems.check(`group ${id}`, await client.get(`/v1/transactions/group/${id}`), group)
    }
    for (const path of [
      '/v1/transactions/%00',
      '/v1/transactions/txn_%00',
      '/v1/transactions/..%2F..%2Fetc%2Fpasswd',
      '/v1/transactions/txn_00000000000000000000000000',
      '/v1/transactions/txn_00000000000000000000000000/receipt',
      '/v1/accounts/target@hostile/balances/%00',
      '/v1/accounts/nobody@hostile',
      '/v1/nothing/here',
      '/v1/%00',
      '/v1/%ff',
      '/v1//transactions',
    ]) {
      problems.check(path, await client.get(path), NOT_FOUND)
    }
    const open = await send(client.origin, { method: 'GET', path: '/v1/nothing/here' })
    problems.check('unknown without a token', open, UNAUTHORIZED)
    expect(problems.faults).toEqual([])
  })

  test('D16: a query that is wrong is 400 with the code of the thing it is', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    for (const [query, code] of [
      ['page_size=0', 'ERR_INVALID_QUERY'],
      ['page_size=-1', 'ERR_INVALID_QUERY'],
      ['page_size=1.5', 'ERR_INVALID_QUERY'],
      ['page_size=ten', 'ERR_INVALID_QUERY'],
      ['page_token=made%20up', 'ERR_INVALID_QUERY'],
      [`page_token=${'A'.repeat(513)}`, 'ERR_INVALID_QUERY'],
      ['account_id=a%00', 'ERR_INVALID_QUERY'],
      ['account_id=a%2Fb', 'ERR_INVALID_ACCOUNT_ID'],
      ['amount_min=-1', 'ERR_INVALID_AMOUNT'],
      ['amount_max=1e5', 'ERR_INVALID_AMOUNT'],
      ['type=steal', 'ERR_INVALID_TYPE'],
      ['status=lost', 'ERR_INVALID_QUERY'],
      ['group_id=7', 'ERR_INVALID_GROUP_ID'],
      ['date_from=yesterday', 'ERR_INVALID_TIMESTAMP'],
      ['date_to=2026-02-30T00:00:00Z', 'ERR_INVALID_TIMESTAMP'],
      ['type=credit&type=debit', 'ERR_INVALID_QUERY'],
      ['token_class=%00', 'ERR_INVALID_QUERY'],
      ["token_id=x'%20OR%201=1--", 'ERR_INVALID_TOKEN_ID'],
    ] as const) {
      problems.check(query, await client.get(`${PATH}?${query}`), { ...INVALID_REQUEST, code })
    }
    expect(problems.faults).toEqual([])
  })

  test('405 names what is allowed', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const notAllowed = { status: 405, slug: 'method-not-allowed', code: 'ERR_METHOD_NOT_ALLOWED' }
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      const reply = await send(client.origin, { method, path: PATH, headers: client.authorization() })
      problems.check(method, reply, notAllowed)
      expect(reply.headers.allow).toBe('GET, HEAD, POST, OPTIONS')
    }
    expect(problems.faults).toEqual([])
  })
}

function wire(running: GetRunning): void {
  const raw = (...lines: readonly string[]): Promise<HttpReply> =>
    sendRaw(running().client.origin, [...lines, '', ''].join('\r\n'))

  test('D14: what is no HTTP, or two things at once, is 400 and ends its connection only', async () => {
    const problems = new ProblemCheck()
    const authorization = `Authorization: Bearer ${running().client.token}`
    const illegible = { ...INVALID_REQUEST, code: 'ERR_INVALID_FIELD' }
    const post = [`POST ${PATH} HTTP/1.1`, 'Host: ledger', authorization, 'Content-Type: application/json']
    for (const [what, reply] of [
      ['no HTTP', raw('GARBAGE')],
      ['TLS', sendRaw(running().client.origin, Buffer.from('16030100ff0100', 'hex'))],
      ['no such version', raw('GET / HTTP/9.9', 'Host: ledger')],
      ['a length below zero', raw(...post, 'Content-Length: -1')],
      ['two lengths', raw(...post, 'Content-Length: 1', 'Content-Length: 2')],
      ['a length and chunks', raw(...post, 'Content-Length: 5', 'Transfer-Encoding: chunked', '', '0')],
      ['a chunk of no size', raw(...post, 'Transfer-Encoding: chunked', '', 'zz', '{}')],
      ['a NUL in a header', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', 'X-Note: a\0b')],
      ['huge headers', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', authorization, `X-Note: ${'x'.repeat(100_000)}`)],
      ['2,000 headers of 50 bytes', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', ...many(2_000))],
    ] as const) {
      problems.check(what, await reply, illegible)
    }
    expect(problems.faults).toEqual([])
  })

  test('D14: what is addressed to nothing that an address can say is 400', async () => {
    const problems = new ProblemCheck()
    const illegible = { ...INVALID_REQUEST, code: 'ERR_INVALID_FIELD' }
    const authorization = `Authorization: Bearer ${running().client.token}`
    for (const [target, ...hosts] of [
      ['GET /v1/accounts/a\\b', 'Host: ledger'],
      [`GET ${PATH}`, 'Host: x:99999'],
      [`GET ${PATH}`, 'Host: a b'],
      [`GET ${PATH}`],
      ['GET http://[', 'Host: ledger'],
    ] as const) {
      const reply = await raw(`${target} HTTP/1.1`, ...hosts, authorization, 'Connection: close')
      problems.check([target, ...hosts].join(', '), reply, illegible)
    }
    expect(problems.faults).toEqual([])
  })

  test('OPTIONS * lists the methods of the service, without a token', async () => {
    const reply = await raw('OPTIONS * HTTP/1.1', 'Host: ledger', 'Connection: close')
    expect([reply.status, reply.headers.allow]).toEqual([204, 'GET, HEAD, POST, PUT, OPTIONS'])
  })

  test('D14: the client’s request ID comes back if it is one, and is replaced if it is not', async () => {
    const { client } = running()
    const idFor = async (id: string): Promise<unknown> => {
      const headers = { ...client.authorization(), 'x-request-id': id }
      const reply = await send(client.origin, { method: 'GET', path: PATH, headers })
      return reply.headers['x-request-id']
    }
    expect(await idFor('mine-1.2_3')).toBe('mine-1.2_3')
    for (const id of ['', 'a b', 'a'.repeat(65), '<script>', 'a"b', 'a,b']) {
      expect(await idFor(id)).not.toBe(id)
      expect(await idFor(id)).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
    }
  })
}

function many(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `X-Note-${number}: ${'x'.repeat(40)}`)
}
