import { describe, expect, test } from 'vitest'
import { AttestationStoreUnavailable } from '../../../runtime/ports/attestation-store.ts'
import { attestationEdge, BODY, CLASS_ID, INSTANCE_ID, isSealed, MINT, PATH, stated } from './attestation-scene.ts'
import { bodyOf, refusalOf } from './edge-fixture.ts'

function listedForm(members: Record<string, unknown>): Record<string, unknown> {
  const left = new Set(['evidence_url', 'key_id', 'signature'])
  return Object.fromEntries(Object.entries(members).filter(([member]) => !left.has(member)))
}

describe('GET /v1/attestations/{id}', () => {
  test('N4: no signature stands beside another name than the one that was signed', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const before = await stated(edge, token)
    const id = String(before['attestation_id'])
    const { attestations } = edge.attestations.state
    const attestation = attestations.get(id)
    if (attestation === undefined) throw new Error('there is no attestation')
    // As the store tells of it once the account of its attester was erased.
    const attester = 'erased:0123456789ab'
    attestations.set(id, { ...attestation, attester })
    const { signature: _, key_id: __, ...unsigned } = before
    expect(await bodyOf(await edge.get(`${PATH}/${id}`, token))).toEqual({ ...unsigned, attester })
    const revoked = await bodyOf(await edge.post(`${PATH}/${id}/revoke`, {}, token))
    expect(revoked).toMatchObject({ attester, status: 'revoked' })
    expect(Object.keys(revoked)).not.toEqual(expect.arrayContaining(['signature']))
    expect(Object.keys(revoked)).not.toEqual(expect.arrayContaining(['key_id']))
  })
})

describe('POST /v1/attestations/{id}/revoke', () => {
  test('D13: revoked by who submitted it, it says so, with its reason, and is signed as it is then', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('transactor')
    const before = await stated(edge, token, { evidence_url: 'ipfs://cid/1' })
    await edge.clock.advance(1_000)
    const path = `${PATH}/${String(before['attestation_id'])}`
    const response = await edge.post(`${path}/revoke`, { reason: 'weighed again' }, token)
    expect(response.status).toBe(200)
    const revoked = await bodyOf(response)
    expect(revoked).toEqual({
      ...before,
      status: 'revoked',
      revoked_at: '2025-10-09T08:53:21.123Z',
      revoked_by: 'client-transactor',
      revocation_reason: 'weighed again',
      signature: expect.any(String),
    })
    expect(isSealed(edge, revoked)).toBe(true)
    expect(isSealed(edge, { ...revoked, status: 'active' })).toBe(false)
    expect(isSealed(edge, { ...before, signature: revoked['signature'] })).toBe(false)
    expect(await bodyOf(await edge.get(path, token))).toEqual(revoked)
  })

  test('again it is 200 and nothing new, whoever asks and whatever the reason', async () => {
    const edge = attestationEdge()
    const { attestation_id: id } = await stated(edge, await edge.tokenFor('transactor'))
    const first = await edge.post(`${PATH}/${String(id)}/revoke`, {}, await edge.tokenFor('admin'))
    const text = await first.text()
    expect(JSON.parse(text)).toMatchObject({ status: 'revoked', revoked_by: 'client-admin' })
    expect(text).not.toContain('revocation_reason')
    await edge.clock.advance(1_000)
    const token = await edge.tokenFor('transactor')
    // Nothing is signed for it.
    edge.keys.failsAt = 'sign'
    const again = await edge.post(`${PATH}/${String(id)}/revoke`, { reason: 'other' }, token)
    expect([again.status, await again.text()]).toEqual([200, text])
  })

  test('of concurrent revocations one stays, and all are told of it', async () => {
    const edge = attestationEdge()
    const tokens = [await edge.tokenFor('transactor'), await edge.tokenFor('admin')]
    const { attestation_id: id } = await stated(edge, tokens[0] ?? '')
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        edge.post(`${PATH}/${String(id)}/revoke`, { reason: `${number}` }, tokens[number % 2]),
      ),
    )
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  })

  test('anybody else is 403, also when it is revoked, and changes nothing', async () => {
    const edge = attestationEdge()
    const { attestation_id: id } = await stated(edge, await edge.tokenFor('transactor'))
    const path = `${PATH}/${String(id)}/revoke`
    const stranger = await edge.tokenFor('transactor', 'another')
    for (const token of [await edge.tokenFor('viewer'), stranger]) {
      expect(await refusalOf(await edge.post(path, {}, token))).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
    }
    expect(edge.attestations.state.attestations.get(String(id))?.revocation).toBeNull()
    await edge.post(path, {}, await edge.tokenFor('admin'))
    expect((await edge.post(path, {}, stranger)).status).toBe(403)
  })

  test('D8: a 503 tells the outcome', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const { attestation_id: id } = await stated(edge, token)
    edge.attestations.lost = new AttestationStoreUnavailable('away')
    const response = await edge.post(`${PATH}/${String(id)}/revoke`, {}, token)
    expect(await bodyOf(response)).toMatchObject({ status: 503, outcome: 'unknown' })
  })
})

describe('GET /v1/attestations', () => {
  async function fixture() {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const made: Record<string, unknown>[] = []
    for (const attester of ['a@x', 'b@x', 'a@x']) {
      await edge.clock.advance(1)
      made.push(await stated(edge, token, { attester, evidence_url: 'https://assay.example/1' }))
    }
    const idsOf = async (query: string): Promise<readonly unknown[]> => {
      const { attestations } = await bodyOf(await edge.get(`${PATH}${query}`, token))
      return (attestations as { attestation_id: string }[]).map((one) =>
        made.findIndex(({ attestation_id: id }) => id === one.attestation_id),
      )
    }
    return { edge, token, made, idsOf }
  }

  test('D13: newest first, without evidence and without a signature that would be over it', async () => {
    const { edge, token, made } = await fixture()
    const list = await bodyOf(await edge.get(PATH, token))
    const listed = made.toReversed().map(listedForm)
    expect(list).toEqual({ attestations: listed, next_page_token: '' })
    const revoked = await edge.post(`${PATH}/${String(made[0]?.['attestation_id'])}/revoke`, { reason: 'r' }, token)
    const shown = listedForm(await bodyOf(revoked))
    const after = await bodyOf(await edge.get(`${PATH}?status=revoked`, token))
    expect(after).toEqual({ attestations: [shown], next_page_token: '' })
  })

  test('each filter filters; one that nothing meets is 200, empty', async () => {
    const { edge, token, made, idsOf } = await fixture()
    await edge.post(`${PATH}/${String(made[0]?.['attestation_id'])}/revoke`, {}, token)
    for (const [query, found] of [
      ['?source=a@x', [2, 0]],
      ['?status=active', [2, 1]],
      ['?status=active&source=a@x', [2]],
      [`?subject_class=${CLASS_ID}&subject_instance=bar:0001`, [2, 1, 0]],
      ['?subject_instance=bar:0001&source=b@x', [1]],
      ['?asset_class=GOLD%20bars', [2, 1, 0]],
      [`?asset_class=${CLASS_ID}&status=revoked`, [0]],
      ['?subject_class=nothing', []],
      ['?subject_instance=%F0%9F', []],
      ['?asset_class=nothing', []],
      ['?asset_class=', []],
      ['?source=A@x', []],
      ['?status=pending', []],
    ] as const) {
      expect([query, await idsOf(query)]).toEqual([query, found])
    }
  })
})

describe('GET /v1/nft-classes/{classId}/instances/{instanceId}/provenance', () => {
  const PROVENANCE = `/v1/nft-classes/${CLASS_ID}/instances/${INSTANCE_ID}/provenance`

  /** Mint, transfer, statement, burn, statement taken back. */
  async function fixture() {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const atMs = edge.clock.now()
    const transfer = { ...MINT, number: 1, type: 'transfer', from: 'owner@x', to: 'b@x', txnId: 'txn_1', atMs } as const
    const burn = { ...transfer, number: 2, type: 'burn', from: 'b@x', txnId: 'txn_2', atMs: atMs + 10 } as const
    const events = [MINT, transfer, burn]
    edge.attestations.state.instances.set(`${CLASS_ID}/${INSTANCE_ID}`, { issuer: 'issuer@mint', events })
    const { attestation_id: id } = await stated(edge, token)
    await edge.clock.advance(20)
    await edge.post(`${PATH}/${String(id)}/revoke`, { reason: 'weighed again' }, token)
    const whole = [
      { depth: 0, event: 'mint', actor: 'issuer@mint', txn_id: MINT.txnId, timestamp: '2025-09-27T19:06:40.000Z' },
      { depth: 1, event: 'transfer', actor: 'owner@x', txn_id: 'txn_1', timestamp: '2025-10-09T08:53:20.123Z' },
      {
        depth: 1,
        event: 'attestation',
        actor: BODY.attester,
        attestation_id: id,
        timestamp: '2025-10-09T08:53:20.123Z',
        details: BODY.statement,
      },
      { depth: 1, event: 'burn', actor: 'b@x', txn_id: 'txn_2', timestamp: '2025-10-09T08:53:20.133Z' },
      {
        depth: 1,
        event: 'revocation',
        actor: BODY.attester,
        attestation_id: id,
        timestamp: '2025-10-09T08:53:20.143Z',
        revoked_by: 'client-admin',
        details: 'weighed again',
      },
    ]
    return { edge, token, whole }
  }

  test('D11: what became of it and what was stated of it, from the mint, in order', async () => {
    const { edge, whole } = await fixture()
    const response = await edge.get(PROVENANCE, await edge.tokenFor('viewer'))
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual({
      class_id: CLASS_ID,
      instance_id: INSTANCE_ID,
      provenance: whole,
      next_page_token: '',
    })
  })

  test('a revocation without a reason has no details', async () => {
    const { edge, token, whole } = await fixture()
    await edge.clock.advance(1)
    const { attestation_id: id } = await stated(edge, token)
    await edge.post(`${PATH}/${String(id)}/revoke`, {}, token)
    const { provenance } = await bodyOf(await edge.get(PROVENANCE, token))
    expect((provenance as object[]).slice(whole.length)).toEqual([
      expect.objectContaining({ depth: 1, event: 'attestation', details: BODY.statement }),
      expect.not.objectContaining({ details: expect.anything() }),
    ])
  })

  test('D11: entries up to max_depth, 10 unless said', async () => {
    const { edge, token, whole } = await fixture()
    for (const [depth, count] of [
      [0, 1],
      ['0001', 5],
      [1_000, 5],
    ] as const) {
      const { provenance } = await bodyOf(await edge.get(`${PROVENANCE}?max_depth=${depth}`, token))
      expect(provenance).toEqual(whole.slice(0, count))
    }
    for (let number = 0; number < 8; number += 1) await stated(edge, token)
    const { provenance, next_page_token: end } = await bodyOf(await edge.get(PROVENANCE, token))
    expect([(provenance as object[]).length, end]).toEqual([whole.length + 8, ''])
  })

  test('D11: attestations behind the tenth entry are within the depth of their ownership', async () => {
    const { edge, token } = await fixture()
    for (let number = 0; number < 12; number += 1) await stated(edge, token)
    const { provenance } = await bodyOf(await edge.get(`${PROVENANCE}?max_depth=1`, token))
    expect(provenance).toHaveLength(17)
  })

  test('a depth that is none is 400, and a page token is good for its own depth', async () => {
    const { edge, token } = await fixture()
    for (const depth of ['-1', '1001', '1.5', '', 'all', '1e3', '99999999999999999999']) {
      expect(await refusalOf(await edge.get(`${PROVENANCE}?max_depth=${depth}`, token))).toEqual({
        status: 400,
        codes: ['ERR_INVALID_QUERY'],
        fields: ['max_depth'],
      })
    }
    const { next_page_token: next } = await bodyOf(await edge.get(`${PROVENANCE}?page_size=1`, token))
    const response = await edge.get(`${PROVENANCE}?max_depth=9&page_token=${String(next)}`, token)
    expect(await refusalOf(response)).toMatchObject({ status: 400, fields: ['page_token'] })
  })
})
