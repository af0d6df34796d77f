/** Only a start on a release of Node.js without security fixes prints a warning. */
import { expect, test } from 'vitest'
import { endOfSupport } from '../../../infra/system/node-release.ts'

const NOW_MS = Date.UTC(2026, 10, 27)

test.each([
  ['20.20.2', '2026-04-30'],
  ['25.1.0', '2026-06-01'],
  ['22.23.3', undefined],
  ['26.0.0', undefined],
  ['99.0.0', undefined],
])('%s', (version, day) => expect(endOfSupport(version, NOW_MS)).toBe(day))

test('support ends with its last day', () => {
  const last = Date.parse('2027-05-01') - 1
  expect(endOfSupport('22.0.0', last)).toBeUndefined()
  expect(endOfSupport('22.0.0', last + 1)).toBe('2027-04-30')
})
