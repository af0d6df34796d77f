import { describe, expect, test } from 'vitest'
import type { Json } from '../../../actors/canonical-json.ts'
import { AttestationStoreUnavailable } from '../../../runtime/ports/attestation-store.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import {
  addInstance,
  addSigner,
  attestationEdge,
  BODY,
  CLASS_ID,
  isSealed,
  PATH,
  signedBody,
  stated,
} from './attestation-scene.ts'
import { accountView, bodyOf, digestOf, refusalOf } from './edge-fixture.ts'

const ID = /^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const KEY = { 'idempotency-key': 'once' }

describe('POST /v1/attestations', () => {
  test('D13: a new attestation is 201 with all its members, stored, and signed by the service', async () => {
    const edge = attestationEdge()
    const body = { ...BODY, evidence_url: 'https://assay.example/1?a=b#c' }
    const response = await edge.post(PATH, body, await edge.tokenFor('transactor'))
    expect(response.status).toBe(201)
    const members = await bodyOf(response)
    expect(members).toEqual({
      attestation_id: expect.stringMatching(ID),
      ...body,
      created_at: '2025-10-09T08:53:20.123Z',
      status: 'active',
      submitted_by: 'client-transactor',
      attester_verified: false,
      key_id: edge.keys.current('attestation'),
      signature: expect.any(String),
    })
    expect(response.headers.get('location')).toBe(`${PATH}/${String(members['attestation_id'])}`)
    expect(response.headers.get('idempotency-replayed')).toBeNull()
    expect(isSealed(edge, members)).toBe(true)
    for (const [member, value] of Object.entries(members)) {
      if (member === 'signature') continue
      const forged = { ...members, [member]: typeof value === 'boolean' ? !value : `${String(value)}x` }
      expect([member, isSealed(edge, forged)]).toEqual([member, false])
    }
    const read = await edge.get(`${PATH}/${String(members['attestation_id'])}`, await edge.tokenFor('viewer'))
    expect(await bodyOf(read)).toEqual(members)
  })

  test('what is not given is not there, and unknown fields of an unsigned body are ignored', async () => {
    const edge = attestationEdge()
    const members = await stated(edge, await edge.tokenFor('admin'), { status: 'revoked', note: 'x' })
    expect(Object.keys(members)).not.toContain('evidence_url')
    expect(Object.keys(members)).not.toContain('note')
    expect(members).toMatchObject({ status: 'active', submitted_by: 'client-admin' })
    expect(isSealed(edge, members)).toBe(true)
  })

  test('D1: a subject that does not exist is 404 with its field', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('transactor')
    for (const [change, field] of [
      [{ subject_class: 'cls_01K6ZZZZZZ0000000000000001' }, 'subject_class'],
      [{ subject_class: 'Gold bars' }, 'subject_class'],
      [{ subject_class: `${CLASS_ID}/x` }, 'subject_class'],
      [{ subject_instance: 'bar:0002' }, 'subject_instance'],
    ] as const) {
      const response = await edge.post(PATH, { ...BODY, ...change }, token)
      expect(await refusalOf(response)).toEqual({ status: 404, codes: ['ERR_NOT_FOUND'], fields: [field] })
    }
    expect(edge.attestations.state.attestations.size).toBe(0)
    // What can be no class is looked for nowhere.
    edge.reads.failure = new ReadsUnavailable('away')
    expect((await edge.post(PATH, { ...BODY, subject_class: 'Gold bars' }, token)).status).toBe(404)
  })

  test('an attestation is not dated before the mint, nor its revocation before it, however late the clock is', async () => {
    const edge = attestationEdge()
    const mintedAtMs = edge.clock.now() + 400
    addInstance(edge, 'young', mintedAtMs)
    const members = await stated(edge, await edge.tokenFor('transactor'), { subject_instance: 'young' })
    expect(members['created_at']).toBe(new Date(mintedAtMs).toISOString())
    const path = `${PATH}/${String(members['attestation_id'])}/revoke`
    const revoked = await bodyOf(await edge.post(path, {}, await edge.tokenFor('transactor')))
    expect(revoked['revoked_at']).toBe(members['created_at'])
  })

  test('D8: a 503 tells the outcome, also of a write that took effect and nobody was told of', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('transactor')
    edge.attestations.lost = new AttestationStoreUnavailable('away')
    const lost = await edge.post(PATH, BODY, token, KEY)
    expect(await bodyOf(lost)).toMatchObject({
      status: 503,
      outcome: 'unknown',
      error_codes: ['ERR_DOWNSTREAM_FAILURE'],
    })
    expect(edge.log.at(-1)).toMatchObject({ level: 'warn', event: 'port_unavailable' })
    edge.attestations.lost = null
    const again = await edge.post(PATH, BODY, token, KEY)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(edge.attestations.state.attestations.size).toBe(1)
    for (const fail of [
      () => (edge.reads.failure = new ReadsUnavailable('away')),
      () => ((edge.reads.failure = null), (edge.keys.failsAt = 'sign')),
      () => (edge.attestations.failure = new AttestationStoreUnavailable('away')),
    ]) {
      fail()
      const response = await edge.post(PATH, BODY, token)
      expect(await bodyOf(response)).toMatchObject({ status: 503, outcome: 'unknown' })
    }
    expect(edge.attestations.state.attestations.size).toBe(1)
  })
})

describe('POST /v1/attestations, signed by the attester', () => {
  test('D13: a signature by the key of the account that is named makes it verified', async () => {
    const edge = attestationEdge()
    const key = addSigner(edge, BODY.attester)
    const token = await edge.tokenFor('transactor')
    const members = await bodyOf(await edge.post(PATH, signedBody(BODY, key), token))
    expect(members).toMatchObject({ attester_verified: true, submitted_by: 'client-transactor' })
    expect(isSealed(edge, members)).toBe(true)
    expect(members['signature']).not.toBe(signedBody(BODY, key)['signature'])
  })

  test('D13: a name that is not an account ID cannot be verified', async () => {
    const edge = attestationEdge()
    const body = { ...BODY, attester: 'Lab GmbH' }
    const response = await edge.post(PATH, signedBody(body, addSigner(edge, 'Lab GmbH')), await edge.tokenFor('admin'))
    expect(await bodyOf(response)).toMatchObject({ status: 403, error_codes: ['ERR_SIGNATURE_MISMATCH'] })
    expect(edge.attestations.state.attestations.size).toBe(0)
  })

  test('D6: any other signature is 403, and nothing is stored', async () => {
    const edge = attestationEdge()
    const key = addSigner(edge, BODY.attester)
    const other = addSigner(edge, 'other@x')
    edge.reads.accountViews.set('keyless@x', accountView('keyless@x', { key: null }))
    const token = await edge.tokenFor('admin')
    const keyId = edge.reads.accountViews.get(BODY.attester)?.key?.keyId
    for (const [body, named, detail] of [
      [signedBody(BODY, other), keyId, /does not match/],
      [{ ...signedBody(BODY, key), statement: 'Fine gold, 999.' }, keyId, /does not match/],
      [{ ...signedBody(BODY, key), evidence_url: 'https://assay.example/' }, keyId, /does not match/],
      [{ ...BODY, signature: 'garbage' }, keyId, /cannot be decoded/],
      [{ ...BODY, signature: 'A'.repeat(100_000) }, keyId, /cannot be decoded/],
      [signedBody({ ...BODY, attester: 'keyless@x' }, key), undefined, /has no key/],
      [signedBody({ ...BODY, attester: 'nobody@x' }, key), undefined, /has no key/],
    ] as const) {
      const response = await edge.post(PATH, body, token)
      const problem = await bodyOf(response)
      const payload = Object.fromEntries(Object.entries<Json>(body).filter(([field]) => field !== 'signature'))
      expect(problem).toMatchObject({ status: 403, error_codes: ['ERR_SIGNATURE_MISMATCH'] })
      expect(problem['detail']).toMatch(detail)
      expect([problem['key_id'], problem['payload_digest']]).toEqual([named, digestOf(payload)])
    }
    expect(edge.attestations.state.attestations.size).toBe(0)
  })
})
