/** Lists of the console, page by page. */
import { describe, expect, test } from 'vitest'
import type { ListPage } from '../../../api/console/parts/loaded.ts'
import { firstRows } from '../../../api/console/parts/search-pages.ts'

describe('a page of a list', () => {
  function listOf(...pages: readonly ListPage<string>[]) {
    const tokens: (string | undefined)[] = []
    const read = (token: string | undefined): Promise<ListPage<string>> => {
      tokens.push(token)
      return Promise.resolve(pages[tokens.length - 1] ?? { rows: [], next: 'on' })
    }
    return { read, tokens }
  }

  test('is the first with rows: empty pages before it are passed over', async () => {
    const { read, tokens } = listOf({ rows: [], next: '1' }, { rows: [], next: '2' }, { rows: ['a'], next: '3' })
    expect(await firstRows(read, undefined)).toEqual({ rows: ['a'], next: '3' })
    expect(tokens).toEqual([undefined, '1', '2'])
  })

  test('is empty if the list ends without rows', async () => {
    const { read, tokens } = listOf({ rows: [], next: '8' }, { rows: [], next: '' })
    expect(await firstRows(read, '7')).toEqual({ rows: [], next: '' })
    expect(tokens).toEqual(['7', '8'])
  })

  test('is empty, with a place to read on, after 20 empty pages', async () => {
    const { read, tokens } = listOf()
    expect(await firstRows(read, undefined)).toEqual({ rows: [], next: 'on' })
    expect(tokens).toHaveLength(20)
  })
})
