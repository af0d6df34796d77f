/** Goal: every text of a commit is found where its column says it is, however long they all are. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { CommitTexts } from '../../../infra/postgres/commit-texts.ts'

/** As `substring(… FROM … FOR …)` reads it. */
function read(parameter: string, at: number | null | undefined, bytes: number | null | undefined): Buffer | null {
  if (at === null || at === undefined || bytes === null || bytes === undefined) return null
  return Buffer.from(parameter, 'base64').subarray(at - 1, at - 1 + bytes)
}

test.for([
  ['few short ones', [3, 0, 17]],
  ['more than fit at first', [400_000, 700_000, 5, 1_500_000]],
  ['few after many', [1, 2]],
])('%s', ([, sizes]) => {
  const texts = new CommitTexts()
  const columns = [(sizes as number[]).map((size) => randomBytes(size)), [randomBytes(9)]]
  const places = columns.map((column) => texts.add(column))
  const parameter = texts.parameter()
  for (const [column, given] of columns.entries()) {
    const [at, bytes] = places[column] ?? [[], []]
    expect(given.map((text, row) => read(parameter, at[row], bytes[row])?.equals(text))).toEqual(given.map(() => true))
  }
})

test('where there is none it is nowhere', () => {
  const texts = new CommitTexts()
  expect(texts.add([null, Buffer.from('a'), null])).toEqual([
    [null, 1, null],
    [null, 1, null],
  ])
  expect(texts.parameter()).toBe(Buffer.from('a').toString('base64'))
})
