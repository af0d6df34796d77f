/** Goal: assertions are signed for whoever asks, and only what this ledger has signed and stands by is valid (A1-A3, D12). */
import { p256 } from '@noble/curves/nist.js'
import { describe, expect, test } from 'vitest'
import { AssertionUnavailable } from '../../../runtime/ports/assertion-source.ts'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'
import { canonical, type Members } from '../../support/client-keys.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, HOUR_MS, LEDGER_ID } from './edge-fixture.ts'
import { AS_OF_MS } from './fake-assertions.ts'

const TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance'] as const
const AS_OF = new Date(AS_OF_MS).toISOString()

interface Assertion {
  assertion_type: string
  requester: string
  result: Record<string, unknown>
  signature: string
}

async function asked(edge: EdgeFixture, type: string, requester = 'bank'): Promise<Assertion> {
  const response = await edge.post(`/v1/assertions/${type}`, { requester }, await edge.tokenFor('viewer'))
  expect(response.status).toBe(200)
  return (await bodyOf(response)) as unknown as Assertion
}

async function verified(edge: EdgeFixture, assertion: object): Promise<Record<string, unknown>> {
  const response = await edge.post('/v1/assertions/verify', assertion, await edge.tokenFor('viewer'))
  expect(response.status).toBe(200)
  return bodyOf(response)
}

function keyOf(edge: EdgeFixture): PublishedKey {
  const key = edge.keys.keys.find(({ keyId }) => keyId === edge.keys.current('assertion'))
  if (key === undefined) throw new Error('there is no assertion key')
  return key
}

describe('what is asserted', () => {
  const RESULTS = {
    'proof-of-liabilities': {
      total_liabilities: '12345678901234567890.5',
      merkle_root: `sha256:${'ab'.repeat(32)}`,
      by_token: [
        { token_id: 'BASE', total: '12345678901234567890' },
        { token_id: 'EUR.x', total: '0.5' },
      ],
      as_of: AS_OF,
    },
    'proof-of-provenance': {
      assets_verified: 7,
      provenance_valid: true,
      as_of: AS_OF,
      last_full_pass_at: new Date(AS_OF_MS - 1_000).toISOString(),
    },
    'proof-of-compliance': {
      compliant: true,
      frameworks: ['ledger-integrity-1'],
      controls: [{ name: 'chains_verify', passed: true, checked: 12, failed: 0 }],
      as_of: AS_OF,
      last_full_pass_at: null,
    },
  }
  test.for(TYPES)(
    '%s says what was found, what it is, for whom, of which ledger, when and under which key',
    async (type) => {
      const edge = createEdgeFixture()
      const assertion = await asked(edge, type, 'Ünited Bänk')
      expect(Object.keys(assertion)).toEqual(['assertion_type', 'requester', 'result', 'signature'])
      expect(assertion).toMatchObject({ assertion_type: type, requester: 'Ünited Bänk' })
      expect(assertion.result).toEqual({
        ...RESULTS[type],
        assertion_type: type,
        requester: 'Ünited Bänk',
        ledger_id: LEDGER_ID,
        key_id: keyOf(edge).keyId,
        generated_at: new Date(edge.clock.now()).toISOString(),
      })
    },
  )

  test.for(TYPES)(
    'the signature of a %s is DER in base64, over the canonical result: @noble/curves agrees',
    async (type) => {
      const edge = createEdgeFixture()
      const { result, signature } = await asked(edge, type)
      const { keys } = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as { keys: Record<string, string>[] }
      const { x = '', y = '', kty, crv } = keys.find(({ kid }) => kid === result['key_id']) ?? {}
      expect([kty, crv]).toEqual(['EC', 'P-256'])
      const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
      const payload = Buffer.from(canonical(result as Members))
      expect(signature).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
      expect(p256.verify(Buffer.from(signature, 'base64'), payload, point, { format: 'der', lowS: false })).toBe(true)
    },
  )

  test('what cannot be computed, and what cannot be signed, is 503 without an outcome', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const post = () => edge.post('/v1/assertions/proof-of-liabilities', { requester: 'me' }, token)
    edge.assertions.failure = new AssertionUnavailable('it does not add up')
    const unavailable = await post()
    expect(unavailable.headers.get('retry-after')).not.toBe(null)
    const problem = await bodyOf(unavailable)
    expect(problem).toMatchObject({ status: 503, error_codes: ['ERR_DOWNSTREAM_FAILURE'] })
    expect(problem['outcome']).toBe(undefined)
    expect(JSON.stringify(problem)).not.toContain('add up')
    expect(edge.log).toContainEqual(expect.objectContaining({ level: 'warn', event: 'port_unavailable' }))
    edge.assertions.failure = null
    edge.keys.failsAt = 'sign'
    expect((await post()).status).toBe(503)
  })

  test.for([
    [
      { kind: 'balances', balances: 2_000_001, maxBalances: 2_000_000 },
      'The ledger has more than 2,000,000 balances, as many as a proof of liabilities covers on this edge. Each processor of the edge, up to four, raises the limit.',
    ],
    [
      { kind: 'time', balances: 1_999_999, limitMs: 58_000 },
      'The balances of the ledger could not be read within 58 s, the limit of a proof of liabilities. Retry under a lower load, or give the edge more processors.',
    ],
    [
      { kind: 'time', balances: null, limitMs: 58_000 },
      'The balances of the ledger could not be read within 58 s, the limit of a proof of liabilities. Retry under a lower load, or give the edge more processors.',
    ],
  ] as const)(
    'a ledger that is too large is 503 with the limit, and does not name the number of balances: %j',
    async ([exceeded, said]) => {
      const edge = createEdgeFixture()
      const token = await edge.tokenFor('viewer')
      edge.assertions.failure = new AssertionUnavailable('too large', { exceeded })
      const refused = await edge.post('/v1/assertions/proof-of-liabilities', { requester: 'me' }, token)
      expect(refused.headers.get('retry-after')).toBe('3600')
      const { status, error_codes: codes, detail } = await bodyOf(refused)
      expect([status, codes]).toEqual([503, ['ERR_DOWNSTREAM_FAILURE']])
      expect(detail).toBe(said)
    },
  )

  test('generated_at is never before the key came into use', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const index = edge.keys.keys.indexOf(keyOf(edge))
    const activeFromMs = edge.clock.now() + 2
    edge.keys.keys[index] = { ...keyOf(edge), activeFromMs }
    const response = await edge.post('/v1/assertions/proof-of-liabilities', { requester: 'me' }, token)
    const { result } = (await bodyOf(response)) as unknown as Assertion
    expect(result['generated_at']).toBe(new Date(activeFromMs).toISOString())
  })
})

describe('what is verified', () => {
  test.for(TYPES)('an untouched %s is valid, whoever asks and in whatever order its members come', async (type) => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, type)
    const verifiedAt = new Date(edge.clock.now()).toISOString()
    expect(await verified(edge, assertion)).toEqual({ valid: true, verified_at: verifiedAt })
    const result = Object.fromEntries(Object.entries(assertion.result).reverse())
    const { requester: _, ...rest } = assertion
    expect(await verified(edge, { ...rest, result })).toEqual({ valid: true, verified_at: verifiedAt })
  })

  test.for(TYPES)('every changed member of a %s is found', async (type) => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, type)
    const changed = (value: unknown): unknown => {
      if (typeof value === 'string') return value.endsWith('5') ? `${value.slice(0, -1)}6` : `${value.slice(0, -1)}5`
      if (typeof value === 'number') return value + 1
      return typeof value === 'boolean' ? !value : ['other']
    }
    const members = Object.keys(assertion.result)
    expect(members.length).toBeGreaterThan(8)
    for (const member of members) {
      const result = { ...assertion.result, [member]: changed(assertion.result[member]) }
      expect([member, await verified(edge, { ...assertion, result })]).toEqual([
        member,
        { valid: false, verified_at: expect.any(String), reason: expect.any(String) },
      ])
      const { [member]: _, ...lacking } = assertion.result
      expect([member, (await verified(edge, { ...assertion, result: lacking }))['valid']]).toEqual([member, false])
    }
    const added = { ...assertion.result, other: 1 }
    expect(await verified(edge, { ...assertion, result: added })).toMatchObject({ valid: false })
  })

  test('a result without the members that this ledger adds, or with an inexact number, is 200 and not valid', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const bare = '"total_liabilities":"0","merkle_root":"sha256:00","generated_at":"2026-01-01T00:00:00.000Z"'
    for (const result of [
      `{${bare}}`,
      '{"assets_verified":9007199254740993}',
      '{"assets_verified":7.00000000000000000001}',
    ]) {
      const body = `{"assertion_type":"proof-of-liabilities","result":${result},"signature":"AAAA"}`
      const response = await edge.post('/v1/assertions/verify', body, token)
      expect([response.status, await bodyOf(response)]).toMatchObject([
        200,
        { valid: false, reason: expect.any(String) },
      ])
    }
  })

  const GARBAGE: readonly (readonly [string, object])[] = [
    ['an unknown type', { assertion_type: 'proof-of-work' }],
    ['another type', { assertion_type: 'proof-of-provenance' }],
    ['an empty type', { assertion_type: '' }],
    ['an empty result', { result: {} }],
    ['an empty signature', { signature: '' }],
    ['a signature that is no base64', { signature: '!!!' }],
    ['a signature that is no DER', { signature: 'AAAA' }],
    ['a signature that is too long', { signature: 'A'.repeat(100_000) }],
    ['a signature with something behind it', { signature: 'MEUCIQ==' }],
    ['members of prototypes', { result: JSON.parse('{"__proto__":{"valid":true},"constructor":1}') as object }],
  ]
  test.for(GARBAGE)('%s is 200, not valid, with a reason', async ([, change]) => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, 'proof-of-liabilities')
    expect(await verified(edge, { ...assertion, ...change })).toEqual({
      valid: false,
      verified_at: expect.any(String),
      reason: expect.any(String),
    })
  })

  test('A1: a signature over the result of one type is none over another, though every member fits', async () => {
    const edge = createEdgeFixture()
    const { result, signature } = await asked(edge, 'proof-of-provenance')
    const relabelled = { assertion_type: 'proof-of-liabilities', result, signature }
    expect(await verified(edge, relabelled)).toMatchObject({ valid: false })
    const mixed = {
      ...(await asked(edge, 'proof-of-liabilities')).result,
      ...result,
      assertion_type: 'proof-of-liabilities',
    }
    expect(await verified(edge, { ...relabelled, result: mixed })).toMatchObject({ valid: false })
    // Also of a result that would fit both, under a signature that is good.
    const both = { ...mixed, assertion_type: 'proof-of-provenance' } as Members
    const shown = { result: both, signature: edge.keys.signWith(edge.keys.current('assertion'), canonical(both)) }
    expect(await verified(edge, { ...shown, assertion_type: 'proof-of-provenance' })).toMatchObject({ valid: true })
    expect(await verified(edge, { ...shown, assertion_type: 'proof-of-liabilities' })).toMatchObject({ valid: false })
  })

  test('a result that was signed for another ledger, or under a key of another purpose, is not valid', async () => {
    const edge = createEdgeFixture()
    const { result } = await asked(edge, 'proof-of-liabilities')
    const signedWith = (purpose: 'assertion' | 'receipt', change: object) => {
      const keyId = edge.keys.current(purpose)
      const changed = { ...result, key_id: keyId, ...change } as Members
      const signature = edge.keys.signWith(keyId, canonical(changed))
      return verified(edge, { assertion_type: 'proof-of-liabilities', result: changed, signature })
    }
    expect(await signedWith('assertion', {})).toMatchObject({ valid: true })
    for (const wrong of [
      { total_liabilities: '-1' },
      { total_liabilities: 1 },
      { by_token: 'none' },
      { as_of: 'today' },
    ]) {
      expect(await signedWith('assertion', wrong)).toMatchObject({ reason: expect.stringMatching(/missing or wrong/) })
    }
    expect(await signedWith('assertion', { ledger_id: 'another' })).toMatchObject({
      reason: expect.stringMatching(/ledger/),
    })
    expect(await signedWith('receipt', {})).toMatchObject({ reason: expect.stringMatching(/not for assertions/) })
    expect(await signedWith('assertion', { key_id: 'unknown' })).toMatchObject({
      reason: expect.stringMatching(/none of/),
    })
  })

  test('A2: the time that is signed must lie in the span of the key, and a revoked key is void', async () => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, 'proof-of-compliance')
    const key = keyOf(edge)
    const index = edge.keys.keys.indexOf(key)
    const atMs = edge.clock.now()
    const judge = async (change: Partial<PublishedKey>) => {
      edge.keys.keys[index] = { ...key, ...change }
      return (await verified(edge, assertion))['reason']
    }
    expect(await judge({ activeFromMs: atMs })).toBe(undefined)
    expect(await judge({ activeFromMs: atMs + 1 })).toMatch(/was not in use/)
    expect(await judge({ retiredAtMs: atMs })).toBe(undefined)
    expect(await judge({ retiredAtMs: atMs - 1 })).toMatch(/was not in use/)
    expect(await judge({ revokedAtMs: atMs + HOUR_MS })).toMatch(/revoked/)
    const { keys } = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as { keys: Record<string, unknown>[] }
    const shown = keys.find(({ kid }) => kid === key.keyId)
    expect(shown?.['revoked']).toEqual({ revoked_at: Math.floor((atMs + HOUR_MS) / 1_000) })
    expect(keys.filter(({ revoked }) => revoked !== undefined)).toHaveLength(1)
  })
})
