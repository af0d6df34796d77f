/** What every LedgerReads must do. Lists are held against the same filters over everything that was written. */
import { createHash, randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../actors/account/outcome.ts'
import { viewOf } from '../../actors/account/outcome.ts'
import { receiptPayload } from '../../actors/account/receipt.ts'
import { chainHash, GENESIS } from '../../actors/audit-chain.ts'
import { parseQuantity } from '../../actors/money.ts'
import {
  TRANSACTION_STATUSES,
  type LedgerReads,
  type TransactionPage,
  type TransactionQuery,
  type TransactionView,
} from '../../runtime/ports/ledger-reads.ts'
import { type Book, createBook, type ShardSeed } from './ledger-reads-rows.ts'

export interface LedgerReadsSubject {
  readonly reads: LedgerReads
  readonly ledgerId: string
  /** Commits each of them by itself, in order. */
  readonly write: (seeds: readonly ShardSeed[]) => Promise<void>
  readonly close: () => Promise<void>
}

export const SEED_START_MS = 1_790_000_000_000

/** A page of everything, newest first. */
export function aQuery(changes: Partial<TransactionQuery> = {}): TransactionQuery {
  return {
    accountId: null,
    createdFromMs: null,
    createdToMs: null,
    type: null,
    tokenId: null,
    tokenClass: null,
    groupId: null,
    amountMin: null,
    amountMax: null,
    status: null,
    idempotencyKey: null,
    order: 'desc',
    limit: 100,
    after: null,
    counted: true,
    ...changes,
  }
}

/** Every page until the list ends, or, for a feed, until a page is empty. */
export async function walk(reads: LedgerReads, query: TransactionQuery): Promise<readonly TransactionPage[]> {
  const pages: TransactionPage[] = []
  let { after } = query
  for (;;) {
    const page = await reads.transactions({ ...query, after })
    pages.push(page)
    const stands = page.next?.txnId === after?.txnId && page.next?.position === after?.position
    if (page.next === null || (query.order === 'asc' && page.transactions.length === 0 && stands)) return pages
    after = page.next
  }
}

export function receiptSignatureOf(transaction: Transaction): { receiptKeyId: string; receiptSignature: string } {
  return {
    receiptKeyId: 'receipt-key',
    receiptSignature: createHash('sha256').update(transaction.txnId).digest('base64'),
  }
}

function viewedAs(transaction: Transaction): TransactionView {
  const { txnId, accountId, shardId, type, amount, tokenId, groupId, status, failure, origin, metadata } = transaction
  const { createdAtMs, processedAtMs, auditHash } = transaction
  return {
    txnId,
    accountId,
    shardId,
    type,
    amount,
    tokenId,
    groupId,
    status,
    failure,
    origin,
    metadata,
    createdAtMs,
    processedAtMs,
    auditHash,
  }
}

function matches(transaction: Transaction, query: TransactionQuery): boolean {
  const quantity = parseQuantity(transaction.amount)
  return (
    [
      [query.accountId, transaction.accountId],
      [query.type, transaction.type],
      [query.tokenId, transaction.tokenId],
      [query.groupId, transaction.groupId],
      [query.status, transaction.status],
      [query.idempotencyKey, transaction.idempotencyKey],
    ].every(([asked, has]) => asked === null || asked === has) &&
    (query.tokenClass === null || query.tokenClass === 'fungible') &&
    (query.createdFromMs === null || transaction.createdAtMs >= query.createdFromMs) &&
    (query.createdToMs === null || transaction.createdAtMs < query.createdToMs) &&
    (query.amountMin === null || quantity.greaterThanOrEqualTo(query.amountMin)) &&
    (query.amountMax === null || quantity.lessThanOrEqualTo(query.amountMax))
  )
}

const ACCOUNTS = ['alice@bank', 'bob', 'carol:1', 'dave.x', 'erin-y', 'Zoe']
const GROUPS = [randomUUID(), randomUUID()]
const TRANSACTIONS = 240

/** Every combination of fields turns up; several transactions share a millisecond. */
function seed(book: Book): readonly ShardSeed[] {
  const opened = ACCOUNTS.map((accountId, index) => book.open(accountId, SEED_START_MS + index))
  const amounts = ['1', '0.5', '10', '9', '100.000000000000000001', '999999999999999999.999999999999999999', '2.50']
  return [
    ...opened,
    ...Array.from({ length: TRANSACTIONS }, (_, index) => {
      const groupId = GROUPS[index % 9]
      return book.decide(ACCOUNTS[index % (ACCOUNTS.length - 1)] ?? '', {
        atMs: SEED_START_MS + 1_000 + Math.floor(index / 3),
        type: index % 4 === 0 ? 'debit' : 'credit',
        amount: index % 5 === 4 ? '3' : (amounts[index % 3] ?? '1'),
        failed: index % 7 === 3,
        idempotencyKey: `key ${index % 50} ${index}`,
        ...(index % 2 === 0 ? { metadata: { note: 'a "quoted" \\ é' } } : {}),
        ...(groupId === undefined ? {} : { groupId }),
      })
    }),
    book.decide('bob', { atMs: SEED_START_MS + 5_000, amount: '0.000000000000000001' }),
    book.decide('carol:1', { atMs: SEED_START_MS + 5_000, amount: '999999999.50' }),
  ]
}

export function ledgerReadsContract(name: string, create: () => Promise<LedgerReadsSubject>): void {
  describe(`LedgerReads: ${name}`, () => {
    let subject: LedgerReadsSubject
    let book: Book
    beforeAll(async () => {
      subject = await create()
      book = createBook(subject.reads.shardOf, receiptSignatureOf)
      await subject.write(seed(book))
    })
    afterAll(() => subject.close())

    singleTests(() => ({ ...subject, book }))
    listTests(() => ({ ...subject, book }))
  })
}

type Seeded = LedgerReadsSubject & { readonly book: Book }

function singleTests(seeded: () => Seeded): void {
  test('a transaction is shown as it was decided', async () => {
    const { reads, book } = seeded()
    for (const transaction of book.transactions) {
      expect(await reads.transaction(transaction.txnId)).toEqual(viewedAs(transaction))
    }
  })

  test('what is no transaction, or none that is there, is undefined', async () => {
    const { reads, book } = seeded()
    const existing = book.transactions[0]?.txnId ?? ''
    const unknown = ['', 'txn_', 'x', `${existing}0`, existing.toLowerCase(), `${existing.slice(0, -1)}!`, 'txn_\0']
    for (const txnId of [...unknown, 'txn_00000000000000000000000000', 'txn_7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
      expect(await reads.transaction(txnId)).toBeUndefined()
      expect(await reads.receipt(txnId)).toBeUndefined()
    }
  })

  test('a receipt is the signed payload, made anew, with the signature that was stored', async () => {
    const { reads, book, ledgerId } = seeded()
    for (const transaction of book.transactions) {
      const { receiptKeyId, receiptSignature } = receiptSignatureOf(transaction)
      expect(await reads.receipt(transaction.txnId)).toEqual({
        payload: receiptPayload(transaction, ledgerId, receiptKeyId),
        signature: receiptSignature,
      })
    }
  })

  test('an account is shown with its key and the tip of its chain', async () => {
    const { reads, book } = seeded()
    for (const accountId of ACCOUNTS) expect(await reads.account(accountId)).toEqual(viewOf(book.account(accountId)))
    for (const accountId of ['nobody', 'ALICE@BANK', '', '..', 'a\0b']) {
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
          balance: balance.balance.toFixed(),
          available: balance.balance.toFixed(),
          incoming: '0',
          decimals: 18,
          updatedAtMs: balance.updatedAtMs,
        })),
      )
    }
    expect(await reads.balances('Zoe')).toEqual([])
    expect((await reads.balances('bob'))?.[0]?.balance).toMatch(/^[1-9][0-9]*\.[0-9]{17}1$/)
    expect((await reads.balances('carol:1'))?.[0]?.balance).toMatch(/\.5$/)
  })

  test('accounts come by ID in code-unit order, each once, with the exact total', async () => {
    const { reads, book } = seeded()
    const sorted = [...ACCOUNTS].sort()
    for (const limit of [1, 2, 5, 6, 100]) {
      const seen: unknown[] = []
      let after: string | null = null
      do {
        const page = await reads.accounts(after, limit)
        expect(page.accounts.length).toBeLessThanOrEqual(limit)
        expect(page.total).toBe(ACCOUNTS.length)
        seen.push(...page.accounts)
        after = page.next
      } while (after !== null)
      expect(seen).toEqual(sorted.map((accountId) => viewOf(book.account(accountId))))
    }
    expect(await reads.accounts('zzz', 10)).toEqual({ accounts: [], next: null, total: ACCOUNTS.length })
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
          tip = chainHash(tip, entry.payload)
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

  test('every account that was written has an owner for its shard', async () => {
    const { reads } = seeded()
    for (const accountId of ACCOUNTS) expect(await reads.shardOwned(accountId)).toBe(true)
  })
}

const FILTERS = fc.record<Partial<TransactionQuery>>(
  {
    accountId: fc.constantFrom(...ACCOUNTS, 'nobody'),
    createdFromMs: fc.integer({ min: 990, max: 1_090 }).map((ms) => SEED_START_MS + ms / 1.5),
    createdToMs: fc.integer({ min: 990, max: 8_000 }).map((ms) => SEED_START_MS + ms),
    type: fc.constantFrom('credit', 'debit', 'mint'),
    tokenId: fc.constantFrom('BASE', 'base', 'USD'),
    tokenClass: fc.constantFrom('fungible', 'nft'),
    groupId: fc.constantFrom(...GROUPS, randomUUID()),
    amountMin: fc.constantFrom('0', '0.5', '1', '3', '10.000000000000000001'),
    amountMax: fc.constantFrom('0.000000000000000001', '1', '9', '10', '999999999999999999'),
    status: fc.constantFrom('completed', 'failed', 'pending'),
    idempotencyKey: fc.constantFrom('key 0 0', 'key 5 155', 'key 3 3', 'none'),
  },
  { requiredKeys: [] },
)

function listTests(seeded: () => Seeded): void {
  /** In the order of the IDs, newest first. */
  function expected(query: TransactionQuery): readonly TransactionView[] {
    return seeded()
      .book.transactions.filter((transaction) => matches(transaction, query))
      .map(viewedAs)
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
        expect(pages.flatMap((page) => page.transactions)).toEqual(committed.map(viewedAs))
        for (const page of pages) {
          expect(page.next).not.toBeNull()
          expect(page.count).toBeNull()
        }
      }),
      { numRuns: 100 },
    )
  })

  test('counters give what a count would: everything, an account, a status, an account and a status', async () => {
    const { reads } = seeded()
    for (const accountId of [null, ...ACCOUNTS, 'nobody']) {
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
    for (const filter of [{ tokenId: 'a\0b' }, { idempotencyKey: '\0' }, { accountId: 'a\0b' }, { tokenClass: 'x' }]) {
      expect(await reads.transactions(aQuery(filter))).toEqual({
        transactions: [],
        next: null,
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
    expect(later.transactions).toEqual(book.transactions.slice(-2).map(viewedAs))
    const end = await reads.transactions(aQuery({ order: 'asc', after: later.next }))
    expect(end.transactions).toEqual([])
    expect(end.next).not.toBeNull()
  })
}
