/** The endpoints of assertions. */
import { expect } from 'vitest'
import { type HttpReply, membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { MINIMAL_DECIMAL, SHA_256, TIMESTAMP } from './forms.ts'
import { once } from './once.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

const COMMON = ['assertion_type', 'generated_at', 'key_id', 'ledger_id', 'requester']

export function assertionsChapter(suite: Suite): void {
  const row = suite.chapter('Assertions')

  row(
    'POST /v1/assertions/proof-of-liabilities',
    '200 with total_liabilities, merkle_root and generated_at, signed',
    async (stage) => {
      const result = await resultOf(stage, 'proof-of-liabilities', [
        'total_liabilities',
        'merkle_root',
        'by_token',
        'as_of',
      ])
      expect(result['total_liabilities']).toMatch(MINIMAL_DECIMAL)
      expect(result['merkle_root']).toMatch(SHA_256)
      const byToken = result['by_token'] as readonly Members[]
      const { total_supply: supply } = await stage.viewer.read('/v1/fungible-tokens/COIN')
      expect(byToken).toContainEqual({ token_id: 'COIN', total: supply })
      const sum = byToken.map(({ total }) => unitsOf(String(total))).reduce((a, b) => a + b, 0n)
      expect(unitsOf(textOf(result, 'total_liabilities'))).toBe(sum)
      const query = `merkle_root=${textOf(result, 'merkle_root')}`
      const proof = await stage.viewer.read(`/v1/accounts/${stage.cast.bob.accountId}/liability-proof?${query}`)
      expect(proof).toMatchObject({ merkle_root: result['merkle_root'] })
      expect((proof['proofs'] as readonly Members[]).map(({ token_id: id, amount }) => [id, amount])).toContainEqual([
        'COIN',
        '25',
      ])
    },
  )

  row(
    'POST /v1/assertions/proof-of-provenance',
    '200 with assets_verified, provenance_valid and generated_at, signed',
    async (stage) => {
      const members = ['assets_verified', 'provenance_valid', 'as_of', 'last_full_pass_at']
      const result = await resultOf(stage, 'proof-of-provenance', members)
      expect(result['provenance_valid']).toBe(true)
      const classes = await stage.viewer.readAll('/v1/nft-classes', 'classes')
      let minted = 0
      for (const one of classes) {
        const path = `/v1/nft-classes/${textOf(one, 'class_id')}/instances`
        minted += (await stage.viewer.readAll(path, 'instances')).length
      }
      expect(result['assets_verified']).toBe(minted)
    },
  )

  row(
    'POST /v1/assertions/proof-of-compliance',
    '200 with compliant, frameworks and generated_at, signed',
    async (stage) => {
      const members = ['compliant', 'frameworks', 'controls', 'as_of', 'last_full_pass_at']
      const result = await resultOf(stage, 'proof-of-compliance', members)
      expect([result['compliant'], result['frameworks']]).toEqual([true, ['ledger-integrity-1']])
      const controls = result['controls'] as readonly Members[]
      expect(controls.length).toBeGreaterThan(0)
      for (const control of controls) expect(control).toMatchObject({ passed: true, failed: 0 })
      expect(controls.some(({ checked }) => Number(checked) > 0)).toBe(true)
    },
  )

  row('POST /v1/assertions/verify', '200 with valid true and verified_at, for anyone who holds it', async (stage) => {
    const assertion = await made(stage)
    for (const client of [stage.viewer, stage.stranger]) {
      expect(membersOf(await client.post('/v1/assertions/verify', assertion))).toEqual({
        valid: true,
        verified_at: expect.stringMatching(TIMESTAMP),
      })
    }
  })

  row(
    'POST /v1/assertions/verify',
    '200 with valid false and a reason for whatever was not signed so',
    async (stage) => {
      const assertion = await made(stage)
      const result = assertion['result'] as Members
      const other = membersOf(await asked(stage, 'proof-of-provenance', { requester: 'r' }))
      const changed: readonly Members[] = [
        { ...assertion, result: { ...result, compliant: false } },
        { ...assertion, result: { ...result, requester: 'others' } },
        { ...assertion, result: {} },
        { ...assertion, result: { ...result, more: 1 } },
        { ...assertion, assertion_type: 'proof-of-provenance' },
        { ...assertion, assertion_type: 'proof-of-anything' },
        { ...assertion, signature: textOf(other, 'signature') },
        { ...assertion, signature: 'AAAA' },
        { ...assertion, signature: 'garbage !' },
        { ...assertion, signature: '' },
      ]
      for (const body of changed) {
        const reply = await stage.viewer.post('/v1/assertions/verify', body)
        expect([reply.status, membersOf(reply)]).toEqual([
          200,
          { valid: false, verified_at: expect.stringMatching(TIMESTAMP), reason: expect.stringMatching(/./) },
        ])
      }
    },
  )
}

function asked({ viewer }: Stage, type: string, body: unknown): Promise<HttpReply> {
  return viewer.post(`/v1/assertions/${type}`, body as Members)
}

/** As verify takes it. */
const made = once(async (stage) => {
  const { requester: _, ...assertion } = membersOf(await asked(stage, 'proof-of-compliance', { requester: 'r' }))
  return assertion
})

/** The result, whose members are those of its type and the common ones. */
async function resultOf(stage: Stage, type: string, members: readonly string[]): Promise<Members> {
  const requester = '\u{1f3db}'.repeat(256)
  const reply = await asked(stage, type, { requester })
  const body = membersOf(reply)
  expect([reply.status, Object.keys(body).toSorted()]).toEqual([
    200,
    ['assertion_type', 'requester', 'result', 'signature'],
  ])
  expect([body['assertion_type'], body['requester']]).toEqual([type, requester])
  const result = body['result'] as Members
  expect(Object.keys(result).toSorted()).toEqual([...COMMON, ...members].toSorted())
  for (const time of ['generated_at', 'as_of']) expectTimeOfRun(result[time])
  return result
}

/** In units of the eighteenth decimal. */
function unitsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}
