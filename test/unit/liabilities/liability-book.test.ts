/** Tests that books of several threads can be appended without losing or mixing rows. */
import { expect, test } from 'vitest'
import { AMOUNT_BYTES } from '../../../runtime/liabilities/hashes.ts'
import {
  type BookPart,
  createFingerprint,
  FINGERPRINT_BYTES,
  LiabilityBook,
  memoryOf,
  UnreadableLiability,
} from '../../../infra/liabilities/liability-book.ts'

const SEED = Buffer.alloc(32, 3)

type Row = readonly [account: string, tokenId: string, units: bigint]

function bookOf(rows: readonly Row[], capacity = 20_000): LiabilityBook {
  const book = new LiabilityBook({ capacity, sharesEach: 2, seed: SEED })
  for (const [account, tokenId, units] of rows) book.add(Buffer.from(account), tokenId, units)
  return book
}

/** Simulates a transfer between threads: buffers arrive as plain byte arrays, and the sent ones are detached. */
function sent(book: LiabilityBook): BookPart {
  const part = book.part()
  return structuredClone(part, { transfer: memoryOf(part) })
}

function rowsOf(book: LiabilityBook): readonly Row[] {
  const target = Buffer.alloc(512)
  const fingerprint = createFingerprint(SEED)
  return Array.from({ length: book.rows }, (_, row) => {
    let units = 0n
    let account = ''
    for (let share = 0; share < book.sharesEach; share += 1) {
      const end = book.writeRecord(row, share, target, 0)
      account = target.toString('latin1', 1, end - AMOUNT_BYTES)
      units += (target.readBigUInt64BE(end - AMOUNT_BYTES) << 64n) | target.readBigUInt64BE(end - 8)
    }
    const kept = book.fingerprints.subarray(row * FINGERPRINT_BYTES, (row + 1) * FINGERPRINT_BYTES)
    expect(kept).toEqual(fingerprint(Buffer.from(account)))
    return [account, book.tokens[book.tokenOf[row] ?? 0] ?? '', units]
  })
}

const HERE: readonly Row[] = [
  ['alice', 'BASE', 5n],
  ['alice', 'GOLD', 1n << 100n],
]
const THERE: readonly Row[] = [
  ['bob', 'SILVER', 7n],
  ['bob', 'GOLD', 3n],
  ['carol', 'BASE', 2n],
]

test('rows of all books are there, under their tokens, and totals are added up', () => {
  const book = bookOf(HERE)
  book.append(sent(bookOf([['dave', 'SILVER', 1n]])))
  book.append(sent(bookOf(THERE)))
  book.append(sent(bookOf([])))
  book.add(Buffer.from('eve'), 'GOLD', 4n)
  expect(rowsOf(book)).toEqual([...HERE, ['dave', 'SILVER', 1n], ...THERE, ['eve', 'GOLD', 4n]])
  expect(Object.fromEntries(book.tokens.map((tokenId, number) => [tokenId, book.totals[number]]))).toEqual({
    BASE: 7n,
    GOLD: (1n << 100n) + 7n,
    SILVER: 8n,
  })
})

test('books of more than one piece of memory become one', () => {
  const long = 'x'.repeat(240)
  const many = (name: string): Row[] => Array.from({ length: 18_000 }, (_, row) => [`${long}${name}${row}`, 'BASE', 1n])
  const book = bookOf([...HERE, ...many('a')], 40_000)
  book.append(sent(bookOf(many('b'))))
  expect(rowsOf(book)).toEqual([...HERE, ...many('a'), ...many('b')])
})

test('more rows than were counted are refused', () => {
  const book = bookOf(HERE, 4)
  expect(() => book.append(bookOf(THERE).part())).toThrow(UnreadableLiability)
  book.append(bookOf(THERE.slice(1)).part())
  expect(book.rows).toBe(4)
})
