/** Waiting for outcomes, and lists page by page. */
import { describe, expect, test } from 'vitest'
import { generateKey, LedgerClient, type LedgerError, termsHash } from '../../../api/client/index.ts'
import { type Answer, fakeLedger, json, problem, tokens } from './fake-ledger.ts'

const APPLIED = { 'preference-applied': 'wait=30' }
const ORDER = { type: 'credit', account_id: 'alice', amount: '1' } as const
const RECEIPT = { txn_id: 'txn_1', account_id: 'alice', status: 'pending', enqueued_at: 'then' }
const GROUP_ID = '0b9f4f0e-6c1c-4a6b-9d58-0d4a3d7f8e21'
const LEGS = [
  { account_id: 'alice', type: 'debit', amount: '1' },
  { account_id: 'bob', type: 'credit', amount: '1' },
] as const

function detail(status: string, headers = {}): Response {
  return json({ txn_id: 'txn_1', status, created_at: 'then' }, 200, headers)
}

function opened(...answers: readonly Answer[]) {
  const fake = fakeLedger([tokens('1'), ...answers])
  return { ...fake, ledger: new LedgerClient(fake.options) }
}

/** A client that sends each request once. */
function openedOnce(...answers: readonly Answer[]): LedgerClient {
  const { options } = fakeLedger([tokens('1'), ...answers], { retry: { attempts: 1 } })
  return new LedgerClient(options)
}

describe('a submission that waits', () => {
  test('asks for the outcome in one round trip', async () => {
    const { ledger, sent } = opened(detail('completed'))
    expect(await ledger.submitAndWait(ORDER, await generateKey())).toMatchObject({ status: 'completed' })
    expect(sent[1]?.headers.get('prefer')).toBe('wait=30')
  })

  test('goes on waiting until a transaction is completed or failed, and resolves with a failed one', async () => {
    const { ledger, sent, slept } = opened(json(RECEIPT, 202), detail('on_hold', APPLIED), detail('failed'))
    expect(await ledger.submitAndWait(ORDER, await generateKey())).toMatchObject({ status: 'failed' })
    expect(sent.map(({ path }) => path).slice(1)).toEqual([
      '/v1/transactions',
      '/v1/transactions/txn_1',
      '/v1/transactions/txn_1',
    ])
    expect(slept).toEqual([])
  })

  test('pauses where the ledger does not wait, and rejects once its time is over', async () => {
    const { ledger, slept } = opened(detail('pending'), detail('pending'), detail('pending'))
    const waiting = ledger.waitForTransaction('txn_1', { timeoutMs: 400 })
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_WAIT_TIMEOUT', message: expect.stringMatching(/txn_1/) })
    expect(slept).toEqual([250, 250])
  })

  test('rejects with the key of the order if it is pending for too long', async () => {
    const { ledger, sent } = opened(json(RECEIPT, 202), detail('pending'))
    const waiting = ledger.submitAndWait(ORDER, await generateKey(), { timeoutMs: 0 })
    await expect(waiting).rejects.toMatchObject({
      code: 'ERR_WAIT_TIMEOUT',
      outcome: 'unknown',
      txnId: 'txn_1',
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const { idempotencyKey } = (await waiting.catch((error: unknown) => error)) as LedgerError
    expect(JSON.parse(sent[1]?.body ?? '')).toMatchObject({ idempotency_key: idempotencyKey })
  })

  test.for([
    ['an outage', () => problem(503, 'ERR_SHARD_UNAVAILABLE')],
    ['a lost connection', () => new TypeError('fetch failed')],
    ['a refusal', () => problem(403, 'ERR_FORBIDDEN')],
  ] as const)(
    'rejects with an unknown outcome after %s, once the ledger has accepted the order',
    async ([, failure]) => {
      const key = await generateKey()
      const failing = () => openedOnce(json(RECEIPT, 202), failure())
      const submitted = failing().submitAndWait({ ...ORDER, idempotency_key: 'mine' }, key)
      await expect(submitted).rejects.toMatchObject({ outcome: 'unknown', txnId: 'txn_1', idempotencyKey: 'mine' })
      const capture = { hold_id: 'hld_1', account_id: 'alice', amount: '1', idempotency_key: 'mine' }
      const captured = failing().captureHold(capture, key)
      await expect(captured).rejects.toMatchObject({ outcome: 'unknown', txnId: 'txn_1', idempotencyKey: 'mine' })
    },
  )

  test('the failure of a wait for a group names it', async () => {
    const waiting = openedOnce(problem(503, 'ERR_SHARD_UNAVAILABLE')).waitForGroup(GROUP_ID)
    await expect(waiting).rejects.toMatchObject({ outcome: 'unknown', groupId: GROUP_ID })
  })

  test('a group is final when it is settled, reverted or linked', async () => {
    const group = (status: string): Response => json({ group_id: GROUP_ID, status }, 200, APPLIED)
    for (const status of ['settled', 'reverted', 'linked']) {
      const { ledger } = opened(group('open'), group('reverting'), group(status))
      expect(await ledger.waitForGroup(GROUP_ID)).toMatchObject({ status })
    }
  })
})

describe('a settlement group', () => {
  test('that the ledger registered on other terms is an error', async () => {
    const registered = await termsHash({ groupId: GROUP_ID.toUpperCase(), legs: LEGS, timeoutSeconds: 900 })
    const { ledger, sent } = opened(json({ terms_hash: registered }, 201), json({ terms_hash: 'sha256:other' }, 201))
    expect(await ledger.registerGroup(LEGS, { groupId: GROUP_ID })).toMatchObject({ terms_hash: registered })
    expect(JSON.parse(sent[1]?.body ?? '')).toEqual({ group_id: GROUP_ID, legs: LEGS, timeout_seconds: 900 })
    await expect(ledger.registerGroup(LEGS, { groupId: GROUP_ID })).rejects.toMatchObject({
      code: 'ERR_TERMS_CHANGED',
      outcome: 'unknown',
      groupId: GROUP_ID,
      idempotencyKey: GROUP_ID,
    })
  })
})

describe('a list', () => {
  test('is read page by page to its end, with its filters', async () => {
    const { ledger, sent } = opened(
      json({ transactions: [{ txn_id: 'a' }, { txn_id: 'b' }], next_page_token: 'p2' }),
      json({ transactions: [], next_page_token: 'p3' }),
      json({ transactions: [{ txn_id: 'c' }], next_page_token: '' }),
    )
    const ids: string[] = []
    for await (const { txn_id: id } of ledger.list('listTransactions', { query: { status: 'failed' } })) ids.push(id)
    expect(ids).toEqual(['a', 'b', 'c'])
    expect(sent.slice(1).map(({ path }) => path)).toEqual([
      '/v1/transactions?status=failed',
      '/v1/transactions?status=failed&page_token=p2',
      '/v1/transactions?status=failed&page_token=p3',
    ])
  })

  test('is read no further than it is used', async () => {
    const { ledger, sent } = opened(
      json({ accounts: [{ account_id: 'a' }, { account_id: 'b' }], next_page_token: 'p2' }),
    )
    for await (const { account_id: id } of ledger.list('listAccounts')) if (id === 'b') break
    expect(sent).toHaveLength(2)
  })
})
