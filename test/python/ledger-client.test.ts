/**
 * A Python client that is written from the README and the OpenAPI document alone signs orders that the ledger accepts.
 * It verifies receipts and chains of the ledger (D6, D9). Without python3 or its package cryptography these tests are skipped with a note.
 */
import fc from 'fast-check'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import { EXAMPLES } from '../../api/openapi/examples.ts'
import { publicJwkOf, readPublicKey } from '../../infra/keys/public-key.ts'
import { createNodeSigner } from '../../infra/keys/signer-node.ts'
import { callClient, hasCryptography } from '../support/processes/python.ts'
import { serving } from '../unit/cli/cli-fixture.ts'
import { createFakeServiceKeys } from '../unit/api/fakes/fake-service-keys.ts'

type Fields = Record<string, Json>

const VALUES = fc.sample(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), { numRuns: 300, seed: 1 }) as Json[]
const NUMBERS = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { numRuns: 2_000, seed: 2 })

function exampleOf(operation: string, name: string): unknown {
  const example = EXAMPLES.find((one) => one.operation === operation && one.name === name)
  if (example?.answer?.body === undefined) throw new Error(`there is no example ${name}`)
  return structuredClone(example.answer.body)
}

/** The examples of one ledger in the OpenAPI document. */
function savedWith(receipt: 'completed' | 'failed') {
  return {
    chain: exampleOf('listAuditChain', 'alice') as { readonly entries: [Fields, Fields] },
    receipt: exampleOf('getReceipt', receipt) as { readonly receipt: Fields; signature: string },
    jwks: exampleOf('getKeySet', 'keys') as { ledger_id: string; readonly keys: Fields[] },
  }
}

type Saved = ReturnType<typeof savedWith>

/** The findings of the client: of the chain, then of the receipt. */
async function problemsOf(all: readonly Saved[]): Promise<readonly unknown[]> {
  const calls = all.flatMap(({ chain, receipt, jwks }) => [
    ['chain_problem', chain],
    ['receipt_problem', receipt, jwks, chain],
  ])
  return callClient(...calls)
}

function replace(members: Fields, name: string, text: string, by: string): void {
  expect(members[name]).toContain(text)
  members[name] = String(members[name]).replace(text, by)
}

/** The key that signed the receipt. */
function keyOf({ receipt, jwks }: Saved): Fields {
  const key = jwks.keys.find(({ kid }) => kid === receipt.receipt['key_id'])
  if (key === undefined) throw new Error('the key set of the document lacks the key of its receipt')
  return key
}

const TAMPERINGS: readonly [
  what: string,
  chain: string | null,
  receipt: string | null,
  change: (saved: Saved) => void,
][] = [
  ['a payload', 'entry 1: audit_hash', 'amount', ({ chain }) => replace(chain.entries[1], 'payload', '100.50', '1')],
  [
    'a hash',
    'entry 1: audit_hash',
    'audit_hash',
    ({ chain }) => replace(chain.entries[1], 'audit_hash', 'sha256:', 'sha256:0'),
  ],
  ['a missing entry', 'entry 0: sequence', null, ({ chain }) => chain.entries.shift()],
  ['another txn_id', 'entry 1: payload', 'status', ({ chain }) => replace(chain.entries[1], 'txn_id', 'txn_', 'txn_0')],
  ['another amount', null, 'signature', ({ receipt }) => replace(receipt.receipt, 'amount', '100', '200')],
  ['a revoked key', null, 'key', (saved) => Object.assign(keyOf(saved), { revoked: {} })],
  ['a key for tokens', null, 'key', (saved) => Object.assign(keyOf(saved), { purpose: 'token' })],
  ['a later key', null, 'processed_at', (saved) => Object.assign(keyOf(saved), { nbf: 1_900_000_000 })],
  ['keys of another ledger', null, 'ledger_id', ({ jwks }) => Object.assign(jwks, { ledger_id: 'another' })],
]

describe.runIf(hasCryptography)('a client in Python', () => {
  test('its canonical JSON equals that of the ledger, for any JSON and for the examples of the README', async () => {
    const readme = readFileSync(new URL('../../api/README.md', import.meta.url), 'utf8')
    const pairs = JSON.parse(/```json\n(\[\n[\s\S]*?)```/.exec(readme)?.[1] ?? '[]') as [string, string][]
    const texts = [...pairs.map(([text]) => text), ...[...VALUES, NUMBERS].map((value) => JSON.stringify(value))]
    const expected = texts.map((text) => canonicalJson(JSON.parse(text) as Json))
    expect(await callClient(...texts.map((text) => ['canonical', text]))).toEqual(expected)
  })

  test('the verifier of the ledger accepts its signatures, for the signed text only', async () => {
    const privateKeys = Array.from({ length: 12 }, (_, index) => `${index + 1}`.padStart(64, '9'))
    const signed = await callClient(...privateKeys.map((key, index) => ['sign', key, { value: VALUES[index] }]))
    const keys = (await callClient(...privateKeys.map((key) => ['public_jwk', key]))).map(readPublicKey)
    const checks = signed.map((one, index) => {
      const { signature, ...payload } = one as JsonObject
      return { publicKey: keys[index]?.publicKey ?? '', payload: canonicalJson(payload), signature: String(signature) }
    })
    const signer = createNodeSigner({ keys: createFakeServiceKeys(0) })
    expect(await signer.verifyMany(checks)).toEqual(checks.map(() => true))
    const changed = checks.map((check) => ({ ...check, payload: `${check.payload} ` }))
    expect(await signer.verifyMany(changed)).toEqual(checks.map(() => false))
  })

  test('it accepts signatures of node:crypto, and no other text, key or signature', async () => {
    const signed = Array.from({ length: 6 }, (_, index) => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const text = canonicalJson(VALUES[index] ?? null)
      return { jwk: publicJwkOf(privateKey), text, bytes: sign('sha256', Buffer.from(text), privateKey) }
    })
    const calls = signed.flatMap(({ jwk, text, bytes }, index) => {
      const signature = bytes.toString('base64')
      const flipped = Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]).toString('base64')
      return [
        ['verify', jwk, text, signature],
        ['verify', jwk, `${text} `, signature],
        ['verify', signed.at(index - 1)?.jwk, text, signature],
        ['verify', { ...jwk, y: jwk.x }, text, signature],
        ['verify', jwk, text, flipped],
      ]
    })
    expect(await callClient(...calls)).toEqual(signed.flatMap(() => [true, false, false, false, false]))
  })

  test('it accepts the chain and the receipts of the OpenAPI document', async () => {
    expect(await problemsOf([savedWith('completed'), savedWith('failed')])).toEqual([null, null, null, null])
  })

  test('it finds changes in the chain and the receipts', async () => {
    const changed = TAMPERINGS.map(([, , , change]) => {
      const saved = savedWith('completed')
      change(saved)
      return saved
    })
    const found = await problemsOf(changed)
    const named = TAMPERINGS.map(([what], index) => [what, found[2 * index], found[2 * index + 1]])
    expect(named).toEqual(TAMPERINGS.map(([what, chain, receipt]) => [what, chain, receipt]))
  })

  test('a chain without entries, with another tip, or with malformed members is not good', async () => {
    const { chain } = savedWith('completed')
    const [first, second] = chain.entries
    const erased = { ...chain, entries: [first, { ...second, payload: null }] }
    const malformed = { ...chain, entries: [first, { ...second, payload: null, audit_hash: 'sha256:0' }] }
    const found = await callClient(
      ['chain_problem', { ...chain, entries: [] }],
      ['chain_problem', chain, second['audit_hash']],
      ['chain_problem', chain, first['audit_hash']],
      ['chain_problem', erased],
      ['chain_problem', malformed],
      ['chain_problem', { ...chain, entries: [{ ...first, payload: '{' }] }],
    )
    expect(found).toEqual(['no entries', null, 'tip', null, 'entry 1: audit_hash', 'entry 0: audit_hash'])
  })

  test('a receipt of another or a failed transaction is not good if the caller says what is expected', async () => {
    const [good, failed] = [savedWith('completed'), savedWith('failed')]
    const of = ({ receipt, jwks, chain }: Saved, expected: Fields): readonly unknown[] => [
      'receipt_problem',
      receipt,
      jwks,
      chain,
      expected,
    ]
    const found = await callClient(
      of(good, { txn_id: good.receipt.receipt['txn_id'] ?? null, status: 'completed' }),
      of(good, { txn_id: 'txn_other' }),
      of(failed, { status: 'completed' }),
    )
    expect(found).toEqual([null, 'txn_id', 'status'])
  })

  test('a reply that is cut off is requested again, and a refusal has the idempotency key', async () => {
    let requests = 0
    const { url } = await serving((request, response) => {
      requests += 1
      if (requests === 1) {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"ledger_id":', () => response.destroy())
        return
      }
      const refusal = { detail: 'It is wrong.', error_codes: ['ERR_INVALID_AMOUNT'] }
      const reply = { ledger_id: 'l', access_token: 't', expires_in: 60 }
      const isOrder = request.url === '/v1/transactions'
      response.writeHead(isOrder ? 400 : 200).end(JSON.stringify(isOrder ? refusal : reply))
    })
    expect(await callClient(['refused_order', url])).toEqual([[400, 'mine']])
    expect(requests).toBe(4)
  })
})
