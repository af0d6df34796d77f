/** Any client gets signed assertions. Only those that this ledger signed under a valid key verify (A1-A3, D12). */
import { p256 } from '@noble/curves/nist.js'
import { describe, expect, test } from 'vitest'
import { AssertionUnavailable } from '../../../../runtime/ports/assertion-source.ts'
import type { PublishedKey } from '../../../../runtime/ports/service-keys.ts'
import { canonical, type Members } from '../../../support/client/client-keys.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, HOUR_MS, LEDGER_ID } from '../fakes/edge-fixture.ts'
import { AS_OF_MS } from '../fakes/fake-assertions.ts'

const TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance'] as const
const AS_OF = new Date(AS_OF_MS).toISOString()
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

interface Assertion {
  assertion_type: string
  requester: string
  result: Record<string, unknown>
  signature: string
}

async function ask(edge: EdgeFixture, type = 'proof-of-liabilities', requester = 'bank'): Promise<Response> {
  return edge.post(`/v1/assertions/${type}`, { requester }, await edge.tokenFor('viewer'))
}

async function asked(edge: EdgeFixture, type?: string, requester?: string): Promise<Assertion> {
  const response = await ask(edge, type, requester)
  return (await response.json()) as Assertion
}

async function verified(edge: EdgeFixture, assertion: object | string): Promise<Record<string, unknown>> {
  const response = await edge.post('/v1/assertions/verify', assertion, await edge.tokenFor('viewer'))
  expect(response.status).toBe(200)
  return bodyOf(response)
}

/** The key of assertions, and a function that changes it. */
function keyOf(edge: EdgeFixture) {
  const index = edge.keys.keys.findIndex(({ keyId }) => keyId === edge.keys.current('assertion'))
  const key = edge.keys.keys[index]
  if (key === undefined) throw new Error('there is no assertion key')
  return { key, change: (change: Partial<PublishedKey>) => void (edge.keys.keys[index] = { ...key, ...change }) }
}

describe('a signed assertion', () => {
  test.for(TYPES)(
    '%s has findings, type, requester, ledger, time and key, and verifies with @noble/curves',
    async (type) => {
      const edge = createEdgeFixture()
      const assertion = await asked(edge, type, 'Ünited Bänk')
      expect(Object.keys(assertion)).toEqual(['assertion_type', 'requester', 'result', 'signature'])
      expect(assertion).toMatchObject({ assertion_type: type, requester: 'Ünited Bänk' })
      const { result, signature } = assertion
      expect(result).toEqual({
        ...RESULTS[type],
        assertion_type: type,
        requester: 'Ünited Bänk',
        ledger_id: LEDGER_ID,
        key_id: keyOf(edge).key.keyId,
        generated_at: new Date(edge.clock.now()).toISOString(),
      })
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
    edge.assertions.failure = new AssertionUnavailable('it does not add up')
    const unavailable = await ask(edge)
    expect(unavailable.headers.get('retry-after')).not.toBe(null)
    const problem = await bodyOf(unavailable)
    expect(problem).toMatchObject({ status: 503, error_codes: ['ERR_DOWNSTREAM_FAILURE'] })
    expect(JSON.stringify(problem)).not.toMatch(/add up|outcome/)
    expect(edge.log).toContainEqual(expect.objectContaining({ level: 'warn', event: 'port_unavailable' }))
    edge.assertions.failure = null
    const token = await edge.tokenFor('viewer')
    edge.keys.failsAt = 'sign'
    expect((await edge.post('/v1/assertions/proof-of-liabilities', { requester: 'bank' }, token)).status).toBe(503)
  })

  const ofTime = /could not be read within 58 s, the limit of a proof of liabilities\. Retry under a lower load/
  test.for([
    [{ kind: 'balances', balances: 2_000_001, maxBalances: 2_000_000 }, /has more than 2,000,000 balances, as many as/],
    [{ kind: 'time', balances: 1_999_999, limitMs: 58_000 }, ofTime],
    [{ kind: 'time', balances: null, limitMs: 58_000 }, ofTime],
  ] as const)(
    'a ledger that is too large is 503 with the limit, not the number of balances: %j',
    async ([exceeded, said]) => {
      const edge = createEdgeFixture()
      edge.assertions.failure = new AssertionUnavailable('too large', { exceeded })
      const refused = await ask(edge)
      expect(refused.headers.get('retry-after')).toBe('3600')
      const { status, error_codes: codes, detail } = await bodyOf(refused)
      expect([status, codes]).toEqual([503, ['ERR_DOWNSTREAM_FAILURE']])
      expect(detail).toMatch(said)
      expect(detail).not.toMatch(/2,000,001|1,999,999/)
    },
  )

  test('generated_at is never before the key came into use', async () => {
    const edge = createEdgeFixture()
    const activeFromMs = edge.clock.now() + 2
    keyOf(edge).change({ activeFromMs })
    expect((await asked(edge)).result['generated_at']).toBe(new Date(activeFromMs).toISOString())
  })
})

describe('verification', () => {
  test.for(TYPES)('an unchanged %s is valid, for any client and in any order of its members', async (type) => {
    const edge = createEdgeFixture()
    const { requester: _, ...assertion } = await asked(edge, type)
    const valid = { valid: true, verified_at: new Date(edge.clock.now()).toISOString() }
    expect(await verified(edge, assertion)).toEqual(valid)
    const result = Object.fromEntries(Object.entries(assertion.result).reverse())
    expect(await verified(edge, { requester: 'other', ...assertion, result })).toEqual(valid)
  })

  test.for(TYPES)('every changed member of a %s is found', async (type) => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, type)
    const changed = (value: unknown): unknown => {
      if (typeof value === 'string') return value.endsWith('5') ? `${value.slice(0, -1)}6` : `${value.slice(0, -1)}5`
      if (typeof value === 'number') return value + 1
      return typeof value === 'boolean' ? !value : ['other']
    }
    const members = Object.entries(assertion.result)
    expect(members.length).toBeGreaterThan(8)
    for (const [member, value] of members) {
      const { [member]: _, ...lacking } = assertion.result
      for (const result of [{ ...lacking, [member]: changed(value) }, lacking]) {
        const { valid, reason } = await verified(edge, { ...assertion, result })
        expect([member, valid, typeof reason]).toEqual([member, false, 'string'])
      }
    }
    const added = { ...assertion.result, other: 1 }
    expect(await verified(edge, { ...assertion, result: added })).toMatchObject({ valid: false })
  })

  const BARE = '"total_liabilities":"0","merkle_root":"sha256:00","generated_at":"2026-01-01T00:00:00.000Z"'
  const INEXACT = ['9007199254740993', '7.00000000000000000001'].map((number) => `"assets_verified":${number}`)
  test.for([BARE, ...INEXACT])(
    'a result that lacks members or has an inexact number is not valid: %s',
    async (text) => {
      const body = `{"assertion_type":"proof-of-liabilities","result":{${text}},"signature":"AAAA"}`
      expect(await verified(createEdgeFixture(), body)).toMatchObject({ valid: false, reason: expect.any(String) })
    },
  )

  test.for<[string, object]>([
    ['an unknown type', { assertion_type: 'proof-of-work' }],
    ['another type', { assertion_type: 'proof-of-provenance' }],
    ['an empty type', { assertion_type: '' }],
    ['an empty result', { result: {} }],
    ['an empty signature', { signature: '' }],
    ['a signature that is no base64', { signature: '!!!' }],
    ['a signature that is no DER', { signature: 'AAAA' }],
    ['a signature that is too long', { signature: 'A'.repeat(100_000) }],
    ['a truncated DER signature', { signature: 'MEUCIQ==' }],
    ['members of prototypes', { result: JSON.parse('{"__proto__":{"valid":true},"constructor":1}') as object }],
  ])('%s is 200, not valid, with a reason', async ([, change]) => {
    const edge = createEdgeFixture()
    const invalid = { valid: false, verified_at: expect.any(String), reason: expect.any(String) }
    expect(await verified(edge, { ...(await asked(edge)), ...change })).toEqual(invalid)
  })

  test('a correct signature in another encoding is not valid', async () => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge)
    const { signature: text } = assertion
    for (const signature of [`${text}=`, `${text}A`, `${text.slice(0, 8)}\n${text.slice(8)}`]) {
      expect(await verified(edge, { ...assertion, signature })).toMatchObject({ valid: false })
    }
  })

  test('A1: a signature over a result of one type is not valid for another type', async () => {
    const edge = createEdgeFixture()
    const { result, signature } = await asked(edge, 'proof-of-provenance')
    const relabelled = { assertion_type: 'proof-of-liabilities', result, signature }
    expect(await verified(edge, relabelled)).toMatchObject({ valid: false })
    const mixed = { ...(await asked(edge)).result, ...result, assertion_type: 'proof-of-liabilities' }
    expect(await verified(edge, { ...relabelled, result: mixed })).toMatchObject({ valid: false })
    // A correctly signed result that has the members of both types.
    const both = { ...mixed, assertion_type: 'proof-of-provenance' } as Members
    const shown = { result: both, signature: edge.keys.signWith(edge.keys.current('assertion'), canonical(both)) }
    expect(await verified(edge, { ...shown, assertion_type: 'proof-of-provenance' })).toMatchObject({ valid: true })
    expect(await verified(edge, { ...shown, assertion_type: 'proof-of-liabilities' })).toMatchObject({ valid: false })
  })

  test.for([
    ['assertion', {}, undefined],
    ['assertion', { total_liabilities: '-1' }, /missing or wrong/],
    ['assertion', { total_liabilities: 1 }, /missing or wrong/],
    ['assertion', { by_token: 'none' }, /missing or wrong/],
    ['assertion', { as_of: 'today' }, /missing or wrong/],
    ['assertion', { ledger_id: 'another' }, /ledger/],
    ['receipt', {}, /not for assertions/],
    ['assertion', { key_id: 'A'.repeat(43) }, /not a key of this/],
  ] as const)('signed under the key of an %s, with %j: the reason is %s', async ([purpose, change, reason]) => {
    const edge = createEdgeFixture()
    const keyId = edge.keys.current(purpose)
    const result = { ...(await asked(edge)).result, key_id: keyId, ...change } as Members
    const signature = edge.keys.signWith(keyId, canonical(result))
    const verdict = await verified(edge, { assertion_type: 'proof-of-liabilities', result, signature })
    expect(verdict['valid']).toBe(reason === undefined)
    expect(String(verdict['reason'])).toMatch(reason ?? 'undefined')
  })

  test('A2: the signed time must lie within the use of the key, and a revoked key verifies nothing', async () => {
    const edge = createEdgeFixture()
    const assertion = await asked(edge, 'proof-of-compliance')
    const { key, change } = keyOf(edge)
    const atMs = edge.clock.now()
    for (const [changed, reason] of [
      [{ activeFromMs: atMs }, 'undefined'],
      [{ activeFromMs: atMs + 1 }, /was not in use/],
      [{ retiredAtMs: atMs }, 'undefined'],
      [{ retiredAtMs: atMs - 1 }, /was not in use/],
      [{ revokedAtMs: atMs + HOUR_MS }, /revoked/],
    ] as const) {
      change(changed)
      expect(String((await verified(edge, assertion))['reason'])).toMatch(reason)
    }
    const { keys } = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as { keys: Record<string, unknown>[] }
    const revoked = keys.filter((shown) => shown['revoked'] !== undefined)
    const atS = Math.floor((atMs + HOUR_MS) / 1_000)
    expect(revoked.map(({ kid, revoked: at }) => [kid, at])).toEqual([[key.keyId, { revoked_at: atS }]])
  })
})
