/** The endpoints of attestations. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { type Members, signed } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { classOf, mintedTo } from '../../support/client-nfts.ts'
import { ATTESTATION_ID, NO_ATTESTATION, TIMESTAMP } from './forms.ts'
import { once } from './once.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const PATH = '/v1/attestations'

export function attestationsChapter(suite: Suite): void {
  const row = suite.chapter('Attestations')

  row('POST /v1/attestations', '201 with the attestation', async (stage) => {
    const { transactor, cast } = stage
    const body = {
      attester: 'valuer@london',
      subject_class: cast.classId,
      subject_instance: 'deed-2',
      attestation_type: 'valuation',
      statement: 'Ten.',
      evidence_url: 'ar://abc',
    }
    const reply = await transactor.post(PATH, body)
    expect(reply.status).toBe(201)
    expect(membersOf(reply)).toEqual({
      ...body,
      attestation_id: expect.stringMatching(ATTESTATION_ID),
      created_at: expect.stringMatching(TIMESTAMP),
      status: 'active',
      submitted_by: stage.credentials.transactor.clientId,
      attester_verified: false,
      key_id: expect.any(String),
      signature: expect.any(String),
    })
    expect(reply.headers.location).toBe(`${PATH}/${textOf(membersOf(reply), 'attestation_id')}`)
  })

  row(
    'POST /v1/attestations',
    'says whether the attester has signed; another signature is 403',
    async ({ transactor, cast }) => {
      const body = {
        attester: cast.bob.accountId,
        subject_class: cast.classId,
        subject_instance: 'deed-2',
        attestation_type: 'receipt',
        statement: 'Seen.',
      }
      const own = await transactor.post(PATH, signed(body, cast.bob.keys.privateKey))
      expect([own.status, membersOf(own)['attester_verified']]).toEqual([201, true])
      const forged = await transactor.post(PATH, signed(body, cast.alice.keys.privateKey))
      expect(outcomeOf(forged)).toBe('403 ERR_SIGNATURE_MISMATCH')
    },
  )

  row('GET /v1/attestations/{id}', '200 with the attestation; 404 when it is unknown', async ({ viewer, cast }) => {
    const made = membersOf(cast.attestation)
    expect(await viewer.read(`${PATH}/${textOf(made, 'attestation_id')}`)).toEqual(made)
    for (const id of [NO_ATTESTATION, 'att_', 'nothing']) {
      expect([id, outcomeOf(await viewer.get(`${PATH}/${id}`))]).toEqual([id, '404 ERR_NOT_FOUND'])
    }
  })

  row('GET /v1/attestations', '200 with attestations, newest first, by any filter and all of them', async (stage) => {
    const { classId, className, ids } = await statements(stage)
    const [first, second, third] = ids
    const filters: readonly (readonly [string, readonly unknown[]])[] = [
      [`subject_class=${classId}`, [third, second, first]],
      [`subject_class=${classId}&subject_instance=one`, [second, first]],
      ['subject_instance=two-of-list', [third]],
      [`asset_class=${classId}`, [third, second, first]],
      [`asset_class=${encodeURIComponent(className)}`, [third, second, first]],
      [`subject_class=${classId}&source=second@list`, [second]],
      [`subject_class=${classId}&status=active`, [third, first]],
      [`subject_class=${classId}&status=revoked`, [second]],
      [`subject_class=${classId}&source=first@list&status=revoked`, []],
      ['subject_class=nothing', []],
      ['status=unheard-of', []],
    ]
    for (const [query, expected] of filters) {
      const list = await stage.viewer.read(`${PATH}?${query}`)
      const found = (list['attestations'] as readonly Members[]).map((one) => one['attestation_id'])
      expect([query, found]).toEqual([query, expected])
    }
    const page = await stage.viewer.read(`${PATH}?subject_class=${classId}&page_size=2`)
    expect(Object.keys(page).toSorted()).toEqual(['attestations', 'next_page_token'])
    const next = encodeURIComponent(textOf(page, 'next_page_token'))
    const last = await stage.viewer.read(`${PATH}?subject_class=${classId}&page_token=${next}`)
    expect(last).toMatchObject({ attestations: [{ attestation_id: first }], next_page_token: '' })
  })
}

/** Three on a class of their own: two on one instance, the second of which is revoked, and one on another. */
const statements = once(async ({ transactor, cast }: Stage) => {
  const className = 'Listed statements'
  const classId = await classOf(transactor, className, cast.alice)
  for (const instance_id of ['one', 'two-of-list']) {
    await mintedTo(transactor, cast.alice, { class_id: classId, instance_id })
  }
  const ids: string[] = []
  for (const [attester, instance] of [
    ['first@list', 'one'],
    ['second@list', 'one'],
    ['third@list', 'two-of-list'],
  ] as const) {
    const body = { attester, subject_class: classId, subject_instance: instance, attestation_type: 't', statement: 's' }
    ids.push(textOf(membersOf(await transactor.post(PATH, body)), 'attestation_id'))
  }
  const revoked = await transactor.post(`${PATH}/${ids[1] ?? ''}/revoke`, { reason: 'mistaken' })
  if (revoked.status !== 200) throw new Error(`revocation: ${revoked.status} ${revoked.body}`)
  return { classId, className, ids }
})
