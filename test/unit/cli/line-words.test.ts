import { expect, test } from 'vitest'
import { inLineNames } from '../../../infra/cli/common/line-words.ts'

test.each([
  ['line 6 was cut off: it has no end', 'line 6 (counted from 0) was cut off: it has no end'],
  ['records[3].created_at: is no time', 'line 13 (counted from 0), created_at: is no time'],
  ['records[3].created_at: line 13: is no time', 'line 13 (counted from 0), created_at: is no time'],
  ['lines[9]: line 9: There is another.', 'line 9 (counted from 0): There is another.'],
  [
    'is 7 where line 6 must be: line 6 is missing',
    'is 7 where line 6 (counted from 0) must be: line 6 (counted from 0) is missing',
  ],
  ['line 4 (counted from 0) is no record', 'line 4 (counted from 0) is no record'],
  ['a pipeline 5 meters long', 'a pipeline 5 meters long'],
])('%s', (message, named) => {
  expect(inLineNames(message, 10)).toBe(named)
})
