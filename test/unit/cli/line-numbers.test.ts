import { expect, test } from 'vitest'
import { withLineNumbers } from '../../../infra/cli/common/line-numbers.ts'

test.each([
  ['records[3].created_at: is no time', 'line 13, created_at: is no time'],
  ['records[3].created_at: line 13: is no time', 'line 13, created_at: is no time'],
  ['lines[9]: line 9: There is another.', 'line 9: There is another.'],
  ['records[0].line: is 7 where line 6 must be', 'line 10, line: is 7 where line 6 must be'],
  ['a pipeline 5 meters long', 'a pipeline 5 meters long'],
])('%s', (message, expected) => {
  expect(withLineNumbers(message, 10)).toBe(expected)
})
