/** The scene for the contract of reads: a small ledger, and the expected results of queries. */
import { createHash, randomUUID } from 'node:crypto'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { parseQuantity } from '../../../actors/money.ts'
import { isNft } from '../../../actors/nft-id.ts'
import type {
  LedgerReads,
  TransactionPage,
  TransactionQuery,
  TransactionView,
} from '../../../runtime/ports/ledger-reads.ts'
import type { ReceiptWrite } from '../../../runtime/ports/ledger-store.ts'
import { NFT_ID } from '../../support/postgres/ledger-rows-nfts.ts'
import { legHold, tokenState } from '../../support/postgres/ledger-rows-values.ts'
import type { Book, ShardSeed } from './ledger-reads-rows.ts'

export interface LedgerReadsSubject {
  readonly reads: LedgerReads
  readonly ledgerId: string
  readonly shardOf: (accountId: string) => number
  /** Commits each of them by itself, in order. */
  readonly write: (seeds: readonly ShardSeed[]) => Promise<void>
  readonly close: () => Promise<void>
}

export const SEED_START_MS = 1_790_000_000_000

/** The subject, and the book that everything it holds is in. */
export type Seeded = LedgerReadsSubject & { readonly book: Book }

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
    // The end of a feed goes on as anything commits, here or in another database of the same server.
    const isEnd = query.order === 'asc' && page.ended && page.transactions.length === 0
    if (page.next === null || isEnd) return pages
    after = page.next
  }
}

export function receiptSignatureOf(transaction: Transaction): ReceiptWrite {
  return { keyId: 'receipt-key', signature: createHash('sha256').update(transaction.txnId).digest('base64') }
}

/** As it is by now. */
export function viewedBy({ compensatedBy, refunded }: Book): (transaction: Transaction) => TransactionView {
  return (transaction) => {
    const { txnId, accountId, shardId, type, amount, tokenId, groupId, status, failure, origin, metadata } = transaction
    const { toAccountId, fromAccountId, receive, compensates, refunds, createdAtMs, processedAtMs, auditHash, entry } =
      transaction
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
      toAccountId,
      fromAccountId,
      receive,
      compensates,
      compensatedBy: compensatedBy.get(txnId) ?? null,
      refunds,
      refunded: refunded.get(txnId) ?? null,
      createdAtMs,
      processedAtMs,
      auditHash,
      entry,
    }
  }
}

export function matches(transaction: Transaction, query: TransactionQuery): boolean {
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
    (query.tokenClass === null || query.tokenClass === (isNft(transaction.tokenId) ? 'nft' : 'fungible')) &&
    (query.createdFromMs === null || transaction.createdAtMs >= query.createdFromMs) &&
    (query.createdToMs === null || transaction.createdAtMs < query.createdToMs) &&
    (query.amountMin === null || quantity >= parseQuantity(query.amountMin)) &&
    (query.amountMax === null || quantity <= parseQuantity(query.amountMax))
  )
}

export const ACCOUNTS = ['alice@bank', 'bob', 'carol:1', 'dave.x', 'erin-y', 'Zoe']
export const GROUPS = [randomUUID(), randomUUID()]
const TRANSACTIONS = 240

/** Every combination of fields turns up; several transactions share a millisecond; some are pending, some were. */
export function seed(book: Book): readonly ShardSeed[] {
  const opened = ACCOUNTS.map((accountId, index) => book.open(accountId, SEED_START_MS + index))
  const amounts = ['1', '0.5', '10', '9', '100.000000000000000001', '999999999999999999.999999999999999999', '2.50']
  const decided = Array.from({ length: TRANSACTIONS }, (_, index) => {
    const groupId = GROUPS[index % 9]
    return book.decide(ACCOUNTS[index % (ACCOUNTS.length - 1)] ?? '', {
      atMs: SEED_START_MS + 1_000 + Math.floor(index / 3),
      type: index % 4 === 0 ? 'debit' : 'credit',
      amount: index % 5 === 4 ? '3' : (amounts[index % 3] ?? '1'),
      failed: index % 7 === 3,
      idempotencyKey: `key ${index % 50} ${index}`,
      ...(index % 2 === 0 ? { metadata: { note: 'a "quoted" \\ é' } } : {}),
      ...(index % 3 === 0 ? { toAccountId: 'elsewhere' } : {}),
      ...(index % 6 === 1 ? { fromAccountId: 'elsewhere' } : {}),
      ...(index % 10 === 7 ? { compensates: `txn_${index}` } : {}),
      ...(index % 10 === 8 ? { refunds: `txn_${index}` } : {}),
      ...(groupId === undefined ? {} : { groupId }),
    })
  })
  return [
    ...opened,
    ...decided,
    book.decide('bob', { atMs: SEED_START_MS + 5_000, amount: '0.000000000000000001' }),
    book.decide('carol:1', { atMs: SEED_START_MS + 5_000, amount: '999999999.50' }),
    ...seedUnfinished(book),
    ...seedNfts(book),
  ]
}

/** Transactions that move NFTs, final ones and pending ones, in groups and alone, legs of groups among them. */
function seedNfts(book: Book): readonly ShardSeed[] {
  const decided = Array.from({ length: 12 }, (_, index) => {
    const type = (['mint', 'transfer', 'credit', 'burn'] as const)[index % 4] ?? 'mint'
    const groupId = GROUPS[index % 5]
    return book.decide(index % 2 === 0 ? 'carol:1' : 'bob', {
      atMs: SEED_START_MS + 7_000 + Math.floor(index / 2),
      type,
      tokenId: index % 3 === 0 ? NFT_ID : `${NFT_ID}${index}`,
      failed: index % 5 === 4,
      idempotencyKey: `nft ${index}`,
      ...(groupId === undefined ? {} : { groupId }),
    })
  })
  const begun = Array.from({ length: 8 }, (_, index) =>
    book.pend('carol:1', {
      atMs: SEED_START_MS + 7_100 + index,
      type: 'transfer',
      tokenId: NFT_ID,
      groupId: GROUPS[0] ?? '',
      ...(index < 6 ? { leg: index } : {}),
    }),
  )
  const legs = book.transactions.slice(-8)
  const ends = legs
    .filter((_, index) => index % 3 === 0)
    .map(({ txnId }, index) => book.finish(txnId, { atMs: SEED_START_MS + 7_200 + index, failed: index === 1 }))
  return [...decided, ...begun, ...ends]
}

/** Pending ones among final ones, and holds that are no transactions. */
function seedUnfinished(book: Book): readonly ShardSeed[] {
  const held = { atMs: SEED_START_MS + 5_000, amount: '400', tokenId: 'EUR' }
  const token = book.put(tokenState({ status: 'active' }))
  const funded = ['alice@bank', 'bob', 'erin-y'].map((accountId) => book.decide(accountId, held))
  const begun = Array.from({ length: 40 }, (_, index) =>
    book.pend(index % 2 === 0 ? 'alice@bank' : 'bob', {
      atMs: SEED_START_MS + 5_001 + Math.floor(index / 2),
      type: index % 4 < 2 ? 'transfer' : 'exchange',
      amount: index % 3 === 0 ? '3' : '1.50',
      tokenId: 'EUR',
      idempotencyKey: `pending ${index}`,
      groupId: GROUPS[index % 4] ?? randomUUID(),
      toAccountId: 'elsewhere',
      ...(index % 4 < 2 ? {} : { receive: { tokenId: 'USD', amount: '0.000000000000000001' } }),
    }),
  )
  const pending = book.transactions.filter(({ status }) => status === 'pending')
  const ends = pending
    .filter((_, index) => index % 5 < 3)
    .map(({ txnId }, index) => book.finish(txnId, { atMs: SEED_START_MS + 6_000 + index, failed: index % 4 === 0 }))
  const undone = book.transactions
    .filter(({ status }, index) => status === 'completed' && index % 20 === 0)
    .map(({ txnId }) => book.compensate(txnId, `txn_undoes_${txnId}`))
  const legs = [0, 1].map((leg) => legHold({ leg, terms: { ...legHold().terms, accountId: 'bob' } }))
  const kept = book.keep('bob', {}, ...legs, { kind: 'issue', tokenId: 'txnfish', totalSupply: '1' })
  return [token, ...funded, ...begun, ...ends, ...undone, kept]
}

/** All pages, from the first. Throws for a list that does not end. */
export async function pagesOf<Page extends { readonly next: Next | null }, Next>(
  read: (after: Next | null) => Promise<Page | undefined>,
): Promise<readonly Page[]> {
  const pages: Page[] = []
  let after: Next | null = null
  do {
    const page: Page | undefined = await read(after)
    if (page === undefined || pages.length > 1_000) throw new Error('the list does not end')
    pages.push(page)
    after = page.next
  } while (after !== null)
  return pages
}
