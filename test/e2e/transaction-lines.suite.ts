/** Goal: D16 as lines on a ledger that runs: all that it has, whatever it went through before, and gone on with when cut off. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type LedgerClient, membersOf, textOf } from '../support/client.ts'
import { type Members, signed } from '../support/client-keys.ts'
import { AS_LINES, readLines, readSome, transactionsIn } from '../support/client-lines.ts'
import { ended, funded, keyed, outcomeOf } from '../support/client-moves.ts'
import type { GetRunning } from './running.ts'

const CREDITS = 400

export function transactionLinesSuite(running: GetRunning): void {
  describe('transactions as lines', () => {
    beforeAll(() => credited(running().client, 'much-paid@lines'))

    test('newest first they are what all pages hold, with and without filters, at every edge', async () => {
      const { client, elsewhere } = running()
      for (const filter of [
        '',
        '&status=failed',
        '&type=credit&amount_min=2',
        '&token_class=nft',
        '&token_id=nothing',
      ]) {
        const all = await client.readAll(`/v1/transactions?order=desc${filter}`, 'transactions')
        for (const one of [client, elsewhere]) {
          const lines = await readLines(one, `/v1/transactions?order=desc&page_size=300${filter}`)
          expect(transactionsIn(lines)).toEqual(all)
          expect(lines.at(-1)).toEqual({ end: true, count: all.length, next_page_token: '' })
        }
      }
    })

    test('a feed holds each of them once, ends, and goes on with what is accepted later', async () => {
      const { client } = running()
      const all = await client.readAll('/v1/transactions', 'transactions')
      let lines: readonly Members[] = []
      // A feed ends before what a commit that is still under way, whosever it is, might come before.
      await expect
        .poll(async () => {
          lines = await readLines(client, '/v1/transactions?order=asc&page_size=300')
          return idsIn(transactionsIn(lines)).toSorted()
        })
        .toEqual(idsIn(all).toSorted())
      const token = textOf(lines.at(-1) ?? {}, 'next_page_token')
      expect(await readLines(client, `/v1/transactions?order=asc&page_token=${token}`)).toMatchObject([{ count: 0 }])
      await funded(client, 'comes-later@lines', '1')
      await expect
        .poll(async () => transactionsIn(await readLines(client, `/v1/transactions?order=asc&page_token=${token}`)))
        .toMatchObject([{ account_id: 'comes-later@lines', amount: '1' }])
    })

    test.for(['desc', 'asc'])('cut off anywhere, in order %s, they are gone on with', async (order) => {
      const { client, elsewhere } = running()
      const path = `/v1/transactions?order=${order}&page_size=7`
      const all = transactionsIn(await readLines(client, path))
      expect(all.length).toBeGreaterThanOrEqual(CREDITS)
      for (const bytes of [1, 5_000, 20_000]) {
        const { whole, token } = keptOf(await readSome(client, path, bytes))
        const rest = await readLines(elsewhere, `${path}&page_token=${token}`)
        expect([...transactionsIn(whole), ...transactionsIn(rest)]).toEqual(all)
      }
    })

    test('clients that hang up leave room for others, time and again', async () => {
      const { client } = running()
      for (let times = 0; times < 12; times += 1) await readSome(client, '/v1/transactions?page_size=1', 1)
      await expect(readLinesSoon(client, '/v1/transactions?page_size=1000')).resolves.not.toEqual([])
    })
  })
}

/** So that there is more than one part of an answer. An account decides its orders one after the other. */
async function credited(client: LedgerClient, accountId: string): Promise<void> {
  const { keys } = await client.register(accountId)
  const submissions = Array.from({ length: CREDITS }, () =>
    signed({ account_id: accountId, ...keyed({ type: 'credit', amount: '3' }) }, keys.privateKey),
  )
  const { results } = membersOf(await client.post('/v1/transactions/batch', { submissions }))
  const { receipt } = (results as readonly { readonly receipt?: Members }[]).at(-1) ?? {}
  expect(await ended(client, receipt ?? {})).toMatchObject({ status: 'completed' })
}

/** An edge learns that a client has gone when its connection does: until then it has its share. */
async function readLinesSoon(client: LedgerClient, path: string): Promise<readonly Members[]> {
  for (;;) {
    const reply = await client.get(path, AS_LINES)
    if (reply.status === 200) return readLines(client, path)
    expect(outcomeOf(reply)).toBe('503 ERR_OVERLOADED')
  }
}

/** Of what was cut off: all before the last token that came whole, and the token. */
function keptOf(text: string): { readonly whole: readonly Members[]; readonly token: string } {
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Members)
  const place = lines.findLastIndex((line) => line['txn_id'] === undefined)
  return { whole: lines.slice(0, place + 1), token: String(lines[place]?.['next_page_token'] ?? '') }
}

function idsIn(rows: readonly Members[]): readonly string[] {
  return rows.map((row) => textOf(row, 'txn_id'))
}
