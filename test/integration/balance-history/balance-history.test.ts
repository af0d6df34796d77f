/** Balances at a time and statements of a real ledger agree with books that were kept in BigInt. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import { type AuditedBooks, keepBooks } from './bookkeeping.ts'
import { expectBalancesAt, expectStatement } from './checks.ts'

let kept: AuditedBooks

beforeAll(async () => {
  kept = await keepBooks({ total: 500, perBookmark: 50, seed: 31 })
})
afterAll(() => kept?.close())

test('balances at each bookmark are those of the books', async () => {
  for (const bookmark of kept.bookmarks) await expectBalancesAt(kept, bookmark)
})

test.for([1, 7, 1000])('statements in pages of %i entries add up between any two bookmarks', async (limit) => {
  const [first, ...rest] = kept.bookmarks
  const [middle, last] = [rest[3], rest.at(-1)]
  if (first === undefined || middle === undefined || last === undefined) throw new Error('there are bookmarks')
  for (const accountId of kept.accountIds) {
    const halves = [
      await expectStatement(kept, [first, middle], accountId, limit),
      await expectStatement(kept, [middle, last], accountId, limit),
    ]
    expect(await expectStatement(kept, [first, last], accountId, limit)).toBe((halves[0] ?? 0) + (halves[1] ?? 0))
  }
})

test('before the first entry there is no balance, and an unknown account has none at all', async () => {
  const { reads } = kept
  expect(await reads.balancesAt('party-0', 1, null, 10)).toEqual({ balances: [], next: null })
  expect(await reads.balanceAt('party-0', 'GOLD', 1)).toBeNull()
  expect(await reads.balancesAt('stranger', 1, null, 10)).toBeUndefined()
  expect(await reads.balanceAt('stranger', 'GOLD', 1)).toBeUndefined()
  const nothing = { accountId: 'party-0', tokenId: 'COPPER', fromMs: null, toMs: Date.now(), after: null, limit: 10 }
  expect(await reads.movements(nothing)).toEqual({
    opening: { balance: '0', sequence: null },
    movements: [],
    closing: { balance: '0', sequence: null },
    next: null,
  })
  expect(await reads.movements({ ...nothing, accountId: 'stranger' })).toBeUndefined()
})

test('balances come in pages by token ID', async () => {
  const { reads } = kept
  const atMs = Date.now()
  const first = await reads.balancesAt('party-0', atMs, null, 1)
  const second = await reads.balancesAt('party-0', atMs, 'BASE', 1)
  expect([first?.balances.map(({ tokenId }) => tokenId), first?.next]).toEqual([['BASE'], 'BASE'])
  expect([second?.balances.map(({ tokenId }) => tokenId), second?.next]).toEqual([['GOLD'], 'GOLD'])
})

test.for(['the last', 'an earlier'])(
  'a statement is refused if %s movement is hidden from the indexes',
  async (which) => {
    const { ledger, reads } = kept
    const { sql, vault } = ledger
    const [accountId, tokenId] = ['party-0', 'GOLD']
    const asked = { accountId, tokenId, fromMs: null, toMs: Date.now(), after: null, limit: 1000 }
    const { movements = [] } = (await reads.movements(asked)) ?? {}
    const last = movements.at(-1)
    const earlier = movements.findLast(({ atMs }) => atMs < (last?.atMs ?? 0))
    const hidden = which === 'the last' ? last : earlier
    if (hidden === undefined) throw new Error('there are movements')
    const upToIt = { ...asked, toMs: hidden.atMs + 1 }
    expect((await reads.movements(upToIt))?.movements.at(-1)).toEqual(hidden)
    const ofEntry = `WHERE account_id = '${vault.accountRef(accountId)}' AND sequence = ${hidden.sequence}`
    await sql.unsafe(`
    CREATE TABLE kept_transactions AS SELECT * FROM transactions ${ofEntry};
    CREATE TABLE kept_entries AS SELECT * FROM audit_entries ${ofEntry};
    UPDATE transactions SET token_id = 'COPPER', received_token_id = NULL ${ofEntry};
    UPDATE audit_entries SET token_id = 'COPPER' ${ofEntry}`)
    await expect(reads.movements(upToIt)).rejects.toThrow(ReadsUnavailable)
    await expect(reads.movements(asked)).rejects.toThrow(ReadsUnavailable)
    await sql.unsafe(`
    DELETE FROM transactions ${ofEntry}; INSERT INTO transactions SELECT * FROM kept_transactions;
    DELETE FROM audit_entries ${ofEntry}; INSERT INTO audit_entries SELECT * FROM kept_entries;
    DROP TABLE kept_transactions, kept_entries`)
    expect((await reads.movements(upToIt))?.movements.at(-1)).toEqual(hidden)
  },
)
