/** D11, D13: the edge lists and filters attestations, and shows them in the provenance of their NFT. */
import { describe, expect, test } from 'vitest'
import { attestationEdge, BODY, INSTANCE_ID, MINT, PATH, revoke, stated } from './attestation-scene.ts'
import { bodyOf, refusalOf } from '../fakes/edge-fixture.ts'
import { CLASS_ID } from './written-requests.ts'

describe('GET /v1/attestations', () => {
  async function fixture() {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const made: Record<string, unknown>[] = []
    for (const attester of ['a@x', 'b@x', 'a@x']) {
      await edge.clock.advance(1)
      made.push(await stated(edge, token, { attester, evidence_url: 'https://assay.example/1' }))
    }
    const revoked = await bodyOf(await revoke(edge, made[0]?.['attestation_id'], token, { reason: 'r' }))
    return { edge, token, made: [revoked, ...made.slice(1)] }
  }

  test('the list is newest first, without evidence and signatures', async () => {
    const { edge, token, made } = await fixture()
    const left = new Set(['evidence_url', 'key_id', 'signature'])
    const listed = made.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => !left.has(name))))
    const list = await bodyOf(await edge.get(PATH, token))
    expect(list).toEqual({ attestations: listed.toReversed(), next_page_token: '' })
  })

  // attestation-store.contract.ts tests the filters of the store.
  test('each filter is applied, and one without a match is 200 with an empty list', async () => {
    const { edge, token, made } = await fixture()
    for (const [query, found] of [
      ['?source=a@x', [2, 0]],
      ['?status=revoked', [0]],
      ['?status=active&source=a@x', [2]],
      [`?subject_class=${CLASS_ID}&subject_instance=bar:0001`, [2, 1, 0]],
      ['?asset_class=GOLD%20bars', [2, 1, 0]],
      ['?subject_class=nothing', []],
      ['?subject_instance=%F0%9F', []],
      ['?asset_class=', []],
      ['?status=pending', []],
    ] as const) {
      const { attestations } = await bodyOf(await edge.get(`${PATH}${query}`, token))
      const ids = (attestations as { attestation_id: string }[]).map(({ attestation_id: id }) => id)
      expect([query, ids]).toEqual([query, found.map((index) => made[index]?.['attestation_id'])])
    }
  })
})

describe('GET /v1/nft-classes/{classId}/instances/{instanceId}/provenance', () => {
  const PROVENANCE = `/v1/nft-classes/${CLASS_ID}/instances/${INSTANCE_ID}/provenance`
  const STATED_AT = '2025-10-09T08:53:20.123Z'

  /** An NFT with a mint, a transfer, an attestation, a burn and a revocation. */
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
    await revoke(edge, id, token, { reason: 'weighed again' })
    const ofStatement = { depth: 1, actor: BODY.attester, attestation_id: id }
    const revoked = { revoked_by: 'client-admin', details: 'weighed again' }
    const whole = [
      { depth: 0, event: 'mint', actor: 'issuer@mint', txn_id: MINT.txnId, timestamp: '2025-09-27T19:06:40.000Z' },
      { depth: 1, event: 'transfer', actor: 'owner@x', txn_id: 'txn_1', timestamp: STATED_AT },
      { ...ofStatement, event: 'attestation', timestamp: STATED_AT, details: BODY.statement },
      { depth: 1, event: 'burn', actor: 'b@x', txn_id: 'txn_2', timestamp: '2025-10-09T08:53:20.133Z' },
      { ...ofStatement, event: 'revocation', timestamp: '2025-10-09T08:53:20.143Z', ...revoked },
    ]
    const shown = async (query = '') => (await bodyOf(await edge.get(`${PROVENANCE}${query}`, token)))['provenance']
    return { edge, token, whole, shown }
  }

  test('provenance has events and attestations from the mint on, in order', async () => {
    const { edge, whole } = await fixture()
    const response = await edge.get(PROVENANCE, await edge.tokenFor('viewer'))
    const shown = { class_id: CLASS_ID, instance_id: INSTANCE_ID, provenance: whole, next_page_token: '' }
    expect([response.status, await bodyOf(response)]).toEqual([200, shown])
  })

  test('a revocation without a reason has no details', async () => {
    const { edge, token, whole, shown } = await fixture()
    await edge.clock.advance(1)
    await revoke(edge, (await stated(edge, token))['attestation_id'], token)
    expect(((await shown()) as object[]).slice(whole.length)).toEqual([
      expect.objectContaining({ depth: 1, event: 'attestation', details: BODY.statement }),
      expect.not.objectContaining({ details: expect.anything() }),
    ])
  })

  test('provenance ends at max_depth (default 10); an attestation has the depth of the owner at its time', async () => {
    const { edge, token, whole, shown } = await fixture()
    for (const [depth, count] of [
      ['0', 1],
      ['0001', 5],
      ['1000', 5],
    ] as const) {
      expect(await shown(`?max_depth=${depth}`)).toEqual(whole.slice(0, count))
    }
    for (let number = 0; number < 12; number += 1) await stated(edge, token)
    for (const query of ['', '?max_depth=1']) expect(await shown(query)).toHaveLength(whole.length + 12)
  })

  test.for(['-1', '1001', '1.5', '', 'all', '1e3', '99999999999999999999'])('a depth of %j is 400', async (depth) => {
    const { edge, token } = await fixture()
    const refused = await refusalOf(await edge.get(`${PROVENANCE}?max_depth=${depth}`, token))
    expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_QUERY'], fields: ['max_depth'] })
  })

  test('a page token is valid only for its max_depth', async () => {
    const { edge, token } = await fixture()
    const { next_page_token: next } = await bodyOf(await edge.get(`${PROVENANCE}?page_size=1`, token))
    const response = await edge.get(`${PROVENANCE}?max_depth=9&page_token=${String(next)}`, token)
    expect(await refusalOf(response)).toMatchObject({ status: 400, fields: ['page_token'] })
  })
})
