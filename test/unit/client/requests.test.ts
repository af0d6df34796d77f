/** Rules H1 to H5 of the client: repetition, one more attempt after a 401, no redirects. */
import { describe, expect, test } from 'vitest'
import { generateKey, LedgerClient, LedgerError } from '../../../api/client/index.ts'
import { type Answer, type FakeLedger, fakeLedger, json, problem, silence, tokens } from './fake-ledger.ts'

const ORDER = { type: 'credit', account_id: 'alice', amount: '1' } as const
const RECEIPT = { txn_id: 'txn_1', account_id: 'alice', status: 'pending', shard_id: 1, enqueued_at: 'then' }
const REGISTRATION = { symbol: 'GOLD', decimals: 2, issuer: 'alice', total_supply: '1' }
const lost = (): Error => new TypeError('fetch failed')
const unavailable = (outcome?: string, headers = {}): Response =>
  problem(503, 'ERR_SHARD_UNAVAILABLE', outcome === undefined ? {} : { outcome }, headers)

function opened(answers: readonly Answer[], options = {}): FakeLedger & { readonly ledger: LedgerClient } {
  const fake = fakeLedger([tokens('1'), ...answers], options)
  return { ...fake, ledger: new LedgerClient(fake.options) }
}

async function errorOf(work: Promise<unknown>): Promise<LedgerError> {
  const found = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(found instanceof LedgerError)) throw new Error('it is no LedgerError', { cause: found })
  return found
}

describe('a request', () => {
  test.for([
    ['a 503 with an unknown outcome', unavailable('unknown')],
    ['a 503 that was not applied', unavailable('not_applied')],
    ['a lost connection', lost()],
    ['an error of a proxy', new Response('<html>', { status: 502 })],
  ] as const)('H1: is sent again with the same bytes after %s', async ([, failure]) => {
    const { ledger, sent } = opened([failure, json(RECEIPT, 202)])
    expect(await ledger.submit(ORDER, await generateKey())).toEqual(RECEIPT)
    expect(sent[1]?.body).toContain('"idempotency_key"')
    expect(sent[2]?.body).toBe(sent[1]?.body)
  })

  test('H1: reads all of a CSV, again if it was cut off', async () => {
    const cut = new ReadableStream({ start: (controller) => controller.error(lost()) })
    const { ledger, sent } = opened([new Response(cut), new Response('sequence\r\n1\r\n')])
    expect(await ledger.statementCsv('alice', { token_id: 'GOLD' })).toBe('sequence\r\n1\r\n')
    expect(sent[2]).toMatchObject({ path: '/v1/accounts/alice/statements?token_id=GOLD' })
    expect(sent[2]?.headers.get('accept')).toBe('text/csv')
  })

  test('H1: repeats a registration under the same header Idempotency-Key', async () => {
    const { ledger, sent } = opened([lost(), json({}, 201)])
    await ledger.createToken(REGISTRATION)
    expect(sent[1]?.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/)
    expect(sent[2]?.headers.get('idempotency-key')).toBe(sent[1]?.headers.get('idempotency-key'))
  })

  test('H1: delays double up to a bound, half of each is random, and Retry-After comes before', async () => {
    const retry = { attempts: 6, firstDelayMs: 100, longestDelayMs: 500 }
    const after = unavailable('unknown', { 'retry-after': '3' })
    const { ledger, slept } = opened([lost(), lost(), lost(), after, lost(), json(RECEIPT, 202)], { retry })
    await ledger.submit(ORDER, await generateKey())
    expect(slept).toEqual([50, 100, 200, 3_250, 250])
  })

  test.for([408, 425, 429] as const)(
    'H1: is sent again after a %d of the ledger, with the same bytes',
    async (status) => {
      const refused = problem(status, 'ERR_OVERLOADED', {}, { 'retry-after': '7' })
      const { ledger, sent, slept } = opened([refused, json(RECEIPT, 202)])
      expect(await ledger.submit(ORDER, await generateKey())).toEqual(RECEIPT)
      expect([sent[2]?.body, slept]).toEqual([sent[1]?.body, [7_100]])
    },
  )

  test('H1: ends at once if Retry-After is longer than a minute, and the failure says how long', async () => {
    const { ledger, sent } = opened([unavailable('not_applied', { 'retry-after': '61' })])
    expect(await errorOf(ledger.submit(ORDER, await generateKey()))).toMatchObject({
      outcome: 'not_applied',
      retryAfterMs: 61_000,
    })
    expect(sent).toHaveLength(2)
  })

  test('H1: ends after the last attempt with the last failure', async () => {
    const { ledger, sent } = opened([lost(), unavailable('unknown')], { retry: { attempts: 2 } })
    const error = await errorOf(ledger.submit(ORDER, await generateKey()))
    expect(error).toMatchObject({ code: 'ERR_SHARD_UNAVAILABLE', status: 503, outcome: 'unknown' })
    expect(sent).toHaveLength(3)
  })

  test.for([
    ['a refusal to serve', [lost(), unavailable('not_applied')]],
    ['refused tokens', [lost(), problem(401, 'ERR_UNAUTHORIZED'), tokens('2'), problem(401, 'ERR_UNAUTHORIZED')]],
    ['a refusal', [unavailable('unknown'), problem(403, 'ERR_FORBIDDEN')]],
    ['no token', [lost(), problem(401, 'ERR_UNAUTHORIZED'), problem(403, 'ERR_FORBIDDEN')]],
  ] as const)('H4: stays unknown after a lost reply and then %s', async ([, answers]) => {
    const { ledger } = opened(answers, { retry: { attempts: 2 } })
    expect((await errorOf(ledger.submit(ORDER, await generateKey()))).outcome).toBe('unknown')
  })

  test('H4: an order of a batch that was not applied after a lost reply is unknown', async () => {
    const problemOf = (outcome: string) => ({ status: 429, problem: { error_codes: ['ERR_RATE_LIMITED'], outcome } })
    const results = [{ status: 202, receipt: RECEIPT, replayed: true }, problemOf('not_applied')]
    const { ledger } = opened([json({ results }), lost(), json({ results })])
    const body = { submissions: [] }
    expect((await ledger.call('submitBatch', { body })).results).toEqual(results)
    expect((await ledger.call('submitBatch', { body })).results).toEqual([results[0], problemOf('unknown')])
  })

  test('H4: a request for which there is no token was not sent', async () => {
    const fake = fakeLedger([lost()], { retry: { attempts: 1 } })
    const ledger = new LedgerClient(fake.options)
    expect(await errorOf(ledger.call('rotateWebhookSecret', { path: { webhookId: 'whk_1' } }))).toMatchObject({
      code: 'ERR_UNREACHABLE',
      outcome: 'not_applied',
    })
  })

  test.for([
    ['a page', new Response('<html>', { status: 202 })],
    ['nothing', new Response('', { status: 202 })],
    ['the refusal of a proxy', new Response('<html>', { status: 408 })],
  ] as const)('H1: %s in place of a reply says nothing about the order, and it is sent again', async ([, answer]) => {
    const key = await generateKey()
    const { ledger, sent } = opened([answer.clone(), json(RECEIPT, 202)], { retry: { attempts: 2 } })
    expect(await ledger.submit(ORDER, key)).toEqual(RECEIPT)
    expect(sent[2]?.body).toBe(sent[1]?.body)
    const { ledger: failing } = opened([answer], { retry: { attempts: 1 } })
    expect(await errorOf(failing.submit(ORDER, key))).toMatchObject({
      code: 'ERR_UNREADABLE_RESPONSE',
      outcome: 'unknown',
    })
  })

  test('H1: credentials are sent once to an address that is no ledger', async () => {
    const fake = fakeLedger([new Response('<html>', { status: 404 })])
    const error = await errorOf(new LedgerClient(fake.options).call('listShards'))
    expect([error.code, fake.sent.map(({ path }) => path)]).toEqual(['ERR_UNREADABLE_RESPONSE', ['/v1/auth/token']])
  })

  test('the reply to another order with the same key is an error', async () => {
    const { ledger } = opened([json(RECEIPT, 202, { 'idempotency-payload-mismatch': 'true' })])
    const order = { ...ORDER, idempotency_key: 'used' }
    expect(await errorOf(ledger.submit(order, await generateKey()))).toMatchObject({
      code: 'ERR_PAYLOAD_MISMATCH',
      outcome: 'not_applied',
      idempotencyKey: 'used',
    })
  })

  test('H5: a failure has the random key of its order, registration or group', async () => {
    const key = await generateKey()
    const policy = { retry: { attempts: 1 } }
    const failures = [
      (ledger: LedgerClient) => ledger.submit(ORDER, key),
      (ledger: LedgerClient) => ledger.createToken(REGISTRATION),
      (ledger: LedgerClient) => ledger.registerGroup([], {}),
    ]
    for (const fail of failures) {
      const { ledger, sent } = opened([lost()], policy)
      const { idempotencyKey } = await errorOf(fail(ledger))
      expect(idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
      const { headers, body } = sent[1] ?? {}
      expect([headers?.get('idempotency-key'), body]).toContainEqual(expect.stringContaining(idempotencyKey ?? ''))
    }
    const { ledger, sent } = opened([lost()], policy)
    const groupId = (await errorOf(ledger.registerGroup([]))).idempotencyKey
    expect(JSON.parse(sent[1]?.body ?? '')).toMatchObject({ group_id: groupId })
  })

  test('H5: so has one for which there was no token, and a read has none', async () => {
    const fake = fakeLedger([lost(), lost()], { retry: { attempts: 1 } })
    const ledger = new LedgerClient(fake.options)
    const order = { ...ORDER, idempotency_key: 'mine' }
    expect(await errorOf(ledger.submit(order, await generateKey()))).toMatchObject({ idempotencyKey: 'mine' })
    expect(await errorOf(ledger.call('listShards'))).toMatchObject({ idempotencyKey: undefined })
  })

  test('H1: without a key, is repeated only if it was not applied', async () => {
    const path = { webhookId: 'whk_1' }
    const { ledger, sent } = opened([unavailable('not_applied'), unavailable('unknown')])
    const error = await errorOf(ledger.call('rotateWebhookSecret', { path }))
    expect(error.outcome).toBe('unknown')
    expect(sent).toHaveLength(3)
  })

  test('H1: a refusal is not repeated', async () => {
    const errors = [{ field: 'amount', message: 'must be a decimal' }]
    const members = { error_codes: ['ERR_INVALID_AMOUNT', 'ERR_UNKNOWN_FIELD'], errors }
    const { ledger, sent } = opened([problem(400, '', members)])
    const error = await errorOf(ledger.submit(ORDER, await generateKey()))
    expect(error).toMatchObject({ name: 'LedgerError', message: 'Refused: Why.', status: 400, outcome: 'not_applied' })
    expect(error).toMatchObject({ code: 'ERR_INVALID_AMOUNT', requestId: 'request-1', problem: { errors } })
    expect(error.codes).toEqual(['ERR_INVALID_AMOUNT', 'ERR_UNKNOWN_FIELD'])
    expect(sent).toHaveLength(2)
  })

  test('a read has no outcome, and a response that is no JSON is an error', async () => {
    const { ledger } = opened([problem(404, 'ERR_NOT_FOUND'), new Response('<html>')])
    const path = { accountId: 'nobody' }
    expect(await errorOf(ledger.call('getAccount', { path }))).toMatchObject({
      code: 'ERR_NOT_FOUND',
      outcome: undefined,
    })
    expect(await errorOf(ledger.call('getAccount', { path }))).toMatchObject({ code: 'ERR_UNREADABLE_RESPONSE' })
  })

  test('no response within the timeout is a lost connection', async () => {
    const { ledger } = opened([silence, silence], { timeoutMs: 1, retry: { attempts: 2 } })
    const error = await errorOf(ledger.call('listShards'))
    expect(error).toMatchObject({ code: 'ERR_UNREACHABLE', status: 0 })
  })

  test('H2: is sent again with a new token after a 401, once', async () => {
    const refused = (): Response => problem(401, 'ERR_UNAUTHORIZED')
    const { ledger, sent } = opened([refused(), tokens('2'), json({ shards: [] }), refused(), tokens('3'), refused()])
    await ledger.call('listShards')
    const authorizations = sent.map(({ path, headers }) => [path, headers.get('authorization')])
    expect(authorizations).toEqual([
      ['/v1/auth/token', null],
      ['/v1/shards', 'Bearer access-1'],
      ['/v1/auth/token', null],
      ['/v1/shards', 'Bearer access-2'],
    ])
    expect(await errorOf(ledger.call('listShards'))).toMatchObject({ code: 'ERR_UNAUTHORIZED', status: 401 })
    expect(sent).toHaveLength(7)
  })

  test('H3: follows no redirect and sends no cookie', async () => {
    const inits: (RequestInit | undefined)[] = []
    const ledger = new LedgerClient({
      url: 'https://ledger.example',
      fetch: (_, init) => {
        inits.push(init)
        return Promise.resolve(json({ keys: [] }))
      },
    })
    await ledger.keySet()
    expect(inits).toMatchObject([{ redirect: 'error', credentials: 'omit' }])
  })

  test('an aborted one rejects with the reason of its signal, also between attempts', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const abort = (): Promise<Response> => {
      controller.abort(reason)
      return Promise.reject(lost())
    }
    const { ledger, sent } = opened([abort])
    await expect(ledger.call('listShards', { signal: controller.signal })).rejects.toBe(reason)
    await expect(ledger.call('listShards', { signal: controller.signal })).rejects.toBe(reason)
    expect(sent).toHaveLength(2)
  })

  test('an aborted one rejects at once during a renewal of the token and while the ledger ID is read', async () => {
    const signal = (): { readonly signal: AbortSignal; readonly abort: (reason: Error) => void } => {
      const controller = new AbortController()
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) }
    }
    const [first, second, reason] = [signal(), signal(), new Error('enough')]
    const never = (): Promise<Response> => new Promise(() => undefined)
    const renewing = new LedgerClient(fakeLedger([never]).options)
    const asked = renewing.call('listShards', { signal: first.signal })
    first.abort(reason)
    await expect(asked).rejects.toBe(reason)
    const { ledgerId: _, ...options } = fakeLedger([never]).options
    const signing = new LedgerClient(options).submit(ORDER, await generateKey(), { signal: second.signal })
    second.abort(reason)
    await expect(signing).rejects.toBe(reason)
  })

  test('escapes the parts of a path and the values of a query', async () => {
    const { ledger, sent } = opened([json({}), json({ events: [], next_cursor: 'c' })])
    await ledger.call('getAccount', { path: { accountId: 'a/../b?' } })
    await ledger.call('listEvents', { query: { types: 'a,b', account_id: 'x&y' } })
    expect(sent.slice(1).map(({ path }) => path)).toEqual([
      '/v1/accounts/a%2F..%2Fb%3F',
      '/v1/events?types=a%2Cb&account_id=x%26y',
    ])
  })

  test.for(['ftp://ledger.example', 'ledger.example'])('an address that is no HTTP URL is refused: %s', (url) => {
    expect(() => new LedgerClient({ url })).toThrow(/URL/)
  })
})
