/** A verified receipt or chain is looked for in the log, and the finding says which witnesses saw it, and what is open. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { LedgerError } from '../../../api/client/index.ts'
import type { Finding } from '../../../api/console/proofs/finding.ts'
import { withLog } from '../../../api/console/proofs/log-finding.ts'
import { witnessedLog } from '../../support/log/witnessed-log.ts'

const HASHES = ['0', '1', '2'].map((digit) => `sha256:${digit.repeat(64)}`)
const [, HASH = ''] = HASHES
const log = await witnessedLog(HASHES)
const KEY = log.keyLines.split('\n')[0]?.replace('log ', '') ?? ''
const VERIFIED: Finding = { outcome: 'verified', proved: ['The receipt.'], unproved: ['The keys.'] }
const PLACE = 'The log example.com/ledger has it in place 1 of 3, counted from 0.'

async function found(proof: string, policy = ''): Promise<Finding> {
  return withLog(VERIFIED, { auditHash: HASH, policy, fetch: () => Promise.resolve({ proof, logKey: KEY }) })
}

test('with a policy, the place in the log and the witnesses are proved', async () => {
  expect(await found(await log.proof(1, ['w1', 'w3']), log.policy)).toEqual({
    outcome: 'verified',
    proved: ['The receipt.', PLACE, 'Of the witnesses of your policy, w1, w3 signed this log.'],
    unproved: ['The keys.'],
  })
})

test('without a policy, no witness is believed by its name', async () => {
  const { outcome, proved, unproved } = await found(await log.proof(1, ['w1', 'w3']))
  expect([outcome, proved]).toEqual(['verified', ['The receipt.', PLACE]])
  expect(unproved).toEqual([
    'The keys.',
    expect.stringMatching(
      /same log: it has signatures in the names of witness.example\/w1, witness.example\/w3, whose keys/,
    ),
  ])
})

test.for([
  ['', 'the policy of the ledger'],
  [`${log.keyLines}\nquorum none`, 'a policy that asks for none'],
])('without a witness, that is said: %#', async ([policy]) => {
  const { outcome, unproved } = await found(await log.proof(1, []), policy)
  expect([outcome, unproved.at(-1)]).toEqual([
    'verified',
    'That the ledger shows everyone this same log: no witness signed it.',
  ])
})

test('the proof of another entry is tampered with, and the receipt with it', async () => {
  const other = await found(await log.proof(2, ['w1', 'w3']), log.policy)
  expect(other).toMatchObject({
    outcome: 'tampered',
    proved: [],
    problem: expect.stringMatching(/^The proof of the log: /),
  })
  expect(await found('no proof')).toMatchObject({ outcome: 'tampered' })
})

test('too few witnesses, another log and a malformed policy prove nothing', async () => {
  const proof = await log.proof(1, ['w2'])
  const other = (await witnessedLog(HASHES, 'example.com/other')).policy
  for (const [policy, problem] of [
    [log.policy, 'too few witnesses'],
    [other, 'does not name the log example.com/ledger'],
    ['quorum any', 'The policy: line 1: any is not defined above.'],
  ] as const) {
    expect(await found(proof, policy)).toMatchObject({ outcome: 'unproved', problem: expect.stringContaining(problem) })
  }
})

test.for([
  ['ERR_WAIT_TIMEOUT', /does not have it yet/],
  ['ERR_NOT_FOUND', /gives no proof/],
] as const)('a proof that the ledger does not give is missing, and said so: %s', async ([code, sentence]) => {
  const fetch = () => Promise.reject(new LedgerError('', { codes: [code], outcome: undefined }))
  expect(await withLog(VERIFIED, { auditHash: HASH, policy: '', fetch })).toEqual({
    ...VERIFIED,
    unproved: ['The keys.', expect.stringMatching(sentence)],
  })
})

test('a failure to reach the ledger is one of the check', async () => {
  const error = new LedgerError('The ledger does not respond.', { codes: ['ERR_UNREACHABLE'], outcome: undefined })
  const check = withLog(VERIFIED, { auditHash: HASH, policy: '', fetch: () => Promise.reject(error) })
  await expect(check).rejects.toThrow('does not respond')
})

test('a browser without Ed25519 does not call the log tampered', async () => {
  const proof = await log.proof(1, ['w1', 'w2'])
  vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('', 'NotSupportedError'))
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await found(proof)).toMatchObject({
    outcome: 'verified',
    unproved: ['The keys.', expect.stringMatching(/Ed25519/)],
  })
})

test('nothing is asked for what does not verify', async () => {
  const broken: Finding = { outcome: 'tampered', problem: 'Broken.', proved: [], unproved: [] }
  const fetch = () => Promise.reject(new Error('asked'))
  expect(await withLog(broken, { auditHash: HASH, policy: '', fetch })).toBe(broken)
})
