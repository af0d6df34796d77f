import { expect, test } from 'vitest'
import { prefers } from '../../../../api/http/accept.ts'

const LINES = 'application/x-ndjson'
const JSON_TYPE = 'application/json'

test.for([
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/*', false],
  ['application/json', false],
  ['text/html', false],
  ['text/html, */*;q=0.1', false],
  ['application/x-ndjsonx', false],
  [LINES, true],
  ['Application/X-NDJSON', true],
  [`${LINES}; charset=utf-8`, true],
  // Lines, and a range that also matches.
  [`${LINES}, */*`, true],
  [`${LINES}, application/*`, true],
  [`${LINES}, */*;q=0.8`, true],
  [`${LINES};q=0.5, */*;q=0.4`, true],
  [`${LINES}, application/json;q=0.9`, true],
  [`application/json; q=0.9 ,${LINES} ; q=0.95`, true],
  // Another type is preferred, or has the same weight.
  [`${LINES}, application/json`, false],
  [`application/json, ${LINES}`, false],
  [`${LINES};q=0.4, */*;q=0.5`, false],
  [`${LINES};q=0.5, application/json;q=0.6`, false],
  // The more precise range counts.
  [`${LINES};q=0.5, application/json;q=0.1, */*`, true],
  [`${LINES};q=0.5, application/*;q=0.1, */*`, true],
  // A weight of zero, or an invalid weight.
  [`${LINES};q=0`, false],
  [`${LINES};q=0.000`, false],
  [`${LINES};q=2`, false],
  [`${LINES};q=x`, false],
] as const)('Accept %j prefers lines: %s', ([accept, expected]) => {
  expect(prefers(accept, LINES, JSON_TYPE)).toBe(expected)
})
