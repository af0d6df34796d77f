/** W1 to W3 of api/endpoint/scan.ts: pages of the rows that a client may see, among rows that it may not see. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Scan, type ScannedPage, scanPage, SCANNED_ROWS } from '../../../../api/endpoint/scan.ts'

interface Row {
  readonly number: number
  readonly mine: boolean
}

/** A list of rows; the client may see those that are `mine`. */
function listOf(mine: readonly boolean[], { feed = false } = {}) {
  const rows: Row[] = mine.map((own, number) => ({ number, mine: own }))
  const asked: number[] = []
  const scan: Scan<Row, string> = {
    read: async (after, limit) => {
      asked.push(limit)
      const start = after === null ? 0 : Number(after.slice('behind '.length))
      const part = rows.slice(start, start + limit)
      const end = start + part.length
      const ended = end === rows.length
      return { rows: part, next: ended && !feed ? null : `behind ${end}`, ...(feed ? { ended } : {}) }
    },
    shown: (read) => read.filter((row) => row.mine),
  }
  return { scan, rows, asked }
}

test('W2: the pages hold each visible row once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), async (mine, limit) => {
      const { scan, rows } = listOf(mine)
      const seen: Row[] = []
      let after: string | null = null
      do {
        const page: ScannedPage<Row, string> = await scanPage(scan, { after, limit, counted: false })
        expect(page.rows.length).toBeLessThanOrEqual(limit)
        seen.push(...page.rows)
        after = page.next
      } while (after !== null)
      expect(seen).toEqual(rows.filter((row) => row.mine))
    }),
  )
})

test('W1: a request reads a bounded number of rows, and returns the next cursor even without a visible row', async () => {
  const far = SCANNED_ROWS + 10
  const { scan, asked } = listOf(Array.from({ length: far + 1 }, (_, number) => number === far))
  const first = await scanPage(scan, { after: null, limit: 5, counted: true })
  expect(first).toEqual({ rows: [], next: `behind ${SCANNED_ROWS}`, count: { total: 0, exact: false } })
  expect(asked.reduce((sum, limit) => sum + limit, 0)).toBe(SCANNED_ROWS)
  const second = await scanPage(scan, { after: first.next, limit: 5, counted: false })
  expect(second).toEqual({ rows: [{ number: far, mine: true }], next: null, count: null })
})

test('W3: the count is exact within the bound, and the next page starts behind the last row shown', async () => {
  const { scan } = listOf(Array.from({ length: 3_000 }, (_, number) => number % 3 === 0))
  const page = await scanPage(scan, { after: null, limit: 2, counted: true })
  expect(page.rows.map(({ number }) => number)).toEqual([0, 3])
  expect(page.next).toBe('behind 4')
  expect(page.count).toEqual({ total: 1_000, exact: true })
})

test('W3: beyond the bound the count is a lower bound', async () => {
  const { scan } = listOf(Array.from({ length: SCANNED_ROWS + 1 }, () => true))
  const page = await scanPage(scan, { after: null, limit: 10, counted: true })
  expect(page.count).toEqual({ total: SCANNED_ROWS, exact: false })
  expect(page.rows).toHaveLength(10)
})

test('a client that sees every row costs one read', async () => {
  const { scan, asked } = listOf(Array.from({ length: 500 }, () => true))
  expect((await scanPage(scan, { after: null, limit: 100, counted: false })).next).toBe('behind 100')
  expect(asked).toEqual([100])
})

test('a feed returns a next cursor also at its end, with an exact count', async () => {
  const { scan } = listOf([true, false, true, false], { feed: true })
  const whole = await scanPage(scan, { after: null, limit: 10, counted: true })
  expect(whole).toEqual({
    rows: [
      { number: 0, mine: true },
      { number: 2, mine: true },
    ],
    next: 'behind 4',
    count: { total: 2, exact: true },
  })
  expect(await scanPage(scan, { after: 'behind 4', limit: 10, counted: false })).toMatchObject({
    rows: [],
    next: 'behind 4',
  })
})

test('W3: a feed whose filter cut a read short has not ended, and its count is a lower bound', async () => {
  const scan: Scan<Row, string> = {
    read: () => Promise.resolve({ rows: [{ number: 1, mine: true }], next: 'later', ended: false }),
    shown: (rows) => rows,
  }
  const page = await scanPage(scan, { after: null, limit: 10, counted: true })
  expect([page.next, page.count]).toEqual(['later', { total: 1, exact: false }])
})

test('the page ends where the list returns fewer rows than asked for', async () => {
  const reads: number[] = []
  const scan: Scan<Row, string> = {
    read: async (_, limit) => {
      reads.push(limit)
      return { rows: [{ number: 1, mine: true }], next: 'later' }
    },
    shown: (rows) => rows,
  }
  const page = await scanPage(scan, { after: null, limit: 10, counted: true })
  expect([page.rows.length, page.next, page.count]).toEqual([1, 'later', { total: 1, exact: false }])
  expect(reads).toEqual([10])
})

test('W2: rows that arrive between two reads do not make a page too long', async () => {
  const late: Row[] = [0, 2, 4, 6].map((number) => ({ number, mine: number > 0 }))
  const scan: Scan<Row, string> = {
    read: async (_, limit) => {
      const rows = late.slice(0, limit)
      if (late.length < 20) late.unshift({ number: -late.length, mine: true })
      return { rows, next: 'more' }
    },
    shown: (rows) => rows.filter((row) => row.mine),
    bound: 40,
  }
  const page = await scanPage(scan, { after: null, limit: 2, counted: false })
  expect(page.rows.length).toBeLessThanOrEqual(2)
})
