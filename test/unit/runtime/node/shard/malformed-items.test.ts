/** H6: a malformed item affects only its own reply, for any fault. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../../../actors/address.ts'
import type { Operation } from '../../../../../runtime/protocol/messages.ts'
import { readPayload, readSubmission } from '../../../../../runtime/protocol/signed-payload.ts'
import { homeOf, hosting, kinds, register } from '../../../../support/shard-hosting.ts'

const GROUP_ID = 'c4d1f6a0-1c5e-4b7e-9a53-2f6f1c9f7e10'
/** Terms whose canonical form overflows the stack. */
const DEEP = 100_000
const DEEP_TERMS = `{"group_id":"${GROUP_ID}","timeout_seconds":60,"legs":[${[
  `{"account_id":"a","type":"debit","amount":"1","memo":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`,
  '{"account_id":"c","type":"credit","amount":"1"}',
].join(',')}]}`

describe('items of one message', () => {
  test.for<readonly [string, Operation]>([
    ['a submission that is no JSON', { kind: 'submit', payload: '{', signature: 's' }],
    ['a rotation that is no JSON', { kind: 'rotate_key', payload: '', signature: 's', proof: null }],
    ['a mint that is no JSON', { kind: 'mint', payload: 'x', signature: 's', metadataVerdict: 'valid' }],
    ['a submission that is no object', { kind: 'submit', payload: '[1]', signature: 's' }],
  ])('%s leaves the others of its message their verdicts', async ([, malformed]) => {
    const { clock, verdicts, logged, item, send } = hosting([0])
    send(item(0, 'a1', register), item(0, 'a2', malformed), item(0, 'a3', register))
    await clock.pass(10)
    expect(kinds(verdicts).toSorted()).toEqual(['registered', 'registered', 'unknown_operation'])
    expect(logged).toEqual([])
  })

  test.for<readonly [string, string, Operation]>([
    ['is malformed', 'a', { kind: 'submit', payload: '{', signature: 's' }],
    ['is sent to the wrong shard', 'c', register],
  ])(
    'I12: an item that %s is not refused in its second attempt: the first may have taken effect',
    async ([, id, operation]) => {
      const { clock, verdicts, item, send } = hosting([0])
      send({ ...item(0, id, operation), attempt: 2 })
      await clock.pass(10)
      expect(kinds(verdicts)).toEqual(['undecided'])
    },
  )

  test('an item that cannot be handled is undecided, the others are handled, and one log line names the item', async () => {
    const { clock, verdicts, logged, item, send } = hosting([0, 2])
    const group = groupAddress(GROUP_ID)
    const trail = { requestId: 'the-request' }
    const terms: Operation = { kind: 'register_group', payload: DEEP_TERMS, registrationKey: null }
    send(item(0, 'a1', register), item(homeOf(group), group, terms, { trail }), item(0, 'a3', register))
    await clock.pass(10)
    expect(kinds(verdicts).toSorted()).toEqual(['registered', 'registered', 'undecided'])
    expect(logged).toEqual([
      {
        event: 'item_failed',
        fields: expect.objectContaining({ request_id: 'the-request', shard: 2, operation: 'register_group' }),
      },
    ])
  })
})

describe('a payload', () => {
  test('reading it never throws, and the result has the types of a submission', () => {
    const fields = {
      account_id: fc.constantFrom('a', 7, null),
      amount: fc.constantFrom('1', '0', 'x', 1),
      type: fc.constantFrom('credit', 'transfer', 'exchange', 'none', null),
      idempotency_key: fc.constantFrom('k', 1),
      metadata: fc.jsonValue(),
      receive: fc.jsonValue(),
      group_id: fc.constantFrom(GROUP_ID, 'g', 1, null),
      expires_at: fc.constantFrom('2030-01-01T00:00:00Z', 'soon', 3),
      token_id: fc.jsonValue(),
    }
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record(fields, { requiredKeys: [] }).map((it) => JSON.stringify(it)),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const submission = readSubmission(readPayload(text)?.fields ?? {})
        if (submission === undefined) return
        expect(typeof submission.metadata).toBe('object')
        expect(Array.isArray(submission.metadata)).toBe(false)
      }),
    )
  })
})
