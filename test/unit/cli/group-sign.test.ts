/** `ledger group` signs only for the named group, and a leg only under the hash of the legs that the ledger shows. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { termsHash } from '../../../api/client/index.ts'
import { type LedgerUser, ledgerUser } from './replying-ledger.ts'

const GROUP_ID = '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f'
const OTHER_HASH = `sha256:${'0'.repeat(64)}`
const LEGS = [
  { account_id: 'alice', type: 'debit', amount: '5', token_id: 'GOLD' },
  { account_id: 'bob', type: 'credit', amount: '5', token_id: 'GOLD' },
] as const
const TXN = { txn_id: 'txn_1', status: 'completed', created_at: '2030-01-01T00:00:00.000Z' }

/** The ledger shows these changes of a group. */
async function user(changes: object = {}): Promise<LedgerUser & { readonly hash: string }> {
  const hash = await termsHash({ groupId: GROUP_ID, legs: LEGS, timeoutSeconds: 900 })
  const shown = {
    group_id: GROUP_ID,
    status: 'open',
    terms_hash: hash,
    legs: LEGS.map((leg) => ({ ...leg, leg_status: 'expected' })),
    created_at: '2030-01-01T00:00:00.000Z',
    due_at: '2030-01-01T00:15:00.000Z',
    ...changes,
  }
  const replies = {
    [`/v1/settlement-groups/${GROUP_ID}`]: shown,
    '/v1/transactions': TXN,
    '/v1/transactions/txn_1': TXN,
  }
  return { ...(await ledgerUser(replies, ['alice'])), hash }
}

function signedLegs({ requests }: LedgerUser): readonly unknown[] {
  return requests.filter(([request]) => request === 'POST /v1/transactions').map(([, body]) => body)
}

test('the leg is signed with the hash of the shown terms', async () => {
  const given = await user()
  const { code, err } = await given.run('group', 'sign', GROUP_ID, 'alice', '--terms-hash', given.hash)
  expect([code, err]).toEqual([0, ''])
  expect(signedLegs(given)).toMatchObject([{ ...LEGS[0], group_id: GROUP_ID, terms_hash: given.hash }])
})

test('another hash than the agreed one is refused', async () => {
  const given = await user()
  const { code, err } = await given.run('group', 'sign', GROUP_ID, 'alice', '--terms-hash', OTHER_HASH)
  expect([code, err, signedLegs(given)]).toEqual([1, expect.stringContaining('the group has other terms'), []])
})

test.for([
  [
    'another amount',
    {
      legs: [
        { ...LEGS[0], amount: '500', leg_status: 'expected' },
        { ...LEGS[1], leg_status: 'expected' },
      ],
    },
  ],
  ['another time', { due_at: '2030-01-02T00:00:00.000Z' }],
  ['another group', { group_id: '00000000-2b1e-4c3d-8e9f-1a2b3c4d5e6f' }],
] as const)('the agreed hash beside %s is refused, with and without --terms-hash', async ([, changes]) => {
  const given = await user(changes)
  for (const agreed of [['--terms-hash', given.hash], []]) {
    const { code, err } = await given.run('group', 'sign', GROUP_ID, 'alice', ...agreed)
    expect([code, err, signedLegs(given)]).toEqual([1, expect.stringContaining('nothing was signed'), []])
  }
})

/** Registered by another program: the ledger shows neither the false boundary nor the memo, and BASE in both legs. */
const WRITTEN = [
  { account_id: 'alice', type: 'debit', amount: '5', boundary: false, memo: 'rent' },
  { account_id: 'bob', type: 'credit', amount: '5', token_id: 'BASE' },
] as const
const SHOWN = [
  { account_id: 'alice', type: 'debit', amount: '5', token_id: 'BASE', leg_status: 'expected' },
  { account_id: 'bob', type: 'credit', amount: '5', token_id: 'BASE', leg_status: 'expected' },
] as const

async function userOfWritten(legs: readonly object[] = SHOWN): Promise<LedgerUser & { readonly hash: string }> {
  const hash = await termsHash({ groupId: GROUP_ID, legs: WRITTEN, timeoutSeconds: 900 })
  return { ...(await user({ terms_hash: hash, legs })), hash }
}

function fileOf({ directory }: LedgerUser, value: unknown): string {
  const path = join(directory, 'terms.json')
  writeFileSync(path, JSON.stringify(value))
  return path
}

test('terms in a form that the ledger does not show are signed if --terms has them', async () => {
  const given = await userOfWritten()
  const refused = await given.run('group', 'sign', GROUP_ID, 'alice', '--terms-hash', given.hash)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('give the registered terms with --terms')])
  const file = fileOf(given, { legs: WRITTEN })
  const { code, err } = await given.run('group', 'sign', GROUP_ID, 'alice', '--terms', file)
  expect([code, err]).toEqual([0, ''])
  const { leg_status: _, ...leg } = SHOWN[0]
  expect(signedLegs(given)).toMatchObject([{ ...leg, group_id: GROUP_ID, terms_hash: given.hash }])
})

test.for([
  [
    'another leg than the file has',
    { legs: WRITTEN },
    [
      { ...SHOWN[0], amount: '500' },
      { ...SHOWN[1], amount: '500' },
    ],
  ],
  ['the hash of other legs', { legs: LEGS }, SHOWN],
  ['the hash of another time', { legs: WRITTEN, timeout_seconds: 60 }, SHOWN],
  ['no terms in the file', { legs: [] }, SHOWN],
] as const)('%s is refused with --terms', async ([, terms, shown]) => {
  const given = await userOfWritten(shown)
  const { code, err } = await given.run('group', 'sign', GROUP_ID, 'alice', '--terms', fileOf(given, terms))
  expect([code, signedLegs(given)]).toEqual([1, []])
  expect(err).toMatch(/other legs|other terms|no valid terms/)
})

test('another group than the one that is declined is refused', async () => {
  const given = await user({ group_id: '00000000-2b1e-4c3d-8e9f-1a2b3c4d5e6f' })
  const { code, err } = await given.run('group', 'decline', GROUP_ID, 'alice')
  expect([code, err]).toEqual([1, expect.stringContaining('in place of')])
  expect(given.requests.filter(([request]) => request.startsWith('POST'))).toEqual([])
})
