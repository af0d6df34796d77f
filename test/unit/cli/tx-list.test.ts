/**
 * `ledger tx list --oldest-first` reads the feed to its end, behind pages without a visible transaction. A list that the
 * default limit ends says so.
 */
import { expect, test } from 'vitest'
import { ledgerUser } from './replying-ledger.ts'

const rowOf = (txnId: string): object => ({ txn_id: txnId, account_id: 'alice', type: 'credit', status: 'completed' })

/** The pages of a feed by the token that asks for them: rows, and the next token. */
const FEED: Readonly<Record<string, readonly [rows: readonly string[], next: string]>> = {
  first: [[], 'a'],
  a: [['txn_1'], 'b'],
  b: [[], 'c'],
  c: [['txn_2', 'txn_3'], 'end'],
  end: [[], 'end'],
}

async function listed(...args: readonly string[]) {
  const { run, requests } = await ledgerUser({
    '/v1/transactions': (query) => {
      const [rows, next] = FEED[query.get('page_token') ?? 'first'] ?? [[], '']
      return { transactions: rows.map(rowOf), next_page_token: next }
    },
  })
  const { code, out } = await run('tx', 'list', '--oldest-first', '--json', ...args)
  const ids = [...out.matchAll(/"txn_id":"(\w+)"/g)].map(([, id]) => id)
  return { code, ids, requests: requests.length }
}

test('all transactions are listed, and the command ends', async () => {
  expect(await listed()).toEqual({ code: 0, ids: ['txn_1', 'txn_2', 'txn_3'], requests: 5 })
})

test('--limit ends it earlier', async () => {
  expect(await listed('--limit', '2')).toEqual({ code: 0, ids: ['txn_1', 'txn_2'], requests: 4 })
})

test('a list that the default limit ends says so, below the list', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => rowOf(`txn_${index}`))
  let next = 'more'
  const { run } = await ledgerUser({ '/v1/transactions': () => ({ transactions: rows, next_page_token: next }) })
  const note = 'only 20 transactions are listed, and there may be more: choose a larger --limit\n'
  expect(await run('tx', 'list')).toMatchObject({ code: 0, err: note })
  expect((await run('tx', 'list', '--json')).err).toBe(note)
  expect((await run('tx', 'list', '--limit', '20')).err).toBe('')
  next = ''
  expect((await run('tx', 'list')).err).toBe('')
})
