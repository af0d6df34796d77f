/** Orders carry an idempotency key that the user knows, and an unknown outcome is told apart from a failure. */
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { termsHash } from '../../../api/client/index.ts'
import { commandLine, serving } from './cli-fixture.ts'
import { createKeyFiles } from '../../../infra/cli/profile/key-files.ts'
import { storeProfile } from '../../../infra/cli/profile/profiles.ts'
import { silentIo } from './silent-io.ts'

const LEDGER_ID = '0e0f6a3c-3f0c-4a3e-9f39-2b1f9a7a4d11'
const TXN_ID = 'txn_01M8GJ6PMX00000HDX6TDQ7NRE'
const PENDING = { txn_id: TXN_ID, account_id: 'alice', status: 'pending', created_at: '2030-01-01T00:00:00.000Z' }
const { created_at: _, ...ACCEPTED } = { ...PENDING, enqueued_at: PENDING.created_at }
const GROUP_ID = '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f'

type Body = Readonly<Record<string, unknown>>
interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/** A user with a profile and a key of alice, at a ledger that answers like this; 'lost': it hangs up. */
async function user(answer: (method: string, path: string) => Answer | 'lost') {
  const orders: Body[] = []
  const handler: RequestListener = (request, response) => {
    const { method = '', url: path = '' } = request
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (path === '/v1/auth/token') {
        response.end(JSON.stringify({ access_token: 'token', refresh_token: 'r', expires_in: 60 }))
        return
      }
      if (method === 'POST') orders.push(JSON.parse(text) as Body)
      const answered = answer(method, path)
      if (answered === 'lost') return void request.socket.destroy()
      response.writeHead(answered.status, { ...answered.headers, 'preference-applied': 'wait=1' })
      response.end(JSON.stringify(answered.body))
    })
  }
  const { url, stop } = await serving(handler)
  const line = commandLine()
  const env = { XDG_CONFIG_HOME: join(line.cwd, 'config') }
  const io = silentIo({ env })
  storeProfile({ name: 'default', url, clientId: 'c', proof: { clientSecret: 's' }, ledgerId: LEDGER_ID }, io)
  createKeyFiles(LEDGER_ID, io).make('alice')
  return { orders, stop, run: (...args: readonly string[]) => line.run(args, '', env) }
}

function problemOf(code: string): object {
  return { title: 'Refused', detail: 'Why.', error_codes: [code] }
}

test('an order is signed for the ledger, with all its members and the given key', async () => {
  const completed = { ...PENDING, status: 'completed', balance_after: '75.5' }
  const { run, orders } = await user(() => ({ status: 200, body: completed }))
  const args = ['transfer', 'alice', 'bob', '25', 'GOLD', '--metadata', 'a=1', '--metadata', 'b=x=y']
  const { code, out, err } = await run(...args, '--idempotency-key', 'key 1', '--json')
  expect([code, err]).toEqual([0, ''])
  expect(JSON.parse(out)).toEqual({ ...completed, idempotency_key: 'key 1' })
  expect(orders).toEqual([
    {
      account_id: 'alice',
      type: 'transfer',
      to_account_id: 'bob',
      amount: '25',
      token_id: 'GOLD',
      metadata: { a: '1', b: 'x=y' },
      idempotency_key: 'key 1',
      ledger_id: LEDGER_ID,
      signature: expect.stringMatching(/^[\w-]{86}$/) as string,
    },
  ])
})

test('after lost replies the exit code is 3, each attempt had the printed key, and the next step is named', async () => {
  const { run, orders } = await user(() => 'lost')
  const { code, out, err } = await run('credit', 'alice', '1')
  const key = /^idempotency key ([\w-]+)\n/.exec(err)?.[1] ?? ''
  expect([code, out]).toEqual([3, ''])
  expect(orders.length).toBeGreaterThan(1)
  expect(new Set(orders.map((order) => order['idempotency_key']))).toEqual(new Set([key]))
  expect(err).toContain(`Run the same command with --idempotency-key ${key}: the order takes effect at most once.`)
  expect(err).not.toContain('another address')
})

test('without a ledger at the address the exit code is 1: no order was sent', async () => {
  const { run, stop } = await user(() => 'lost')
  await stop()
  const { code, err } = await run('credit', 'alice', '1')
  expect([code, err]).toEqual([1, expect.stringContaining('does not respond (the connection was refused); trying')])
  expect(err).toMatch(/\nIf the ledger of profile default has another address now, run ledger login again\.\n$/)
})

test('an order that is pending after the timeout exits with 3, and names the command that waits', async () => {
  const { run } = await user(() => ({ status: 200, body: PENDING }))
  const { code, err } = await run('credit', 'alice', '1', '--timeout', '1')
  expect([code, err]).toEqual([3, expect.stringContaining(`Run ledger tx wait ${TXN_ID} for its outcome.`)])
})

const OUTAGE = { status: 503, headers: { 'retry-after': '120' }, body: problemOf('ERR_SHARD_UNAVAILABLE') }

test.for([
  ['an outage', OUTAGE],
  ['a refused token', { status: 401, body: problemOf('ERR_UNAUTHORIZED') }],
  ['a refusal', { status: 404, body: problemOf('ERR_NOT_FOUND') }],
  ['a page of a proxy', { status: 502, headers: { 'retry-after': '120' }, body: {} }],
] as const)('an accepted order exits with 3 after %s, and names the command that waits', async ([, failure]) => {
  const { run } = await user((method) => (method === 'POST' ? { status: 202, body: ACCEPTED } : failure))
  const { code, out, err } = await run('transfer', 'alice', 'bob', '1')
  expect([code, out, err]).toEqual([3, '', expect.stringContaining(`Run ledger tx wait ${TXN_ID} for its outcome.`)])
})

test('so does a captured hold, and the signature of a leg', async () => {
  const hold = { hold_id: 'hld_1', to_account_id: 'alice' }
  const legs = [{ account_id: 'alice', type: 'credit', amount: '1', token_id: 'GOLD' }] as const
  const hash = await termsHash({ groupId: GROUP_ID, legs, timeoutSeconds: 900 })
  const due = { created_at: '2030-01-01T00:00:00.000Z', due_at: '2030-01-01T00:15:00.000Z' }
  const shown = legs.map((leg) => ({ ...leg, leg_status: 'expected' }))
  const group = { group_id: GROUP_ID, status: 'open', terms_hash: hash, legs: shown, ...due }
  const { run } = await user((method, path) => {
    if (method === 'POST') return { status: 202, body: ACCEPTED }
    if (path === '/v1/holds/hld_1') return { status: 200, body: hold }
    return path.startsWith('/v1/settlement-groups/') ? { status: 200, body: group } : OUTAGE
  })
  const captured = await run('hold', 'capture', 'hld_1', '1')
  expect([captured.code, captured.err]).toEqual([3, expect.stringContaining(`Run ledger tx wait ${TXN_ID}`)])
  const signed = await run('group', 'sign', GROUP_ID, 'alice')
  expect([signed.code, signed.err]).toEqual([3, expect.stringContaining('a leg takes effect at most once')])
})

test.for([
  ['an outage', OUTAGE, 3, `Run ledger tx wait ${TXN_ID} for its outcome.`],
  ['an unknown transaction', { status: 404, body: problemOf('ERR_NOT_FOUND') }, 1, 'Refused: Why.'],
] as const)('a wait tells %s apart from a failed transaction', async ([, failure, expected, message]) => {
  const { run } = await user(() => failure)
  const { code, err } = await run('tx', 'wait', TXN_ID)
  expect([code, err]).toEqual([expected, expect.stringContaining(message)])
})

test('a group that was registered on other terms exits with 3, and the next step ends it', async () => {
  const { run } = await user(() => ({ status: 201, body: { group_id: GROUP_ID, terms_hash: 'sha256:other' } }))
  const legs = ['--leg', 'debit alice 5 GOLD', '--leg', 'credit bob 5 GOLD']
  const { code, err } = await run('group', 'create', ...legs, '--group-id', GROUP_ID)
  expect([code, err]).toEqual([3, expect.stringContaining(`ledger group revert ${GROUP_ID} --reason`)])
})

test('a failed transaction is printed, and exits with 1', async () => {
  const failure = { code: 'insufficient_funds', detail: 'The amount is larger than the available balance.' }
  const { run } = await user(() => ({ status: 200, body: { ...PENDING, status: 'failed', failure } }))
  const { code, out, err } = await run('debit', 'alice', '1')
  expect([code, err]).toEqual([1, expect.stringContaining(`the transaction failed: ${failure.detail}\n`)])
  expect(out).toContain(`failure          insufficient_funds: ${failure.detail}\n`)
})

test('a key of another order is an error, and its reply is not shown as the outcome', async () => {
  const headers = { 'idempotency-replayed': 'true', 'idempotency-payload-mismatch': 'true' }
  const { run } = await user(() => ({ status: 202, headers, body: PENDING }))
  const { code, out, err } = await run('debit', 'alice', '1', '--idempotency-key', 'used')
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('the idempotency key was used for another order')])
})

test('a refusal has the wrong fields, and no control characters', async () => {
  const problem = {
    title: 'Validation Error',
    detail: 'The body is wrong.\u001B[2J',
    error_codes: ['ERR_INVALID_AMOUNT'],
    errors: [{ field: 'amount', message: 'It is too long.' }],
  }
  const { run } = await user(() => ({ status: 400, body: problem }))
  const { code, err } = await run('debit', 'alice', '1', '--idempotency-key', 'k')
  expect([code, err]).toEqual([
    1,
    'ledger debit: Validation Error: The body is wrong.\\u{1b}[2J\n  amount: It is too long.\n',
  ])
})

test('a wrong field that the detail states is printed once', async () => {
  const problem = {
    title: 'Validation Error',
    detail: 'amount: It is too long.',
    error_codes: ['ERR_INVALID_AMOUNT'],
    errors: [{ field: 'amount', message: 'It is too long.' }],
  }
  const { run } = await user(() => ({ status: 400, body: problem }))
  const { code, err } = await run('debit', 'alice', '1', '--idempotency-key', 'k')
  expect([code, err]).toEqual([1, 'ledger debit: Validation Error: amount: It is too long.\n'])
})

test.each([
  [['transfer', 'alice', 'bob'], "missing required argument 'amount'"],
  [['credit', 'alice', '1', '--idempotency-key', 'é'], 'It must be 1 to 255 printable ASCII characters.'],
  [['credit', 'alice', '1', '--metadata', 'x'], 'It must be a name and a value, such as order=7.'],
  [['mint', 'alice', '1'], "missing required argument 'token'"],
  [['transfers', 'alice'], '(Did you mean transfer?)'],
])('wrong usage exits with 2: ledger %j', async (args, message) => {
  const { run, orders } = await user(() => 'lost')
  const { code, err } = await run(...args)
  expect([code, err, orders]).toEqual([2, expect.stringContaining(message), []])
})

test('an account without a key here is named before anything is sent', async () => {
  const { run, orders } = await user(() => 'lost')
  const { code, err } = await run('debit', 'bob', '1')
  expect([code, err, orders]).toEqual([1, expect.stringContaining('there is no key of bob here'), []])
})
