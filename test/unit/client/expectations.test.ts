/** A valid proof of something else than expected is not accepted, and a valid proof says what it states. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type Assertion,
  canonicalOrder,
  type ComplianceAssertion,
  type ProvenanceAssertion,
  type SettlementGroup,
  verifyAssertion,
  verifyChain,
  verifyLiabilityProof,
  verifyReceipt,
  verifyStatement,
  verifyTerms,
} from '../../../api/client/index.ts'
import { termsHash } from '../../../api/client/signing/settlement-terms.ts'
import { changed, exampleOf, provedExamples } from './interface-examples.ts'

const { keySet, receipt, failed, entries, statement, assertion, proof } = provedExamples()

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
const OWN_KEYS = { keys: [{ kid: 'own', purpose: 'assertion', x, y, nbf: 0 }] }

function signed<Signed extends Assertion>({ assertion_type, requester, result }: Omit<Signed, 'signature'>): Signed {
  const ours = { ...result, key_id: 'own' }
  const signature = sign('sha256', Buffer.from(canonicalOrder(ours)), privateKey).toString('base64')
  return { assertion_type, requester, result: ours, signature } as Signed
}

const SHARED = {
  as_of: '2030-01-01T00:00:00.000Z',
  generated_at: '2030-01-01T00:00:00.000Z',
  last_full_pass_at: null,
  requester: 'auditor',
  ledger_id: keySet.ledger_id,
  key_id: 'own',
}
const controls = [
  { name: 'chains', passed: true, checked: 5, failed: 0 },
  { name: 'conservation', passed: false, checked: 5, failed: 1 },
]

function compliance(compliant: boolean): ComplianceAssertion {
  const assertion_type = 'proof-of-compliance'
  const found = compliant ? controls.slice(0, 1) : controls
  const result = { ...SHARED, assertion_type, compliant, frameworks: [], controls: found } as const
  return signed<ComplianceAssertion>({ assertion_type, requester: 'auditor', result })
}

function provenance(provenance_valid: boolean): ProvenanceAssertion {
  const assertion_type = 'proof-of-provenance'
  const result = { ...SHARED, assertion_type, assets_verified: 3, provenance_valid } as const
  return signed<ProvenanceAssertion>({ assertion_type, requester: 'auditor', result })
}

describe('a valid receipt', () => {
  const { txn_id, account_id, amount, ledger_id } = receipt.receipt

  test('is accepted if it has the expected members', async () => {
    const expected = { txn_id, account_id, amount, ledger_id, status: 'completed' } as const
    expect(await verifyReceipt(receipt, keySet, { expected })).toMatchObject({ ok: true })
  })

  test.for([
    ['txn_id', 'txn_other'],
    ['account_id', 'mallory'],
    ['amount', '1'],
    ['ledger_id', 'another'],
    ['to_account_id', 'bob'],
  ] as const)('of another %s than expected is not accepted', async ([member, value]) => {
    expect(await verifyReceipt(receipt, keySet, { expected: { [member]: value } })).toMatchObject({
      ok: false,
      reason: 'unexpected',
      problem: expect.stringMatching(`^its ${member} is .*, not "${value}"$`),
    })
  })

  test('of a failed transaction says so, and is not one that is expected to be completed', async () => {
    const verdict = await verifyReceipt(failed, keySet)
    const text = `is failed: ${failed.receipt.type} of ${failed.receipt.amount} `
    const reason = ` (${failed.receipt.failure?.code}).`
    expect(verdict).toMatchObject({ ok: true, proved: [expect.stringContaining(text)] })
    expect(verdict).toMatchObject({ proved: [expect.stringContaining(reason)] })
    expect(await verifyReceipt(failed, keySet, { expected: { status: 'completed' } })).toMatchObject({
      reason: 'unexpected',
      problem: 'its status is "failed", not "completed"',
    })
  })

  test('is tampered, not unexpected, if its signature does not verify', async () => {
    const verdict = await verifyReceipt(changed(receipt, 'receipt.amount', '9'), keySet, { expected: { amount: '9' } })
    expect(verdict).toMatchObject({ reason: 'tampered' })
  })
})

describe('a valid statement', () => {
  test('is accepted for its own account, token and times, written in any offset', async () => {
    const { account_id, token_id, from, to } = statement
    const hourLater = new Date(Date.parse(to) + 3_600_000).toISOString().replace('Z', '+01:00')
    const expected = { account_id, token_id, from, to: hourLater }
    expect(await verifyStatement([statement], keySet, { expected })).toMatchObject({ ok: true })
  })

  test.for([
    ['account_id', 'mallory'],
    ['token_id', 'OTHER'],
    ['from', '2001-01-01T00:00:00Z'],
    ['to', '2001-01-01T00:00:00Z'],
    ['ledger_id', 'another'],
  ] as const)('of another %s is not accepted', async ([member, value]) => {
    expect(await verifyStatement([statement], keySet, { expected: { [member]: value } })).toMatchObject({
      ok: false,
      reason: 'unexpected',
      problem: expect.stringContaining(`its ${member} is `),
    })
  })
})

describe('an intact chain', () => {
  const accountId = receipt.receipt.account_id
  const erased = entries.map((entry) => ({ ...entry, payload: null }))

  test('is accepted for its own account only', async () => {
    expect(await verifyChain(entries, { accountId })).toMatchObject({ ok: true, accountId })
    expect(await verifyChain(entries, { accountId: 'mallory' })).toMatchObject({ ok: false, reason: 'unexpected' })
  })

  test('without payloads does not prove its account', async () => {
    expect(await verifyChain(erased, { accountId })).toMatchObject({ ok: false, reason: 'incomplete' })
  })

  test.for([
    ['1.audit_hash', 'sha256:0', /audit_hash is not sha256:/],
    ['1.audit_hash', null, /audit_hash is not sha256:/],
    ['1.previous_hash', `sha256:${'A'.repeat(64)}`, /previous_hash is not sha256:/],
    ['1.sequence', '1', /sequence is no integer/],
    ['0.sequence', -1, /sequence is no integer/],
    ['0.sequence', 0.5, /sequence is no integer/],
  ] as const)(
    'V1: is not accepted with a malformed member, also of an erased entry: %s',
    async ([path, by, problem]) => {
      expect(await verifyChain(changed(erased, path, by))).toMatchObject({
        ok: false,
        reason: 'tampered',
        problem: expect.stringMatching(problem),
      })
    },
  )
})

describe('a valid assertion', () => {
  test.for([
    [compliance(false), 'NOT COMPLIANT, failed controls: conservation.'],
    [compliance(true), ': compliant, no control failed.'],
    [provenance(false), 'the histories of 3 NFTs are NOT VALID.'],
    [provenance(true), 'the histories of 3 NFTs are valid.'],
  ] as const)('says what it states: %#', async ([given, stated]) => {
    expect(await verifyAssertion(given, OWN_KEYS)).toMatchObject({
      ok: true,
      proved: [expect.stringContaining(`signed ${given.assertion_type}`), expect.stringContaining(stated)],
    })
  })

  test('with another result than expected is not accepted', async () => {
    const expected = { compliant: true }
    expect(await verifyAssertion(compliance(true), OWN_KEYS, { expected })).toMatchObject({ ok: true })
    expect(await verifyAssertion(compliance(false), OWN_KEYS, { expected })).toMatchObject({ reason: 'unexpected' })
    expect(await verifyAssertion(assertion, keySet, { expected })).toMatchObject({ reason: 'unexpected' })
  })

  test('is no statement, though the same keys sign both', async () => {
    const { signature, next_page_token: _, ...result } = statement
    const disguised = { result, signature } as object as Assertion
    expect(await verifyAssertion(disguised, keySet)).toMatchObject({ ok: false, reason: 'tampered' })
  })
})

test('a proof of liabilities of another account or root is not accepted', async () => {
  const { account_id, merkle_root } = proof
  expect(await verifyLiabilityProof(proof, keySet, { expected: { account_id, merkle_root } })).toMatchObject({
    ok: true,
  })
  expect(await verifyLiabilityProof(proof, keySet, { expected: { account_id: 'bob' } })).toMatchObject({
    reason: 'unexpected',
  })
})

describe('the terms of a group', () => {
  const group = exampleOf<SettlementGroup>('getSettlementGroup', 'open')
  const { group_id, terms_hash } = group

  test('are accepted as a ledger shows them, in each state', async () => {
    expect(await verifyTerms(group, { expected: { group_id, terms_hash } })).toMatchObject({ ok: true })
    for (const state of ['settled', 'reverted', 'declined']) {
      const shown = exampleOf<SettlementGroup>('getSettlementGroup', state)
      expect(await verifyTerms(shown)).toMatchObject({ ok: true })
    }
  })

  test('are accepted if they were registered without the token BASE', async () => {
    const legs = [
      { account_id: 'alice', type: 'transfer', to_account_id: 'bob', amount: '1' },
      { account_id: 'bob', type: 'transfer', to_account_id: 'alice', amount: '2', token_id: 'GOLD' },
    ] as const
    const hash = await termsHash({ groupId: group_id, legs, timeoutSeconds: 600 })
    const shown = legs.map((leg) => ({ token_id: 'BASE', ...leg, leg_status: 'expected' }) as const)
    expect(await verifyTerms({ ...group, terms_hash: hash, legs: shown })).toMatchObject({ ok: true })
  })

  test.for([
    ['a false boundary', { boundary: false }],
    ['an unknown member', { memo: 'rent' }],
    ['BASE in one of them', { token_id: 'BASE' }],
  ] as const)('that were registered with %s are not called tampered with', async ([, members]) => {
    const legs = [
      { account_id: 'alice', type: 'debit', amount: '5' },
      { account_id: 'bob', type: 'credit', amount: '5' },
    ] as const
    const hash = await termsHash({
      groupId: group_id,
      legs: [{ ...legs[0], ...members }, legs[1]],
      timeoutSeconds: 600,
    })
    const shown = legs.map((leg) => ({ ...leg, token_id: 'BASE', leg_status: 'expected' }) as const)
    expect(await verifyTerms({ ...group, terms_hash: hash, legs: shown })).toMatchObject({
      ok: false,
      reason: 'incomplete',
      problem: expect.stringContaining('cannot be recomputed'),
    })
  })

  test.for([
    ['legs.0.amount', '6'],
    ['legs.1.account_id', 'mallory'],
    ['due_at', '2026-11-30T06:55:47.134Z'],
    ['terms_hash', `sha256:${'0'.repeat(64)}`],
  ] as const)('are not accepted after a change of %s', async ([path, by]) => {
    expect(await verifyTerms(changed(group, path, by))).toMatchObject({ ok: false, reason: 'incomplete' })
  })

  test('of another group, with another hash, or of a linked group are not accepted', async () => {
    const expected = { terms_hash: `sha256:${'1'.repeat(64)}` }
    expect(await verifyTerms(group, { expected })).toMatchObject({ reason: 'unexpected' })
    expect(await verifyTerms(changed(group, 'terms_hash', null))).toMatchObject({ reason: 'incomplete' })
  })
})
