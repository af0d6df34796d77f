/** A hold that is created again with its key must be the same order: its expiry may not be relative then. */
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const { run } = commandLine()
const CREATE = ['hold', 'create', 'alice', 'shop', '5']

test.each([
  [[], 'give --expires-in or --expires-at'],
  [['--expires-in', '7d', '--expires-at', '2030-01-01T00:00:00Z'], 'give --expires-in or --expires-at'],
  [['--expires-in', '7d', '--idempotency-key', 'k'], 'with --idempotency-key give --expires-at'],
  [['--expires-in', '7 days'], 'It must be a number of minutes, hours or days, such as 30m, 12h or 7d.'],
])('wrong usage exits with 2: ledger hold create alice shop 5 %j', async (args, message) => {
  const { code, err } = await run([...CREATE, ...args])
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})
