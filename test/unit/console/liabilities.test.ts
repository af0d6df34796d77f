/** The proof of liabilities on an account's page: a changed one, one of another account or amount, and one without a token. */
import { describe, expect, test } from 'vitest'
import type { KeySet, LiabilityProof } from '../../../api/client/index.ts'
import { liabilityFinding } from '../../../api/console/proofs/liability-finding.ts'
import { exampleOf } from './signed-receipts.ts'

const keySet = exampleOf<KeySet>('getKeySet', 'keys')
const proof = exampleOf<LiabilityProof>('getLiabilityProof', 'alice')
const { account_id: accountId, proofs, totals } = proof
const balances = proofs.map(({ token_id, amount }) => ({ token_id, balance: amount }))
const subject = { accountId, balances }

describe('the liabilities of an account', () => {
  test('verify with each of its tokens, and prove no assets', async () => {
    const empty = { token_id: 'UNUSED', balance: '0.00' }
    expect(await liabilityFinding(proof, keySet, { accountId, balances: [...balances, empty] })).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining([expect.stringContaining(`owed to ${accountId}`)]),
      unproved: expect.arrayContaining([expect.stringContaining('has assets for these liabilities')]),
    })
  })

  test('are tampered with if a sum differs', async () => {
    const [first, ...rest] = totals
    const changed = { ...proof, totals: [{ ...first, total: '1' }, ...rest] } as LiabilityProof
    expect(await liabilityFinding(changed, keySet, subject)).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('do not hash'),
    })
  })

  test('are tampered with if the proof is of another account', async () => {
    expect(await liabilityFinding(proof, keySet, { ...subject, accountId: 'other' })).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('this page is of other'),
    })
  })

  test('are not proved if an amount is not the balance of the account', async () => {
    const [first, ...rest] = balances
    const token = first?.token_id ?? ''
    for (const [given, problem] of [
      [[...balances, { token_id: 'MISSING', balance: '7' }], 'a balance of 7 MISSING, but its liabilities count 0.'],
      [[{ token_id: token, balance: '7' }, ...rest], `a balance of 7 ${token}, but`],
      [rest, `a balance of 0 ${token}, but`],
    ] as const) {
      expect(await liabilityFinding(proof, keySet, { accountId, balances: given })).toMatchObject({
        outcome: 'unproved',
        problem: expect.stringContaining(problem),
        proved: [],
      })
    }
  })

  test('are tampered with if a token has no leaf', async () => {
    const bare = proofs.map((one) => ({ ...one, amount: '0', shares: [] }))
    expect(await liabilityFinding({ ...proof, proofs: bare }, keySet, subject)).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('it has no share'),
    })
    expect(await liabilityFinding({ ...proof, totals: [] }, keySet, subject)).toMatchObject({ outcome: 'tampered' })
  })

  test('prove nothing without a token', async () => {
    const none = { ...proof, proofs: [] }
    expect(await liabilityFinding(none, keySet, { accountId, balances: [] })).toMatchObject({ outcome: 'unproved' })
  })
})
