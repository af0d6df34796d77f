/** The texts of the ledger's log: proofs, for which the client waits, the head and the key. */
import { expect, test } from 'vitest'
import { LedgerClient } from '../../../api/client/index.ts'
import { type Answer, fakeLedger, problem, tokens } from './fake-ledger.ts'

const PENDING = () => problem(404, 'ERR_NOT_FOUND', {}, { 'retry-after': '1' })

function opened(...answers: readonly Answer[]) {
  const fake = fakeLedger([tokens('1'), ...answers])
  return { ...fake, ledger: new LedgerClient(fake.options) }
}

test('a proof is waited for until the log has the entry', async () => {
  const { ledger, sent, slept } = opened(PENDING(), PENDING(), new Response('a proof'))
  expect(await ledger.receiptLogProof('txn_1')).toBe('a proof')
  expect(slept).toEqual([1_000, 1_000])
  expect(sent.slice(1).map(({ path, headers }) => [path, headers.get('accept'), headers.get('authorization')])).toEqual(
    Array.from({ length: 3 }, () => ['/v1/transactions/txn_1/receipt?proof=log', 'text/plain', 'Bearer access-1']),
  )
})

test('the wait for a proof ends in time', async () => {
  const { ledger, slept } = opened(PENDING(), PENDING(), PENDING())
  const waiting = ledger.logProof('a:b', 7, { timeoutMs: 1_500 })
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_WAIT_TIMEOUT', message: expect.stringMatching(/1500 ms/) })
  expect(slept).toEqual([1_000, 1_000])
})

test('a proof of an entry that does not exist is not waited for', async () => {
  const { ledger, sent, slept } = opened(problem(404, 'ERR_NOT_FOUND'))
  await expect(ledger.logProof('a:b', 7)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect([sent[1]?.path, slept]).toEqual(['/v1/accounts/a%3Ab/audit-chain/7/proof', []])
})

test('the head and the key of the log need no token', async () => {
  const { options, sent } = fakeLedger([new Response('a head\n'), new Response('a+key\n')])
  const ledger = new LedgerClient(options)
  expect([await ledger.logHead(), await ledger.logVerifierKey()]).toEqual(['a head\n', 'a+key'])
  expect(sent.map(({ path, headers }) => [path, headers.get('authorization')])).toEqual([
    ['/log/checkpoint', null],
    ['/log/key', null],
  ])
})
