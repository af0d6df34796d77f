/** Text that the ledger or a file chose reaches the terminal escaped, and JSON keeps its value. */
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'
import { ledgerUser } from './replying-ledger.ts'

const HOSTILE = 'x\u009b2J\u202e'
const UNSAFE = /[^\n -~]/

test('ledger tx show --receipt prints the same JSON without control characters', async () => {
  const receipt = { receipt: { txn_id: 'txn_1', metadata: { note: HOSTILE } }, signature: 's' }
  const { run } = await ledgerUser({ '/v1/transactions/txn_1/receipt': receipt })
  const { code, out } = await run('tx', 'show', 'txn_1', '--receipt')
  expect([code, JSON.parse(out)]).toEqual([0, receipt])
  expect(out).not.toMatch(UNSAFE)
})

test('errors that quote a file have no control characters', async () => {
  const { run, write } = commandLine()
  const key = { title: `Refused ${HOSTILE}`, status: 403, detail: `why\n${HOSTILE}` }
  const file = write('key.json', key)
  const { code, err } = await run(['export', 'alice', '--recipient-key', file, '--requester', 'me', '--out', 'out'])
  expect([code, err]).toEqual([1, expect.stringContaining('Refused x\\u{9b}2J\\u{202e}: why\\u{a}x')])
  expect(err).not.toMatch(UNSAFE)
})

test('ledger sign prints the same order without control characters', async () => {
  const { run } = commandLine()
  await run(['keygen', '--out', 'key.pem'])
  const { out } = await run(['sign', '--key', 'key.pem'], JSON.stringify({ note: HOSTILE }))
  expect(out).not.toMatch(UNSAFE)
  expect(JSON.parse(out)).toMatchObject({ note: HOSTILE })
})
