/** The contract of every LedgerReads. Lists are compared with the same filters over all written rows. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { viewOf } from '../../../actors/account/outcome.ts'
import { formatQuantity } from '../../../actors/money.ts'
import {
  TRANSACTION_STATUSES,
  type TransactionQuery,
  type TransactionView,
} from '../../../runtime/ports/ledger-reads.ts'
import { NFT_ID } from '../../support/postgres/ledger-rows-nfts.ts'
import { chainHash, GENESIS } from '../../support/reference-encoding.ts'
import { receiptText } from '../../support/receipt-text.ts'
import { type Book, createBook } from './ledger-reads-rows.ts'
import {
  ACCOUNTS,
  aQuery,
  GROUPS,
  type LedgerReadsSubject,
  matches,
  pagesOf,
  receiptSignatureOf,
  seed,
  SEED_START_MS,
  type Seeded,
  viewedBy,
  walk,
} from './ledger-reads-scene.ts'
import { holdTests } from './ledger-reads-holds.contract.ts'
import { nftTests } from './ledger-reads-nfts.contract.ts'
import { actorTests, movingTests } from './ledger-reads-values.contract.ts'

export function ledgerReadsContract(name: string, create: () => Promise<LedgerReadsSubject>): void {
  describe(`LedgerReads: ${name}`, () => {
    let subject: LedgerReadsSubject
    let book: Book
    beforeAll(async () => {
      subject = await create()
      book = createBook(subject.shardOf, receiptSignatureOf)
      await subject.write(seed(book))
    })
    afterAll(() => subject.close())

    singleTests(() => ({ ...subject, book }))
    movingTests(() => ({ ...subject, book }))
    actorTests(() => ({ ...subject, book }))
    nftTests(() => ({ ...subject, book }))
    holdTests(() => ({ ...subject, book }))
    listTests(() => ({ ...subject, book }))
  })
}

function singleTests(seeded: () => Seeded): void {
  test('a transaction is shown as it was decided', async () => {
    const { reads, book } = seeded()
    for (const transaction of book.transactions) {
      expect(await reads.transaction(transaction.txnId)).toEqual(viewedBy(book)(transaction))
    }
  })

  test('an invalid or unknown transaction ID is undefined', async () => {
    const { reads, book } = seeded()
    const existing = book.transactions[0]?.txnId ?? ''
    const unknown = ['', 'txn_', 'x', `${existing}0`, existing.toLowerCase(), `${existing.slice(0, -1)}!`, 'txn_\0']
    for (const txnId of [...unknown, 'txn_00000000000000000000000000', 'txn_7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
      expect(await reads.transaction(txnId)).toBeUndefined()
      expect(await reads.receipt(txnId)).toBeUndefined()
    }
  })

  test('a receipt is the signed payload, made anew, with the signature that was stored; none while pending', async () => {
    const { reads, book, ledgerId } = seeded()
    for (const transaction of book.transactions) {
      const { keyId, signature } = receiptSignatureOf(transaction)
      const payload = receiptText(transaction, ledgerId, keyId)
      const receipt = transaction.status === 'pending' ? undefined : { payload, signature }
      expect(await reads.receipt(transaction.txnId)).toEqual(receipt)
    }
  })

  test('an account is shown with its key and the tip of its chain', async () => {
    const { reads, book } = seeded()
    for (const accountId of ACCOUNTS) expect(await reads.account(accountId)).toEqual(viewOf(book.account(accountId)))
    for (const accountId of ['unknown', 'ALICE@BANK', '', '..', 'a\0b']) {
      expect(await reads.account(accountId)).toBeUndefined()
      expect(await reads.balances(accountId)).toBeUndefined()
      expect(await reads.auditChain(accountId, -1, 10)).toBeUndefined()
    }
  })

  test('balances are in minimal form; an account without any has an empty list', async () => {
    const { reads, book } = seeded()
    for (const accountId of ACCOUNTS) {
      const held = [...book.account(accountId).balances]
      expect(await reads.balances(accountId)).toEqual(
        held.map(([tokenId, balance]) => ({
          tokenId,
          tokenClass: 'fungible',
          balance: formatQuantity(balance.balance),
          available: formatQuantity(balance.balance - balance.reserved),
          incoming: formatQuantity(balance.incoming),
          decimals: tokenId === 'EUR' ? 2 : 18,
          updatedAtMs: balance.updatedAtMs,
        })),
      )
    }
    expect(await reads.balances('Zoe')).toEqual([])
    expect((await reads.balances('bob'))?.[0]?.balance).toMatch(/^[1-9][0-9]*\.[0-9]{17}1$/)
    expect((await reads.balances('carol:1'))?.[0]?.balance).toMatch(/\.5$/)
  })

  test('accounts come in one order whatever the page size, each once, counted with the first page', async () => {
    const { reads, book } = seeded()
    const whole = (await reads.accounts(null, 100)).accounts
    const inOrder = whole.map(({ accountId }) => accountId)
    expect(inOrder.toSorted()).toEqual([...ACCOUNTS].sort())
    for (const limit of [1, 2, 5, 6, 100]) {
      const pages = await pagesOf((after: string | null) => reads.accounts(after, limit))
      for (const [index, page] of pages.entries()) {
        expect(page.accounts.length).toBeLessThanOrEqual(limit)
        expect(page.count).toEqual(index === 0 ? { total: ACCOUNTS.length, exact: true } : null)
      }
      const seen = pages.flatMap(({ accounts }) => accounts)
      expect(seen).toEqual(inOrder.map((accountId) => viewOf(book.account(accountId))))
    }
    const last = inOrder.at(-1) ?? ''
    expect(await reads.accounts(last, 10)).toEqual({ accounts: [], next: null, count: null })
    for (const absent of ['zzz', 'A', 'm', '0']) {
      const { accounts } = await reads.accounts(absent, 100)
      expect(accounts).toEqual(whole.slice(whole.length - accounts.length))
    }
  })

  test('an audit chain comes oldest first, page by page, and recomputes', async () => {
    const { reads, book } = seeded()
    for (const limit of [1, 7, 1_000]) {
      let tip = GENESIS
      let sequence = 0
      let after: number | null = -1
      while (after !== null) {
        const page = await reads.auditChain('bob', after, limit)
        if (page === undefined) throw new Error('bob has a chain')
        expect(page.entries.length).toBeLessThanOrEqual(limit)
        expect(page.total).toBe(book.account('bob').sequence + 1)
        for (const entry of page.entries) {
          expect(entry.sequence).toBe(sequence)
          expect(entry.previousHash).toBe(tip)
          tip = chainHash(tip, entry.payload ?? '')
          expect(entry.auditHash).toBe(tip)
          sequence += 1
        }
        after = page.next
      }
      expect(sequence).toBe(book.account('bob').sequence + 1)
      expect(tip).toBe(book.account('bob').tip)
    }
    expect(await reads.auditChain('bob', 10_000, 5)).toMatchObject({ entries: [], next: null })
  })
}

const ANY_FILTERS = fc.record<Partial<TransactionQuery>>(
  {
    accountId: fc.constantFrom(...ACCOUNTS, 'unknown'),
    createdFromMs: fc.integer({ min: 990, max: 1_090 }).map((ms) => SEED_START_MS + ms / 1.5),
    createdToMs: fc.integer({ min: 990, max: 8_000 }).map((ms) => SEED_START_MS + ms),
    type: fc.constantFrom('credit', 'debit', 'transfer', 'mint'),
    tokenId: fc.constantFrom('BASE', 'base', 'EUR', 'USD', NFT_ID),
    tokenClass: fc.constantFrom('fungible', 'nft', 'NFT'),
    groupId: fc.constantFrom(...GROUPS, randomUUID()),
    amountMin: fc.constantFrom('0', '0.5', '1', '3', '10.000000000000000001'),
    amountMax: fc.constantFrom('0.000000000000000001', '1', '9', '10', '999999999999999999'),
    status: fc.constantFrom('completed', 'failed', 'pending'),
    idempotencyKey: fc.constantFrom('key 0 0', 'key 5 155', 'key 3 3', 'pending 7', 'none'),
  },
  { requiredKeys: [] },
)

/** A key is asked for with its account only. */
const FILTERS = ANY_FILTERS.map(({ idempotencyKey = null, ...filters }) => ({
  ...filters,
  idempotencyKey: filters.accountId === undefined ? null : idempotencyKey,
}))

function listTests(seeded: () => Seeded): void {
  /** In the order of the IDs, newest first. */
  function expected(query: TransactionQuery): readonly TransactionView[] {
    return seeded()
      .book.transactions.filter((transaction) => matches(transaction, query))
      .map(viewedBy(seeded().book))
      .sort((left, right) => (left.txnId < right.txnId ? 1 : -1))
  }

  test('newest first: any filters, any page size: each match once, in order, and counted', async () => {
    await fc.assert(
      fc.asyncProperty(FILTERS, fc.integer({ min: 1, max: 60 }), async (filters, limit) => {
        const query = aQuery({ ...filters, limit })
        const pages = await walk(seeded().reads, query)
        const all = expected(query)
        expect(pages.flatMap((page) => page.transactions)).toEqual(all)
        for (const page of pages) {
          expect(page.transactions.length).toBeLessThanOrEqual(limit)
          expect(page.count).toEqual({ total: all.length, exact: true })
        }
      }),
      { numRuns: 150 },
    )
  })

  test('the feed: any filters, any page size: each match once, oldest commit first, and a cursor always', async () => {
    await fc.assert(
      fc.asyncProperty(FILTERS, fc.integer({ min: 1, max: 60 }), async (filters, limit) => {
        const query = aQuery({ ...filters, limit, order: 'asc', counted: false })
        const pages = await walk(seeded().reads, query)
        const ids = new Set(expected(query).map((view) => view.txnId))
        const committed = seeded().book.transactions.filter((transaction) => ids.has(transaction.txnId))
        expect(pages.flatMap((page) => page.transactions)).toEqual(committed.map(viewedBy(seeded().book)))
        // By amount a page that is full does not look for another match: there may be none.
        const isByAmount = query.amountMin !== null || query.amountMax !== null
        let left = committed.length
        for (const page of pages) {
          left -= page.transactions.length
          const mayEndShort = isByAmount && page.transactions.length === limit
          expect(page.ended || mayEndShort).toBe(left === 0 || mayEndShort)
          expect(page.ended && left > 0).toBe(false)
          expect(page.next?.txnId === '').toBe(page.ended)
          expect(page.next).not.toBeNull()
          expect(page.count).toBeNull()
        }
        expect(pages.at(-1)?.ended).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test('counters give what a count would: everything, an account, a status, an account and a status', async () => {
    const { reads } = seeded()
    for (const accountId of [null, ...ACCOUNTS, 'unknown']) {
      for (const status of [null, ...TRANSACTION_STATUSES]) {
        const query = aQuery({ accountId, status, limit: 1 })
        expect((await reads.transactions(query)).count).toEqual({ total: expected(query).length, exact: true })
      }
    }
  })

  test('the page size may change between pages', async () => {
    const { reads } = seeded()
    const first = await reads.transactions(aQuery({ limit: 3 }))
    const second = await reads.transactions(aQuery({ limit: 50, after: first.next, counted: false }))
    expect([...first.transactions, ...second.transactions]).toEqual(expected(aQuery()).slice(0, 53))
    expect(second.count).toBeNull()
  })

  test('date bounds are exact to fractions of a millisecond, and far dates are no error', async () => {
    const { reads } = seeded()
    const atMs = SEED_START_MS + 1_010
    const total = async (changes: Partial<TransactionQuery>) => (await reads.transactions(aQuery(changes))).count?.total
    expect(await total({ createdFromMs: atMs, createdToMs: atMs + 0.001 })).toBe(3)
    expect(await total({ createdFromMs: atMs + 0.001, createdToMs: atMs + 1 })).toBe(0)
    expect(await total({ createdFromMs: atMs, createdToMs: atMs })).toBe(0)
    expect(await total({ createdFromMs: atMs + 1, createdToMs: atMs })).toBe(0)
    const far = { createdFromMs: -62_000_000_000_000, createdToMs: 253_402_300_799_999 }
    expect(await total(far)).toBe(seeded().book.transactions.length)
    expect(await total({ createdFromMs: 253_402_300_799_999 })).toBe(0)
    expect(await total({ createdToMs: -62_000_000_000_000 })).toBe(0)
  })

  test('values that no row can have match nothing', async () => {
    const { reads } = seeded()
    for (const filter of [
      { tokenId: 'a\0b' },
      { accountId: 'bob', idempotencyKey: '\0' },
      { accountId: 'a\0b' },
      { tokenClass: 'x' },
    ]) {
      expect(await reads.transactions(aQuery(filter))).toEqual({
        transactions: [],
        next: null,
        ended: true,
        count: { total: 0, exact: true },
      })
      const feed = await reads.transactions(aQuery({ ...filter, order: 'asc' }))
      expect(feed.transactions).toEqual([])
      expect(feed.next).not.toBeNull()
    }
  })

  test('a row that arrives is neither skipped nor repeated by a list under way, and the feed goes on to it', async () => {
    const { reads, book, write } = seeded()
    const before = expected(aQuery())
    const first = await reads.transactions(aQuery({ limit: 10 }))
    const feed = await walk(reads, aQuery({ order: 'asc', limit: 1_000 }))
    await write([
      book.decide('bob', { atMs: SEED_START_MS + 9_000 }),
      book.decide('dave.x', { atMs: SEED_START_MS + 9_001 }),
    ])
    const rest = await walk(reads, aQuery({ limit: 10, after: first.next }))
    expect([...first.transactions, ...rest.flatMap((page) => page.transactions)]).toEqual(before)
    const later = await reads.transactions(aQuery({ order: 'asc', after: feed.at(-1)?.next ?? null }))
    expect(later.transactions).toEqual(book.transactions.slice(-2).map(viewedBy(book)))
    const end = await reads.transactions(aQuery({ order: 'asc', after: later.next }))
    expect(end.transactions).toEqual([])
    expect(end.next).not.toBeNull()
  })
}
