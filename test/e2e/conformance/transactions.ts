/** The endpoints of transactions, and what is said of repeats and legs. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { type Members, signed } from '../../support/client-keys.ts'
import { ended, free, holdingOf, keyed, moved, newKey, outcomeOf, WAITING } from '../../support/client-moves.ts'
import { NO_TXN, SHA_256, TIMESTAMP, TXN_ID, UUID } from './forms.ts'
import { sorted } from './sorted.ts'
import type { Suite } from './suite.ts'

export function transactionsChapter(suite: Suite): void {
  const row = suite.chapter('Transactions')

  row(
    'POST /v1/transactions',
    '202 with txn_id, account_id, status, shard_id, enqueued_at',
    async ({ transactor, cast }) => {
      const reply = await transactor.submit(cast.alice, keyed({ type: 'credit', amount: '1' }))
      expect(reply.status).toBe(202)
      const { shard_id: shardId } = await transactor.read(`/v1/accounts/${cast.alice.accountId}`)
      expect(membersOf(reply)).toEqual({
        txn_id: expect.stringMatching(TXN_ID),
        account_id: cast.alice.accountId,
        status: 'pending',
        shard_id: shardId,
        enqueued_at: expect.stringMatching(TIMESTAMP),
      })
      const grouped = { type: 'credit', amount: '1', token_id: 'BASE', group_id: randomUUID() }
      const other = membersOf(await transactor.submit(cast.alice, keyed(grouped)))
      expect(other['group_id']).toBe(grouped.group_id)
    },
  )

  row(
    'GET /v1/transactions/{id}',
    '200 with the nine documented fields, and what else there is',
    async ({ viewer, cast }) => {
      const { credited, transferred } = cast
      expect(await viewer.read(`/v1/transactions/${credited.txnId}`)).toEqual({
        txn_id: credited.txnId,
        account_id: cast.alice.accountId,
        amount: '100.50',
        type: 'credit',
        status: 'completed',
        shard_id: credited.receipt['shard_id'],
        token_id: 'BASE',
        created_at: credited.receipt['enqueued_at'],
        audit_hash: expect.stringMatching(SHA_256),
        origin: 'client',
        metadata: { note: 'first' },
        processed_at: expect.stringMatching(TIMESTAMP),
      })
      expect(await viewer.read(`/v1/transactions/${transferred.txnId}`)).toMatchObject({
        token_id: 'COIN',
        to_account_id: cast.bob.accountId,
        group_id: expect.stringMatching(UUID),
      })
    },
  )

  row('POST /v1/transactions', 'Prefer: wait gives the outcome in one round trip', async ({ transactor }) => {
    const [payer, payee] = [await transactor.register('payer@waiting'), await transactor.register('payee@waiting')]
    const submit = (fields: Members) => {
      const order = { account_id: payer.accountId, ...keyed(fields) }
      return transactor.post('/v1/transactions', signed(order, payer.keys.privateKey), { prefer: 'wait=30' })
    }
    const credited = await submit({ type: 'credit', amount: '1' })
    expect([credited.status, credited.headers['preference-applied']]).toEqual([200, 'wait=30'])
    const detail = membersOf(credited)
    expect(detail).toMatchObject({ status: 'completed' })
    expect(await transactor.read(`/v1/transactions/${textOf(detail, 'txn_id')}`)).toEqual(detail)
    const failed = await submit({ type: 'debit', amount: '999999999999' })
    expect([failed.status, membersOf(failed)]).toMatchObject([
      200,
      { status: 'failed', failure: { code: 'insufficient_funds' } },
    ])
    const moved = await submit({ type: 'transfer', amount: '1', to_account_id: payee.accountId })
    expect([moved.status, membersOf(moved)['status']]).toEqual([200, 'completed'])
  })

  row('GET /v1/transactions/{id}', '404 when it is unknown, whatever its form', async ({ viewer }) => {
    for (const id of [NO_TXN, 'txn_', 'nothing', '%00', 'x'.repeat(300)]) {
      expect([id, outcomeOf(await viewer.get(`/v1/transactions/${id}`))]).toEqual([id, '404 ERR_NOT_FOUND'])
    }
  })

  row('GET /v1/transactions/{id}', 'Prefer: wait answers when it is final', async ({ transactor, cast }) => {
    const receipt = membersOf(await transactor.submit(cast.alice, keyed({ type: 'credit', amount: '1' })))
    const path = `/v1/transactions/${textOf(receipt, 'txn_id')}`
    const reply = await transactor.get(path, { prefer: 'wait=31' })
    expect([membersOf(reply)['status'], reply.headers['preference-applied']]).toEqual(['completed', 'wait=30'])
    expect((await transactor.get(path)).headers['preference-applied']).toBeUndefined()
  })

  row(
    'GET /v1/transactions',
    '200 with transactions, next_page_token and total_count, newest first',
    async ({ viewer, cast }) => {
      const list = await viewer.read(`/v1/transactions?account_id=${cast.carol.accountId}&page_size=2`)
      expect(Object.keys(list).toSorted()).toEqual([
        'next_page_token',
        'total_count',
        'total_count_relation',
        'transactions',
      ])
      expect(list['next_page_token']).toEqual(expect.stringMatching(/./))
      const all = await viewer.readAll(`/v1/transactions?account_id=${cast.carol.accountId}`, 'transactions')
      expect(list['total_count']).toBe(all.length)
      expect(all.slice(0, 2)).toEqual(list['transactions'])
      const times = all.map((one) => textOf(one, 'created_at'))
      expect(times).toEqual(times.toSorted().toReversed())
      const failed = all.find((one) => one['txn_id'] === cast.failed.txnId)
      expect(failed).toEqual({
        txn_id: cast.failed.txnId,
        account_id: cast.carol.accountId,
        amount: '1',
        type: 'debit',
        token_id: 'BASE',
        status: 'failed',
        shard_id: cast.failed.receipt['shard_id'],
        created_at: cast.failed.receipt['enqueued_at'],
      })
    },
  )

  row(
    'GET /v1/transactions/group/{groupID}',
    '200 with group_id and its transactions; 404 when nothing carries it',
    async ({ viewer, cast }) => {
      const groupId = textOf(cast.transferred.detail, 'group_id')
      const group = await viewer.read(`/v1/transactions/group/${groupId}`)
      const side = { amount: '25', token_id: 'COIN', status: 'completed' }
      const sides = (group['transactions'] as readonly Members[]).toSorted((a) => (a['type'] === 'transfer' ? -1 : 1))
      expect({ ...group, transactions: sides }).toEqual({
        group_id: groupId,
        transactions: [
          { ...side, txn_id: cast.transferred.txnId, account_id: cast.alice.accountId, type: 'transfer' },
          { ...side, txn_id: expect.stringMatching(TXN_ID), account_id: cast.bob.accountId, type: 'credit' },
        ],
        next_page_token: '',
      })
      expect(outcomeOf(await viewer.get(`/v1/transactions/group/${randomUUID()}`))).toBe('404 ERR_NOT_FOUND')
    },
  )

  row(
    'idempotency',
    'the same key again gets the original receipt, and nothing is processed again',
    async ({ transactor, stranger }) => {
      const holder = await transactor.register('repeating@transactions')
      const fields = keyed({ type: 'credit', amount: '7' })
      const replies = [await transactor.submit(holder, fields), await transactor.submit(holder, fields)]
      const concurrent = await Promise.all(Array.from({ length: 10 }, () => stranger.submit(holder, fields)))
      for (const reply of [...replies, ...concurrent]) {
        expect([reply.status, reply.body]).toEqual([202, replies[0]?.body])
      }
      expect(replies.map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true'])
      const other = await transactor.submit(holder, { ...fields, amount: '8' })
      expect([other.status, other.body, other.headers['idempotency-payload-mismatch']]).toEqual([
        202,
        replies[0]?.body,
        'true',
      ])
      await ended(transactor, membersOf(other))
      expect(await holdingOf(transactor, holder.accountId)).toEqual(free('7'))
      const query = `account_id=${holder.accountId}&idempotency_key=${encodeURIComponent(String(fields['idempotency_key']))}`
      expect(await transactor.read(`/v1/transactions?${query}`)).toMatchObject({
        transactions: [{ txn_id: membersOf(other)['txn_id'] }],
      })
    },
  )

  row('idempotency', 'a refusal does not use the key up; a failed transaction does', async ({ transactor }) => {
    const holder = await transactor.register('keyed@transactions')
    const key = { idempotency_key: newKey() }
    const refused = await transactor.submit(holder, { ...key, type: 'credit', amount: '1', token_id: 'NO-SUCH' })
    expect(outcomeOf(refused)).toBe('404 ERR_NOT_FOUND')
    await moved(transactor, holder, { ...key, type: 'credit', amount: '1' })
    const failing = keyed({ type: 'debit', amount: '5' })
    const first = await transactor.submit(holder, failing)
    await ended(transactor, membersOf(first))
    await moved(transactor, holder, { type: 'credit', amount: '5' })
    const again = await transactor.submit(holder, failing)
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true'])
    expect((await ended(transactor, membersOf(again)))['status']).toBe('failed')
  })

  row(
    'single-leg and multi-leg',
    'one account at the boundary; or one submission each under one group',
    async ({ transactor }) => {
      const payer = await transactor.register('payer@transactions')
      const payee = await transactor.register('payee@transactions')
      const single = await moved(transactor, payer, { type: 'credit', amount: '9' })
      expect(single).not.toHaveProperty('group_id')
      const group = { group_id: randomUUID(), amount: '9' }
      const legs = [
        await moved(transactor, payer, { type: 'debit', ...group }),
        await moved(transactor, payee, { type: 'credit', ...group }),
      ]
      const listed = await transactor.read(`/v1/transactions/group/${group.group_id}`, WAITING)
      const txnIds = (listed['transactions'] as readonly Members[]).map(({ txn_id: txnId }) => txnId)
      expect(sorted(txnIds)).toEqual(sorted(legs.map(({ txn_id: txnId }) => txnId)))
      expect(await holdingOf(transactor, payer.accountId)).toEqual(free('0'))
      expect(await holdingOf(transactor, payee.accountId)).toEqual(free('9'))
    },
  )
}
