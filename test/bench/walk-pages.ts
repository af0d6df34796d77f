/** Tokens of pages deep in a list. */
import { type LedgerClient, textOf } from '../support/client.ts'

export interface DeepPages {
  /** A token each; empty, which is the first page, where there are no more. */
  readonly second: string
  /** Of the page that was asked for, or else of the last before it. */
  readonly deep: string
  readonly deepNumber: number
  /** null: it was not looked for. */
  readonly last: string | null
}

export interface WalkOptions {
  readonly pageSize: number
  readonly deep: number
  /** Reads the whole list. */
  readonly toTheEnd?: boolean
}

/** The largest that the interface gives. */
const STRIDE = 1_000

/** `path`: without a query. A token holds for any page size. */
export async function walkPages(
  client: LedgerClient,
  path: string,
  { pageSize, deep, toTheEnd = true }: WalkOptions,
): Promise<DeepPages> {
  const after = async (token: string, size: number): Promise<string> =>
    textOf(await client.read(`${path}?page_size=${size}&page_token=${encodeURIComponent(token)}`), 'next_page_token')
  /** Goes on from a page until there are no more, or so many have passed. */
  const walk = async (from: string, size: number, most: number): Promise<{ last: string; passed: number }> => {
    let last = from
    for (let passed = 0; passed < most; passed += 1) {
      const next = await after(last, size)
      if (next === '') return { last, passed }
      last = next
    }
    return { last, passed: most }
  }
  const second = await after('', pageSize)
  const reached = await walk('', pageSize, deep - 1)
  if (!toTheEnd) return { second, deep: reached.last, deepNumber: reached.passed + 1, last: null }
  const stride = await walk(reached.last, STRIDE, Number.POSITIVE_INFINITY)
  const { last } = await walk(stride.last, pageSize, Number.POSITIVE_INFINITY)
  return { second, deep: reached.last, deepNumber: reached.passed + 1, last }
}
