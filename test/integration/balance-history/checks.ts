/** Compares balances at a time and statements with books that were kept beside the ledger. */
import { expect } from 'vitest'
import type { ChainPlace, Movement, MovementsPage } from '../../../runtime/ports/ledger-reads.ts'
import { type Asset, type AuditedBooks, type Bookmark, decimalOf, DIGITS } from './bookkeeping.ts'

const ASSETS = Object.keys(DIGITS) as readonly Asset[]

/** Each balance at the bookmark is that of the books. */
export async function expectBalancesAt({ reads, accountIds }: AuditedBooks, { atMs, books }: Bookmark): Promise<void> {
  for (const accountId of accountIds) {
    const page = await reads.balancesAt(accountId, atMs, null, 10)
    const shown = page?.balances.map(({ tokenId, balance, available, incoming }) => [
      tokenId,
      balance,
      available,
      incoming,
    ])
    const expected = ASSETS.map((asset) => {
      const balance = decimalOf(books.get(`${accountId} ${asset}`) ?? 0n, asset)
      return [asset, balance, balance, '0']
    })
    expect(shown, `${accountId} at ${atMs}`).toEqual(expected)
    const one = await reads.balanceAt(accountId, 'GOLD', atMs)
    expect(one).toEqual(page?.balances.find(({ tokenId }) => tokenId === 'GOLD'))
  }
}

/** The statement between two bookmarks opens and closes with the books, and its movements add up. */
export async function expectStatement(
  kept: AuditedBooks,
  [from, to]: readonly [Bookmark, Bookmark],
  accountId: string,
  limit: number,
): Promise<number> {
  let movements = 0
  for (const asset of ASSETS) {
    const pages = await pagesOf(kept, { accountId, tokenId: asset, fromMs: from.atMs + 1, toMs: to.atMs + 1, limit })
    const name = `${accountId} ${asset}`
    expect(pages[0]?.opening.balance).toBe(decimalOf(from.books.get(name) ?? 0n, asset))
    expect(pages.at(-1)?.closing.balance).toBe(decimalOf(to.books.get(name) ?? 0n, asset))
    let [balance, sequence] = [unitsOf(pages[0]?.opening.balance ?? '', asset), pages[0]?.opening.sequence ?? -1]
    for (const { opening, closing, movements: ofPage } of pages) {
      expect(unitsOf(opening.balance, asset)).toBe(balance)
      for (const movement of ofPage) {
        expect(movement.sequence).toBeGreaterThan(sequence)
        expect(movement.atMs).toBeGreaterThan(from.atMs)
        expect(movement.atMs).toBeLessThanOrEqual(to.atMs)
        balance += changeOf(movement, asset)
        sequence = movement.sequence
        expect(unitsOf(movement.balanceAfter, asset)).toBe(balance)
      }
      expect(unitsOf(closing.balance, asset)).toBe(balance)
      movements += ofPage.length
    }
  }
  return movements
}

async function pagesOf(
  { reads }: AuditedBooks,
  asked: {
    readonly accountId: string
    readonly tokenId: string
    readonly fromMs: number
    readonly toMs: number
    readonly limit: number
  },
): Promise<readonly MovementsPage[]> {
  const pages: MovementsPage[] = []
  let after: ChainPlace | null = null
  do {
    const page: MovementsPage | null | undefined = await reads.movements({ ...asked, after })
    if (page === undefined || page === null) throw new Error('the account exists')
    pages.push(page)
    after = page.next
  } while (after !== null)
  return pages
}

function changeOf({ amount }: Movement, asset: Asset): bigint {
  const units = unitsOf(amount.slice(1), asset)
  return amount.startsWith('-') ? -units : units
}

function unitsOf(text: string, asset: Asset): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DIGITS[asset], '0'))
}
