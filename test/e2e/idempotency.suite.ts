/** Goal: a client may send a submission as often as it likes, to whom it likes, and nothing happens twice (I3, D7). */
import { describe, expect, test } from 'vitest'
import { type HttpReply, membersOf, textOf } from '../support/client.ts'
import { signed } from '../support/client-keys.ts'
import type { GetRunning } from './running.ts'

const REPLAYED = 'idempotency-replayed'
const MISMATCH = 'idempotency-payload-mismatch'

function count(replies: readonly HttpReply[], header: string): number {
  return replies.filter((reply) => reply.headers[header] === 'true').length
}

function distinct(values: readonly unknown[]): number {
  return new Set(values).size
}

export function idempotencySuite(running: GetRunning): void {
  describe('idempotency', () => {
    test('I3: 40 concurrent submissions with one key, at two edges, are one transaction with 40 equal receipts', async () => {
      const { client, elsewhere } = running()
      const holder = await client.register('forty@idempotency')
      const fields = { account_id: holder.accountId, amount: '7.25', type: 'credit', idempotency_key: 'one key' }
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, number) =>
          // A signature is no identity: each is another one, over the same payload.
          (number % 2 === 0 ? client : elsewhere).post('/v1/transactions', signed(fields, holder.keys.privateKey)),
        ),
      )
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 202))
      expect(distinct(replies.map(({ body }) => body))).toBe(1)
      expect(distinct(replies.map(({ headers }) => headers.location))).toBe(1)
      expect(count(replies, REPLAYED)).toBe(39)
      expect(count(replies, MISMATCH)).toBe(0)
      const [first] = replies
      const receipt = first === undefined ? {} : membersOf(first)
      expect(first?.headers.location).toBe(`/v1/transactions/${textOf(receipt, 'txn_id')}`)
      const found = await client.read(`/v1/transactions?account_id=${holder.accountId}&idempotency_key=one%20key`)
      expect(found['transactions']).toMatchObject([{ txn_id: receipt['txn_id'], status: 'completed' }])
      expect(await client.read(`/v1/transactions?account_id=${holder.accountId}`)).toMatchObject({ total_count: 1 })
      expect(await client.read(`/v1/accounts/${holder.accountId}/balances/BASE`)).toMatchObject({ balance: '7.25' })
      expect(await client.readAll(`/v1/accounts/${holder.accountId}/audit-chain`, 'entries')).toHaveLength(2)
    })

    test('I3: concurrent submissions that differ under one key: one is applied, the others get its receipt and are told', async () => {
      const { client, elsewhere } = running()
      const holder = await client.register('differing@idempotency')
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, number) =>
          (number % 2 === 0 ? client : elsewhere).submit(holder, {
            amount: `${number + 1}`,
            type: 'credit',
            idempotency_key: 'contended',
          }),
        ),
      )
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 202))
      expect(distinct(replies.map(({ body }) => body))).toBe(1)
      expect(count(replies, REPLAYED)).toBe(11)
      expect(count(replies, MISMATCH)).toBe(11)
      const winner = replies.findIndex((reply) => reply.headers[REPLAYED] === undefined)
      const balance = await client.read(`/v1/accounts/${holder.accountId}/balances/BASE`)
      expect(balance['balance']).toBe(`${winner + 1}`)
    })
  })
}
