/**
 * A Python client that is written from the README and the OpenAPI document alone signs orders that the ledger accepts.
 * It verifies receipts and chains of the ledger (D6, D9). Without python3 or its package cryptography these tests are skipped with a note.
 */
import fc from 'fast-check'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { GENESIS, showHash } from '../../actors/audit-chain.ts'
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import { EXAMPLES } from '../../api/openapi/examples.ts'
import { publicJwkOf, readPublicKey, thumbprintOf } from '../../infra/keys/public-key.ts'
import { createNodeSigner } from '../../infra/keys/signer-node.ts'
import { chainEntry } from '../support/chain.ts'
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
    expect(await callClient(['refused_order', url])).toEqual([
      [400, ['ERR_INVALID_AMOUNT'], 'mine', 'not_applied', null],
    ])
    expect(requests).toBe(4)
  })

  test('a receipt of an NFT is good, and the chain must have its figures', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicJwkOf(privateKey)
    const kid = thumbprintOf(jwk)
    const fields = {
      account_id: 'alice',
      type: 'transfer',
      amount: '1',
      class_id: 'c',
      instance_id: 'i',
      origin: 'client',
    }
    const stated = { ...fields, balance_after: '7', processed_at: '2030-01-01T00:00:00.000Z' }
    const entry = chainEntry(GENESIS, 0, 'txn_1', '0'.repeat(32), { ...stated, submission_hash: '00' })
    const place = { sequence: 0, previous_hash: showHash(entry.previousHash), audit_hash: showHash(entry.auditHash) }
    const chain = { account_id: 'alice', entries: [{ ...place, txn_id: 'txn_1', payload: entry.payload }] }
    const jwks = { ledger_id: 'l', keys: [{ ...jwk, kid, purpose: 'receipt', nbf: 0 }] }
    const receiptWith = (changes: Fields): readonly unknown[] => {
      const named = { ledger_id: 'l', key_id: kid, txn_id: 'txn_1', status: 'completed', submission_hash: 'sha256:00' }
      const receipt: JsonObject = { ...stated, ...place, ...named, ...changes }
      const signature = sign('sha256', Buffer.from(canonicalJson(receipt)), privateKey).toString('base64')
      return ['receipt_problem', { receipt, signature }, jwks, chain]
    }
    const found = await callClient(
      receiptWith({}),
      receiptWith({ balance_after: '8' }),
      receiptWith({ available_after: '8' }),
      receiptWith({ receive: { amount: '1', token_id: 'GOLD' } }),
      receiptWith({ instance_id: 'another' }),
    )
    expect(found).toEqual([null, 'balance_after', 'available_after', 'receive', 'instance_id'])
  })
})

type Handled = { readonly status: number; readonly body: object; readonly headers?: Record<string, string> } | 'cut off'

/** A ledger that gives these replies in their order for each path; then the last one again. */
async function replying(replies: Readonly<Record<string, readonly Handled[]>>): Promise<string> {
  const counts = new Map<string, number>()
  const { url } = await serving((request, response) => {
    const path = request.url ?? ''
    const count = counts.get(path) ?? 0
    counts.set(path, count + 1)
    const given = replies[path] ?? [{ status: 200, body: { ledger_id: 'l' } }]
    const reply = given[count] ?? given.at(-1) ?? 'cut off'
    if (reply === 'cut off') response.destroy()
    else response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body))
  })
  return url
}

describe.runIf(hasCryptography)('an error of the client in Python', () => {
  const token = { status: 200, body: { access_token: 't', expires_in: 0 } }
  const refusedToken = { status: 401, body: { detail: 'It is revoked.', error_codes: ['ERR_UNAUTHORIZED'] } }

  test('has the key of the order, also if its token was refused, and says whether the order may have had an effect', async () => {
    const [lost, unsent] = await Promise.all([
      replying({ '/v1/auth/token': [token, refusedToken], '/v1/transactions': ['cut off'] }),
      replying({ '/v1/auth/token': [refusedToken] }),
    ])
    expect(await callClient(['refused_order', lost], ['refused_order', unsent])).toEqual([
      [401, ['ERR_UNAUTHORIZED'], 'mine', 'unknown', null],
      [401, ['ERR_UNAUTHORIZED'], 'mine', 'not_applied', null],
    ])
  })

  test('says that the outcome is unknown if a proxy refused, or a refusal came after a lost reply', async () => {
    const refusal = { status: 400, body: { detail: 'It is wrong.', error_codes: ['ERR_INVALID_AMOUNT'] } }
    const [proxy, later] = await Promise.all([
      replying({ '/v1/auth/token': [token], '/v1/transactions': [{ status: 403, body: {} }] }),
      replying({ '/v1/auth/token': [token], '/v1/transactions': ['cut off', refusal] }),
    ])
    expect(await callClient(['refused_order', proxy], ['refused_order', later])).toEqual([
      [403, [], 'mine', 'unknown', null],
      [400, ['ERR_INVALID_AMOUNT'], 'mine', 'unknown', null],
    ])
  })

  test('comes instead of the reply to another request with the same key', async () => {
    const reply = { status: 200, body: { txn_id: 'txn_1', status: 'completed' } }
    const headers = { 'Idempotency-Replayed': 'true', 'Idempotency-Payload-Mismatch': 'true' }
    const url = await replying({ '/v1/auth/token': [token], '/v1/transactions': [{ ...reply, headers }] })
    expect(await callClient(['refused_order', url])).toEqual([
      [200, ['ERR_PAYLOAD_MISMATCH'], 'mine', 'not_applied', null],
    ])
  })

  test('names the accepted order that it waited for', async () => {
    const accepted = { status: 202, body: { txn_id: 'txn_1', status: 'pending' } }
    const missing = { status: 404, body: { detail: 'There is none.', error_codes: ['ERR_NOT_FOUND'] } }
    const url = await replying({
      '/v1/auth/token': [token],
      '/v1/transactions': [accepted],
      '/v1/transactions/txn_1': [missing],
    })
    expect(await callClient(['refused_wait', url])).toEqual([[404, ['ERR_NOT_FOUND'], 'mine', 'unknown', 'txn_1']])
  })
})
