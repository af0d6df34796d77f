/** Offline verification in the client, on what a ledger gave (the examples of the OpenAPI document), and after changes. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { formatQuantity, parseQuantity } from '../../../actors/money.ts'
import { EXAMPLES } from '../../../api/openapi/examples.ts'
import {
  type AuditEntry,
  type Receipt,
  verifyAssertion,
  verifyChain,
  verifyLiabilityProof,
  verifyReceipt,
  verifyStatement,
} from '../../../api/client/index.ts'
import { fromBase64 } from '../../../api/client/signing/bytes.ts'
import { rootOfTotals } from '../../../runtime/liabilities/inclusion.ts'
import { canonical } from '../../support/client/client-keys.ts'
import { rawSignature } from '../../../api/client/verify/service-signature.ts'
import { liabilitiesText } from '../../../api/client/verify/verify-assertion.ts'
import { changed, provedExamples } from './interface-examples.ts'

const { keySet, receipt, failed, entries, statement, assertion, proof } = provedExamples()
const order = EXAMPLES.find((one) => one.operation === 'submitTransaction' && one.answer?.status === 202)?.body ?? {}

const keyAt = (kid: string): number => keySet.keys.findIndex((key) => key.kid === kid)
const receiptKey = `keys.${keyAt(receipt.receipt.key_id)}`
const assertionKey = `keys.${keyAt(statement.key_id)}`

async function chainOf(given: readonly AuditEntry[] = entries) {
  const chain = await verifyChain(given)
  if (!chain.ok) throw new Error(chain.problem)
  return chain
}

describe('a chain', () => {
  test('is accepted in any order, with copies, and with its tip', async () => {
    const tip = entries.at(-1)?.audit_hash
    const chain = await verifyChain([...entries, ...entries].toReversed(), { tip })
    expect(chain).toMatchObject({ ok: true, accountId: receipt.receipt.account_id, tip, erased: 0 })
  })

  test('is accepted with the hash of an earlier entry as its tip, and proves which', async () => {
    const tip = entries[0]?.audit_hash
    expect(await verifyChain(entries, { tip })).toMatchObject({
      ok: true,
      tip: entries.at(-1)?.audit_hash,
      proved: expect.arrayContaining([
        'The expected hash is that of entry 0: no entry up to it is missing.',
      ]) as string[],
    })
    expect(await verifyChain(entries, { tip: `sha256:${'0'.repeat(64)}` })).toMatchObject({
      reason: 'tampered',
      problem: expect.stringMatching(/is not in it$/),
    })
  })

  test('of another account is unexpected, not tampered, with a tip of the expected one', async () => {
    const expected = { tip: `sha256:${'0'.repeat(64)}`, accountId: 'another' }
    expect(await verifyChain(entries, expected)).toMatchObject({ reason: 'unexpected' })
  })

  test('of which payloads are erased is accepted, and says so', async () => {
    const erased = entries.map((entry) => ({ ...entry, payload: null }))
    expect(await verifyChain(erased)).toMatchObject({ ok: true, accountId: '', erased: entries.length })
  })

  test.for([
    ['a payload', '1.payload', '{}', 1, /audit_hash is not the hash/],
    ['a hash', '1.audit_hash', `sha256:${'0'.repeat(64)}`, 1, /audit_hash is not the hash/],
    ['a malformed hash', '1.previous_hash', 'sha256:0', 1, /previous_hash is not sha256:/],
    ['a sequence', '1.sequence', 2, 1, /missing/],
    ['a duplicate', '1.sequence', 0, 0, /two entries/],
    ['a transaction', '1.txn_id', 'txn_other', 1, /another txn_id/],
  ] as const)('is broken by a change of %s', async ([, path, by, sequence, problem]) => {
    const verdict = await verifyChain(changed([...entries], path, by))
    expect(verdict).toMatchObject({ ok: false, reason: 'tampered', sequence, problem: expect.stringMatching(problem) })
  })

  test('without its beginning, its end or anything is not accepted', async () => {
    expect(await verifyChain(entries.slice(1))).toMatchObject({
      ok: false,
      sequence: 0,
      problem: 'the entry is missing',
    })
    const tip = entries.at(-1)?.audit_hash
    expect(await verifyChain(entries.slice(0, -1), { tip })).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/the chain ends with/),
    })
    expect(await verifyChain([])).toMatchObject({ ok: false, reason: 'incomplete' })
  })

  test('that an entry of another account continues is broken', async () => {
    const other = await verifyChain([entries[0] as AuditEntry, { ...(entries[1] as AuditEntry), payload: 'no JSON' }])
    expect(other).toMatchObject({ ok: false, sequence: 1 })
  })
})

describe('a receipt', () => {
  test('is accepted with its chain and its order', async () => {
    const verdict = await verifyReceipt(receipt, keySet, { chain: await chainOf() })
    expect(verdict).toMatchObject({
      ok: true,
      proved: [
        expect.stringMatching(/signed that txn_.* is completed/),
        expect.stringMatching(/is entry \d+ of the audit chain/),
      ],
    })
    expect(await verifyReceipt(failed, keySet)).toMatchObject({
      ok: true,
      proved: [expect.stringMatching(/is failed/)],
    })
  })

  test('of another order is not accepted', async () => {
    expect(await verifyReceipt(receipt, keySet, { order: { ...order, amount: '2' } })).toMatchObject({
      ok: false,
      reason: 'unexpected',
      problem: expect.stringMatching(/^it is of another order: /),
    })
  })

  test.for([
    ['receipt.amount', '1000', 'tampered', /signature/],
    ['receipt.key_id', 'another', 'wrong_keys', /key_id is not in the key set/],
    ['receipt.ledger_id', 'another', 'wrong_keys', /ledger_id is not that of the key set/],
    ['receipt.processed_at', '2099-01-01T00:00:00.000Z', 'tampered', /signature/],
    ['receipt.processed_at', 'yesterday', 'tampered', /not in use/],
    ['signature', 'AAAA', 'tampered', /signature/],
  ] as const)('is not accepted after a change of %s', async ([path, by, reason, problem]) => {
    expect(await verifyReceipt(changed(receipt, path, by), keySet)).toMatchObject({
      ok: false,
      reason,
      problem: expect.stringMatching(problem),
    })
  })

  test('whose signature has another encoding of the same number is not accepted', async () => {
    const padded = receipt.signature.replaceAll('=', '')
    const other = padded === receipt.signature ? `${padded} ` : padded
    expect(await verifyReceipt({ ...receipt, signature: other }, keySet)).toMatchObject({ ok: false })
  })

  test.for([
    ['purpose', 'token', /another purpose/],
    ['nbf', 4_000_000_000, /not in use/],
    ['x', 'A'.repeat(43), /does not verify/],
  ] as const)('is not accepted under a key with another %s', async ([member, by, problem]) => {
    const keys = changed(keySet, `${receiptKey}.${member}`, by)
    expect(await verifyReceipt(receipt, keys)).toMatchObject({
      ok: false,
      reason: 'tampered',
      problem: expect.stringMatching(problem),
    })
  })

  test('is not accepted under a revoked or an expired key', async () => {
    const members = [{ revoked: { revoked_at: 1 } }, { exp: 1 }]
    const keys = members.map((one) => ({ ...keySet, keys: keySet.keys.map((key) => ({ ...key, ...one })) }))
    const verdicts = await Promise.all(keys.map((all) => verifyReceipt(receipt, all)))
    expect(verdicts).toMatchObject([
      { problem: 'its key is revoked' },
      { problem: expect.stringMatching(/not in use/) },
    ])
  })

  test('that the chain contradicts is not accepted', async () => {
    const chain = await chainOf()
    const first = await chainOf(entries.slice(0, 1))
    const entry = chain.entries.get(receipt.receipt.sequence ?? -1)
    expect(await verifyReceipt(receipt, keySet, { chain: first })).toMatchObject({
      reason: 'incomplete',
      problem: expect.stringMatching(/no entry with its sequence/),
    })
    for (const [name, value] of Object.entries({ amount: '2', instance_id: 'another', format: 9 })) {
      const other = new Map(
        [...chain.entries].map(([at, one]) => [at, { ...one, fields: { ...one.fields, [name]: value } }]),
      )
      expect(await verifyReceipt(receipt, keySet, { chain: { ...chain, entries: other } })).toMatchObject({
        problem: `its ${name} is not that of entry ${entry?.sequence} of the chain`,
      })
    }
    expect(await verifyReceipt(receipt, keySet, { chain: { ...chain, accountId: 'another' } })).toMatchObject({
      reason: 'unexpected',
    })
  })

  test('whose chain is broken is not accepted', async () => {
    const chain = await verifyChain(changed([...entries], '1.payload', '{}'))
    expect(await verifyReceipt(receipt, keySet, { chain })).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^its chain: /),
    })
  })

  test('of any shape gets a verdict', async () => {
    const shapes = [{}, { receipt: null }, { receipt: 1, signature: 1 }] as const
    for (const shape of shapes) {
      expect(await verifyReceipt(shape as Receipt, keySet)).toMatchObject({ ok: false })
    }
  })
})

describe('a statement', () => {
  test('is accepted, and is not after a change of a page or its keys', async () => {
    expect(await verifyStatement([statement], keySet)).toMatchObject({
      ok: true,
      proved: [expect.stringMatching(/signed every page/), expect.stringMatching(/add up/)],
    })
    expect(await verifyStatement([changed(statement, 'closing', '1')], keySet)).toMatchObject({ reason: 'tampered' })
    const revoked = changed(keySet, `${assertionKey}.purpose`, 'receipt')
    expect(await verifyStatement([statement], revoked)).toMatchObject({
      problem: expect.stringMatching(/another purpose/),
    })
    expect(await verifyStatement([], keySet)).toMatchObject({ reason: 'incomplete' })
  })
})

describe('an assertion', () => {
  test('is accepted unchanged only', async () => {
    expect(await verifyAssertion(assertion, keySet)).toMatchObject({
      ok: true,
      proved: [
        expect.stringMatching(/signed proof-of-liabilities/),
        expect.stringMatching(/: liabilities of \d\S* [A-Z]+\S*(?:, \d\S* \S+)*\.$/),
      ],
    })
    expect(await verifyAssertion(changed(assertion, 'result.total_liabilities', '1'), keySet)).toMatchObject({
      ok: false,
    })
    expect(await verifyAssertion(changed(assertion, 'assertion_type', 'proof-of-compliance'), keySet)).toMatchObject({
      problem: 'its type is not the signed one',
    })
  })
})

test('liabilities are a total of each token, and of many tokens their number', () => {
  const totalsOf = (count: number) => ({
    by_token: Array.from({ length: count }, (_, index) => ({ token_id: `T${index}`, total: '3' })),
  })
  expect(liabilitiesText(totalsOf(0))).toBe('no liabilities')
  expect(liabilitiesText(totalsOf(2))).toBe('liabilities of 3 T0, 3 T1')
  expect(liabilitiesText(totalsOf(6))).toBe('liabilities in 6 tokens')
})

describe('a proof of liabilities', () => {
  test('is accepted and says the amounts that are owed', async () => {
    const [first] = proof.proofs
    const verdict = await verifyLiabilityProof(proof, keySet)
    expect(verdict).toMatchObject({ ok: true })
    expect(JSON.stringify(verdict)).toContain(`${first?.amount} ${first?.token_id} owed to ${proof.account_id}`)
  })

  test.for([
    ['account_id', 'mallory', /does not lead to the root/],
    ['merkle_root', `sha256:${'0'.repeat(64)}`, /merkle_root is not the signed one/],
    ['totals.0.total', '1', /do not hash/],
    ['totals.0.root', 'sha256:1', /malformed/],
    ['proofs.0.amount', '1', /do not add up to its amount/],
    ['proofs.0.token_id', 'OTHER', /not among the totals/],
    ['proofs.0.shares.0.amount', '1', /does not lead to the root/],
    ['proofs.0.shares.0.index', -1, /malformed/],
    ['proofs.0.shares.0.nonce', '00', /malformed/],
    ['proofs.0.shares.0.siblings.0.sum', '1', /does not lead to the root/],
    ['proofs.0.shares.0.siblings.0.sum', '-1', /malformed/],
    ['assertion.result.total_liabilities', '1', /signature/],
  ] as const)('is not accepted after a change of %s', async ([path, by, problem]) => {
    expect(await verifyLiabilityProof(changed(proof, path, by), keySet)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(problem),
    })
  })

  test('of a ledger that signs another total than its tree has is not accepted', async () => {
    const [first, ...rest] = proof.totals
    if (first === undefined) throw new Error('the example has no token')
    const totals = [{ ...first, total: '1' }, ...rest]
    const bare = totals.map(({ token_id: tokenId, root, total }) => ({ tokenId, root: root.slice(7), total }))
    const merkle_root = `sha256:${rootOfTotals(bare)}`
    const units = bare.reduce((sum, { total }) => sum + parseQuantity(total), 0n)
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const result = {
      ...proof.assertion.result,
      key_id: 'own',
      merkle_root,
      by_token: totals.map(({ token_id, total }) => ({ token_id, total })),
      total_liabilities: formatQuantity(units),
    }
    const signature = sign('sha256', Buffer.from(canonical(result)), privateKey).toString('base64')
    const keys = { keys: [{ kid: 'own', purpose: 'assertion', x, y, nbf: 0 }] }
    const lie = { ...proof, merkle_root, totals, assertion: { ...proof.assertion, result, signature } }
    expect(await verifyLiabilityProof(lie, keys)).toMatchObject({
      reason: 'tampered',
      problem: `${first.token_id}: a share does not lead to the total of its token`,
    })
  })

  test('that shows a leaf or a token twice is not accepted', async () => {
    const [first] = proof.proofs
    const share = first?.shares[0]
    if (first === undefined || share === undefined) throw new Error('the example has no share')
    const twice = { ...proof, proofs: [{ ...first, shares: [share, share] }] }
    expect(await verifyLiabilityProof(twice, keySet)).toMatchObject({
      problem: expect.stringMatching(/a leaf is shown twice/),
    })
    expect(await verifyLiabilityProof({ ...proof, proofs: [first, first] }, keySet)).toMatchObject({
      problem: 'it has two proofs of one token',
    })
  })

  test('that shows a token without a leaf, or not its last page, is not accepted', async () => {
    const [first] = proof.proofs
    const bare = { ...proof, proofs: [{ token_id: first?.token_id ?? '', amount: '0', shares: [] }] }
    expect(await verifyLiabilityProof(bare, keySet)).toMatchObject({
      reason: 'tampered',
      problem: `${first?.token_id}: it has no share`,
    })
    expect(await verifyLiabilityProof({ ...proof, next_page_token: 'more' }, keySet)).toMatchObject({
      reason: 'incomplete',
    })
  })
})

describe('a DER signature', () => {
  const bytes = fromBase64(receipt.signature) ?? new Uint8Array()

  test('is read in its shortest form only', () => {
    expect(rawSignature(bytes)).toHaveLength(64)
    const cases = [
      bytes.slice(1),
      Uint8Array.of(...bytes, 0),
      Uint8Array.of(0x30, 6, 2, 1, 0x80, 2, 1, 1),
      Uint8Array.of(0x30, 7, 2, 2, 0, 1, 2, 1, 1),
      Uint8Array.of(0x30, 5, 2, 0, 2, 1, 1),
      Uint8Array.of(0x30, 0x81, 6, 2, 1, 1, 2, 1, 1),
      new Uint8Array(),
    ]
    expect(cases.map(rawSignature)).toEqual(cases.map(() => undefined))
    expect(rawSignature(Uint8Array.of(0x30, 7, 2, 2, 0, 0x80, 2, 1, 1))?.at(31)).toBe(0x80)
  })
})
