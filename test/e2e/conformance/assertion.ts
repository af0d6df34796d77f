/** The fields of an assertion. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { canonical, type Members } from '../../support/client-keys.ts'
import { BASE64, TIMESTAMP } from './forms.ts'
import { isSignedBy } from './signatures.ts'
import { once } from './once.ts'
import type { Suite } from './suite.ts'

const ASSERTION_TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance'] as const
/** What the results of each type say; the rest of it stands with the endpoints. */
const SAID = [{ total_liabilities: expect.any(String) }, { provenance_valid: true }, { compliant: true }]

export function assertionChapter(suite: Suite): void {
  const row = suite.chapter('Assertion')

  row('assertion_type', 'one of three, the one that was asked for', async (stage) => {
    const { bodies } = await assertions(stage)
    expect(bodies.map(({ assertion_type: type }) => type)).toEqual(ASSERTION_TYPES)
  })

  row('requester', 'string, whoever asked, as they call themselves', async (stage) => {
    const { bodies } = await assertions(stage)
    for (const { requester } of bodies) expect(requester).toBe('Auditors & Söhne')
  })

  row('result', 'object that says what it is, of which ledger, for whom and when', async (stage) => {
    const { askedMs, answeredMs, bodies } = await assertions(stage)
    for (const [index, { result }] of bodies.entries()) {
      expect(result).toMatchObject({
        ...SAID[index],
        assertion_type: ASSERTION_TYPES[index],
        requester: 'Auditors & Söhne',
        ledger_id: stage.ledgerId,
        generated_at: expect.stringMatching(TIMESTAMP),
      })
      const generatedMs = Date.parse(textOf(result as Members, 'generated_at'))
      expect([generatedMs >= askedMs, generatedMs <= answeredMs]).toEqual([true, true])
    }
  })

  row('signature', 'base64 of DER, P-256 over the canonical result', async (stage) => {
    const { bodies } = await assertions(stage)
    for (const assertion of bodies) {
      const result = assertion['result'] as Members
      const signature = textOf(assertion, 'signature')
      expect(signature).toMatch(BASE64)
      expect(Buffer.from(signature, 'base64')[0]).toBe(0x30)
      const key = await stage.publishedKey('assertion', textOf(result, 'key_id'))
      expect(isSignedBy(key, canonical(result), signature)).toBe(true)
      expect(isSignedBy(key, canonical({ ...result, requester: 'Others' }), signature)).toBe(false)
    }
  })
}

/** One of each type, and when they were asked for. */
const assertions = once(async ({ viewer }) => {
  const askedMs = Date.now()
  const replies = await Promise.all(
    ASSERTION_TYPES.map((type) => viewer.post(`/v1/assertions/${type}`, { requester: 'Auditors & Söhne' })),
  )
  return { askedMs, answeredMs: Date.now(), bodies: replies.map((reply) => membersOf(reply)) }
})
