/** A rotation installs the key in the signed payload. Other members of the message have no effect. */
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../../actors/canonical-json.ts'
import type { Operation } from '../../../../runtime/protocol/messages.ts'
import { KEY, OTHER_KEY } from '../../../support/accounts.ts'
import { answersOf, hosting, kinds, register } from '../../../support/shard-hosting.ts'

const MALLORY = { keyId: 'key-mallory', publicKey: 'public-mallory' }

function signed(fields: object): Operation {
  const payload = canonicalJson({ account_id: 'a', idempotency_key: 'rotation', ...fields })
  return { kind: 'rotate_key', payload, signature: `by ${KEY.publicKey}`, proof: null }
}

test('a key beside the signed payload, as edges of earlier releases send it, is ignored', async () => {
  const { clock, verdicts, item, send } = hosting([0])
  const operation = Object.assign(signed({ public_key: OTHER_KEY.publicKey }), { newKey: MALLORY })
  send(item(0, 'a', register), item(0, 'a', operation))
  await clock.pass(10)
  expect(answersOf(verdicts)[1]).toMatchObject({ kind: 'rotated', account: { key: OTHER_KEY } })
})

test.for([{}, { public_key: 'none' }, { public_key: null }])('a payload with %o names no key', async (fields) => {
  const { clock, verdicts, item, send } = hosting([0])
  const operation = Object.assign(signed(fields), { newKey: MALLORY })
  send(item(0, 'a', register), item(0, 'a', operation))
  await clock.pass(10)
  expect(kinds(verdicts).toSorted()).toEqual(['registered', 'unknown_operation'])
})
