/**
 * Common HTTP clients, also of Python and the command line, work with a running ledger as documented. A note names
 * clients that are not installed and therefore not tested.
 */
import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send } from '../../support/client/client.ts'
import { type AccountKeys, type Members, newAccountKeys, signed } from '../../support/client/client-keys.ts'
import { callClient, hasCryptography } from '../../support/processes/python.ts'
import { type Call, HTTP_CLIENTS, type HttpClient, type Reply } from '../http-clients.ts'
import type { GetRunning } from '../running.ts'

/** A proxy in front of the ledger that counts connections and the bytes of replies. */
async function startMeter(target: string) {
  const { hostname, port } = new URL(target)
  const server = createServer((client) => {
    const ledger = connect(Number(port), hostname)
    meter.connections += 1
    ledger.on('data', (chunk: Buffer) => void (meter.replyBytes += chunk.length))
    for (const socket of [client, ledger]) socket.on('error', () => socket.destroy())
    client.pipe(ledger).pipe(client)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const meter = { origin, connections: 0, replyBytes: 0, close: () => server.close() }
  return meter
}

function jsonOf({ status, headers, text }: Reply): Members {
  expect([status, headers['content-type']]).toEqual([status, `application/${status < 400 ? 'json' : 'problem+json'}`])
  return JSON.parse(text) as Members
}

function clientTests(client: HttpClient, running: GetRunning): void {
  const accountId = `${client.name}@http-clients`
  let meter: Awaited<ReturnType<typeof startMeter>>
  let authorization: Call['headers'] = {}
  let keys: AccountKeys
  let registration: Call

  const get = (path: string): Call => ({ method: 'GET', path, headers: authorization })
  const post = (path: string, body: Members, headers: Call['headers'] = {}): Call => ({
    ...get(path),
    method: 'POST',
    body,
    headers: { ...authorization, ...headers },
  })
  const order = (key: string): Members => {
    const metadata = { note: 'café €5 😀' }
    return signed(
      { account_id: accountId, type: 'credit', amount: '1.50', idempotency_key: key, metadata },
      keys.privateKey,
    )
  }
  const sendAll = (...calls: readonly Call[]): Promise<readonly Reply[]> => client.send(meter.origin, calls)
  const jsonWith = async (status: number, call: Call): Promise<Members> => {
    const [reply] = await sendAll(call)
    if (reply?.status !== status) throw new Error(`${call.path}: ${reply?.status} ${reply?.text}`)
    return jsonOf(reply)
  }

  beforeAll(async () => {
    const { cluster } = running()
    meter = await startMeter(cluster.origin)
    keys = newAccountKeys()
    const { clientId, clientSecret } = cluster.clients.transactor
    const login = post('/v1/auth/token', { client_id: clientId, client_secret: clientSecret })
    authorization = { authorization: `Bearer ${String((await jsonWith(200, login))['access_token'])}` }
    const account = { account_id: accountId, public_key: keys.jwk }
    registration = post('/v1/accounts', account, { 'idempotency-key': accountId })
    await jsonWith(201, registration)
  })

  afterAll(() => meter.close())

  test('D7: a retried registration and a retried order get the first reply', async () => {
    const submission = post('/v1/transactions', order('repeated'))
    const replies = await sendAll(registration, registration, submission, submission)
    expect(replies.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
      [201, 'true'],
      [201, 'true'],
      [202, undefined],
      [202, 'true'],
    ])
    const [registered, again, accepted, replayed] = replies.map(jsonOf)
    expect([again, replayed]).toEqual([registered, accepted])
    expect(replies[2]?.headers['location']).toBe(`/v1/transactions/${String(accepted?.['txn_id'])}`)
  })

  test.for(client.expectContinue)('with Expect: 100-continue an order is accepted: the client %s', async (how) => {
    const expecting = { expect: '100-continue' }
    const accepted = post('/v1/transactions', order('expected'), expecting)
    const replies = [...(await sendAll(accepted)), ...(await sendAll({ ...accepted, headers: expecting }))]
    expect(replies.map(({ status }) => status)).toEqual([202, 401])
    expect(replies.map(({ interim }) => interim)).toEqual(how === 'waits' ? [[100], []] : [undefined, undefined])
  })

  const connections = client.keepsConnection ? 'one connection serves' : 'connections of their own serve'
  test(`${connections} many requests, refused ones too`, async () => {
    const before = meter.connections
    const calls = [get('/v1/accounts/none'), post('/v1/transactions', {}), get('/healthz'), get('/healthz')]
    expect((await sendAll(...calls)).map(({ status }) => status)).toEqual([404, 400, 200, 200])
    expect(meter.connections - before).toBe(client.keepsConnection ? 1 : calls.length)
  })

  test('/docs/plain is compressed and complete', async () => {
    const plain = await send(running().cluster.origin, { method: 'GET', path: '/docs/plain' })
    const before = meter.replyBytes
    const [reply] = await sendAll(get('/docs/plain'))
    expect([reply?.status, reply?.text === plain.body]).toEqual([200, true])
    expect(meter.replyBytes - before).toBeLessThan(plain.body.length / 2)
  })
}

export function httpClientsSuite(running: GetRunning): void {
  for (const client of HTTP_CLIENTS) {
    describe.runIf(client.installed)(`HTTP client: ${client.name}`, () => {
      clientTests(client, running)
    })
  }

  test.runIf(hasCryptography)('D6, D9: Python signs an order, and verifies its receipt and its chain', async () => {
    const { client } = running()
    const accountId = 'signer-in-python@http-clients'
    const privateKey = randomBytes(31).toString('hex').padStart(64, '0')
    const fields = {
      account_id: accountId,
      type: 'credit',
      amount: '7',
      idempotency_key: 'one',
      metadata: { '\ue000': 'é', '😀': '€' },
    }
    const [jwk, order] = await callClient(['public_jwk', privateKey], ['sign', privateKey, fields])
    expect(await client.post('/v1/accounts', { account_id: accountId, public_key: jwk as Members })).toMatchObject({
      status: 201,
    })
    const completed = await client.post('/v1/transactions', order as Members, { prefer: 'wait=30' })
    expect(completed.status).toBe(200)
    const { txn_id: txnId } = JSON.parse(completed.body) as Members
    const receipt = await client.read(`/v1/transactions/${String(txnId)}/receipt`)
    const chain = await client.read(`/v1/accounts/${accountId}/audit-chain`)
    const jwks = await client.read('/.well-known/jwks.json')
    const forged = { ...receipt, receipt: { ...(receipt['receipt'] as Members), amount: '8' } }
    const calls = [receipt, forged].map((one) => ['receipt_problem', one, jwks, chain])
    expect(await callClient(['chain_problem', chain], ...calls)).toEqual([null, null, 'signature'])
  })
}
