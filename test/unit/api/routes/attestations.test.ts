/** D13: the edge stores attestations, signs them as shown, and lets only their submitter or an admin revoke them. */
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../../actors/canonical-json.ts'
import { AttestationStoreUnavailable } from '../../../../runtime/ports/attestation-store.ts'
import { ReadsUnavailable } from '../../../../runtime/ports/ledger-reads.ts'
import {
  addInstance,
  addSigner,
  attestationEdge,
  BODY,
  isSealed,
  PATH,
  revoke,
  signedBody,
  stated,
} from './attestation-scene.ts'
import { accountView, bodyOf, digestOf, refusalOf } from '../fakes/edge-fixture.ts'
import { CLASS_ID } from './written-requests.ts'

const ID = /^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const AWAY = new AttestationStoreUnavailable('away')

async function scene(role: 'transactor' | 'admin' = 'transactor') {
  const edge = attestationEdge()
  const { attestations: stored } = edge.attestations.state
  return { edge, stored, token: await edge.tokenFor(role) }
}

describe('POST /v1/attestations', () => {
  test('a new attestation is 201 with all its members, stored, and signed by the service', async () => {
    const { edge, token } = await scene()
    const body = { ...BODY, evidence_url: 'https://assay.example/1?a=b#c' }
    const response = await edge.post(PATH, body, token)
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
    for (const [member, value] of Object.entries(members).filter(([name]) => name !== 'signature')) {
      const forged = { ...members, [member]: typeof value === 'boolean' ? !value : `${String(value)}x` }
      expect([member, isSealed(edge, forged)]).toEqual([member, false])
    }
    const read = await edge.get(`${PATH}/${String(members['attestation_id'])}`, await edge.tokenFor('viewer'))
    expect(await bodyOf(read)).toEqual(members)
    const bare = await stated(edge, token, { status: 'revoked', note: 'x' })
    expect(Object.keys(bare).toSorted()).toEqual(
      Object.keys(members)
        .filter((name) => name !== 'evidence_url')
        .toSorted(),
    )
    expect([bare['status'], isSealed(edge, bare)]).toEqual(['active', true])
  })

  test.for([
    [{ subject_class: 'cls_01K6ZZZZZZ0000000000000001' }, 'subject_class'],
    [{ subject_class: 'Gold bars' }, 'subject_class'],
    [{ subject_class: `${CLASS_ID}/x` }, 'subject_class'],
    [{ subject_instance: 'bar:0002' }, 'subject_instance'],
  ] as const)('D1: a subject that does not exist is 404 with its field: %j', async ([change, field]) => {
    const { edge, stored, token } = await scene()
    const refused = await refusalOf(await edge.post(PATH, { ...BODY, ...change }, token))
    expect(refused).toEqual({ status: 404, codes: ['ERR_NOT_FOUND'], fields: [field] })
    expect(stored.size).toBe(0)
  })

  test('an attestation is dated no earlier than the mint, and its revocation no earlier than itself, with a slow clock', async () => {
    const { edge, token } = await scene()
    const mintedAtMs = edge.clock.now() + 400
    addInstance(edge, 'young', mintedAtMs)
    const members = await stated(edge, token, { subject_instance: 'young' })
    expect(members['created_at']).toBe(new Date(mintedAtMs).toISOString())
    const revoked = await bodyOf(await revoke(edge, members['attestation_id'], token))
    expect(revoked['revoked_at']).toBe(members['created_at'])
  })

  test('D8: a 503 has the outcome, also for a write that took effect but got no reply', async () => {
    const { edge, stored, token } = await scene()
    const once = () => edge.post(PATH, BODY, token, { 'idempotency-key': 'once' })
    edge.attestations.lost = AWAY
    const unknown = { status: 503, outcome: 'unknown', error_codes: ['ERR_DOWNSTREAM_FAILURE'] }
    expect(await bodyOf(await once())).toMatchObject(unknown)
    expect(edge.log.at(-1)).toMatchObject({ level: 'warn', event: 'port_unavailable' })
    const [[id] = ['']] = stored
    expect(await bodyOf(await revoke(edge, id, token))).toMatchObject(unknown)
    edge.attestations.lost = null
    const again = await once()
    expect([again.status, again.headers.get('idempotency-replayed'), stored.size]).toEqual([201, 'true', 1])
    for (const fail of [
      () => (edge.reads.failure = new ReadsUnavailable('away')),
      () => ((edge.reads.failure = null), (edge.keys.failsAt = 'sign')),
      () => (edge.attestations.failure = AWAY),
    ]) {
      fail()
      expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
    }
    expect(stored.size).toBe(1)
  })

  test('a signature by the key of the named account makes the attestation verified', async () => {
    const { edge, token } = await scene()
    const body = signedBody(BODY, addSigner(edge, BODY.attester))
    const members = await bodyOf(await edge.post(PATH, body, token))
    expect(members).toMatchObject({ attester_verified: true, submitted_by: 'client-transactor' })
    expect([isSealed(edge, members), members['signature'] === body['signature']]).toEqual([true, false])
  })

  test('D6: any other signature is 403, and nothing is stored', async () => {
    const { edge, stored, token } = await scene('admin')
    const [key, other, lab] = [BODY.attester, 'other@x', 'Lab GmbH'].map((name) => addSigner(edge, name))
    if (key === undefined || other === undefined || lab === undefined) throw new Error('there are three')
    edge.reads.accountViews.set('keyless@x', accountView('keyless@x', { key: null }))
    const keyId = edge.reads.accountViews.get(BODY.attester)?.key?.keyId
    for (const [body, named, detail] of [
      [signedBody(BODY, other), keyId, /does not match/],
      [{ ...signedBody(BODY, key), statement: 'Fine gold, 999.' }, keyId, /does not match/],
      [{ ...signedBody(BODY, key), evidence_url: 'https://assay.example/' }, keyId, /does not match/],
      [{ ...BODY, signature: 'garbage' }, keyId, /cannot be decoded/],
      [{ ...BODY, signature: 'A'.repeat(100_000) }, keyId, /cannot be decoded/],
      [signedBody({ ...BODY, attester: 'keyless@x' }, key), undefined, /has no key/],
      [signedBody({ ...BODY, attester: 'nobody@x' }, key), undefined, /has no key/],
      // A name that is no account ID cannot be verified.
      [signedBody({ ...BODY, attester: 'Lab GmbH' }, lab), undefined, /./],
    ] as const) {
      const problem = await bodyOf(await edge.post(PATH, body, token))
      const payload = Object.fromEntries(Object.entries<Json>(body).filter(([field]) => field !== 'signature'))
      expect(problem).toMatchObject({ status: 403, error_codes: ['ERR_SIGNATURE_MISMATCH'] })
      expect(problem['detail']).toMatch(detail)
      expect([problem['key_id'], problem['payload_digest']]).toEqual([named, digestOf(payload)])
    }
    expect(stored.size).toBe(0)
  })
})

describe('POST /v1/attestations/{id}/revoke', () => {
  test('its submitter revokes it; the revoked attestation has the reason and a new signature', async () => {
    const { edge, token } = await scene()
    const before = await stated(edge, token, { evidence_url: 'ipfs://cid/1' })
    await edge.clock.advance(1_000)
    const response = await revoke(edge, before['attestation_id'], token, { reason: 'weighed again' })
    const revoked = await bodyOf(response)
    const revocation = { revoked_at: '2025-10-09T08:53:21.123Z', revoked_by: 'client-transactor' }
    const reason = { revocation_reason: 'weighed again', signature: expect.any(String) as unknown }
    expect([response.status, revoked]).toEqual([200, { ...before, status: 'revoked', ...revocation, ...reason }])
    expect(isSealed(edge, revoked)).toBe(true)
    expect(isSealed(edge, { ...revoked, status: 'active' })).toBe(false)
    expect(isSealed(edge, { ...before, signature: revoked['signature'] })).toBe(false)
    expect(await bodyOf(await edge.get(`${PATH}/${String(before['attestation_id'])}`, token))).toEqual(revoked)
  })

  test('a repeated revocation is 200 and changes nothing, for any client and reason', async () => {
    const { edge, token } = await scene()
    const { attestation_id: id } = await stated(edge, token)
    const text = await (await revoke(edge, id, await edge.tokenFor('admin'))).text()
    expect(JSON.parse(text)).toMatchObject({ status: 'revoked', revoked_by: 'client-admin' })
    expect(text).not.toContain('revocation_reason')
    await edge.clock.advance(1_000)
    // The repetition needs no signature.
    edge.keys.failsAt = 'sign'
    const again = await revoke(edge, id, token, { reason: 'other' })
    expect([again.status, await again.text()]).toEqual([200, text])
  })

  test('the first of concurrent revocations counts, and every reply shows it', async () => {
    const { edge, token } = await scene()
    const tokens = [token, await edge.tokenFor('admin')]
    const { attestation_id: id } = await stated(edge, token)
    const all = Array.from({ length: 8 }, (_, n) => revoke(edge, id, tokens[n % 2] ?? '', { reason: `${n}` }))
    const responses = await Promise.all(all)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1)
  })

  test('any other client gets 403, also after the revocation', async () => {
    const { edge, stored, token } = await scene()
    const { attestation_id: id } = await stated(edge, token)
    const stranger = await edge.tokenFor('transactor', 'another')
    for (const other of [await edge.tokenFor('viewer'), stranger]) {
      const refused = await refusalOf(await revoke(edge, id, other))
      expect(refused).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
    }
    expect(stored.get(String(id))?.revocation).toBeNull()
    await revoke(edge, id, await edge.tokenFor('admin'))
    expect((await revoke(edge, id, stranger)).status).toBe(403)
  })
})

test('N4: an attestation whose attester was erased is shown without the signature over the name', async () => {
  const { edge, stored, token } = await scene('admin')
  const { signature: _, key_id: __, ...unsigned } = await stated(edge, token)
  const id = String(unsigned['attestation_id'])
  const attestation = stored.get(id)
  if (attestation === undefined) throw new Error('there is no attestation')
  // The store returns this name once the account was erased.
  const attester = 'erased:0123456789ab'
  stored.set(id, { ...attestation, attester })
  expect(await bodyOf(await edge.get(`${PATH}/${id}`, token))).toEqual({ ...unsigned, attester })
  const revoked = await bodyOf(await revoke(edge, id, token))
  expect(revoked).toMatchObject({ attester, status: 'revoked' })
  expect(Object.keys(revoked).filter((name) => name === 'signature' || name === 'key_id')).toEqual([])
})
