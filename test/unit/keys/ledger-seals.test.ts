/** S1 and S2 of master-seal.ts, R2 of root-secret.ts, L1 of ledger-seals.ts. */
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { openLedgerSecret, sealLedgerSecret } from '../../../infra/keys/ledger-seals.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { createMasterSeal, MasterKeyMissing } from '../../../infra/keys/master-seal.ts'
import { createDerivation } from '../../../infra/keys/root-secret.ts'
import type { KeyRing } from '../../../infra/keys/wrapping-keys.ts'

const bytes = [randomBytes(32), randomBytes(32), randomBytes(32)]
const [first, second, third] = bytes.map((one) => readMasterKey(one.toString('base64url')))
if (first === undefined || second === undefined || third === undefined) throw new Error('there are three')
const firstAlone: KeyRing = { current: first, previous: [] }
const secondAlone: KeyRing = { current: second, previous: [] }
const secondAfterFirst: KeyRing = { current: second, previous: [first] }
const secret = randomBytes(32)

test('S1: a secret of an earlier master key opens, with the index of that key', () => {
  const sealed = createMasterSeal(firstAlone, 'token-keys').seal(['a'], secret)
  expect(createMasterSeal(firstAlone, 'token-keys').open(['a'], sealed)).toEqual({ secret, under: 0 })
  expect(createMasterSeal(secondAfterFirst, 'token-keys').open(['a'], sealed)).toEqual({ secret, under: 1 })
})

test('S1: it seals under the current master key', () => {
  const sealed = createMasterSeal(secondAfterFirst, 'token-keys').seal(['a'], secret)
  expect(createMasterSeal(secondAlone, 'token-keys').open(['a'], sealed)).toEqual({ secret, under: 0 })
  expect(() => createMasterSeal(firstAlone, 'token-keys').open(['a'], sealed)).toThrow(MasterKeyMissing)
})

test('S1: a missing master key, another use or another context throws, and the error names the keys by ID', () => {
  const sealed = createMasterSeal({ current: third, previous: [] }, 'token-keys').seal(['a'], secret)
  const opening = (): unknown => createMasterSeal(secondAfterFirst, 'token-keys').open(['a'], sealed)
  expect(opening).toThrow(`(${second.masterKeyId}, ${first.masterKeyId})`)
  expect(opening).toThrow(MasterKeyMissing)
  const ours = createMasterSeal(secondAlone, 'token-keys').seal(['a'], secret)
  expect(() => createMasterSeal(secondAlone, 'data-keys').open(['a'], ours)).toThrow(MasterKeyMissing)
  expect(() => createMasterSeal(secondAlone, 'token-keys').open(['b'], ours)).toThrow(MasterKeyMissing)
})

test('S2: neither a seal nor a derivation reveals a key in logs', () => {
  const derive = createDerivation(Buffer.alloc(32, 0xab))
  const shown = inspect([createMasterSeal(firstAlone, 'token-keys'), derive], { depth: 9, showHidden: true })
  expect(shown).not.toMatch(/ab.?ab|q6ur/i)
  expect(shown).not.toContain((bytes[0] ?? secret).toString('hex').slice(0, 8))
})

test('L1: no secret of the ledger opens in place of another', () => {
  const sealed = sealLedgerSecret(firstAlone, 'shard-secret', secret)
  expect(openLedgerSecret(firstAlone, 'shard-secret', sealed)).toEqual({ secret, under: 0 })
  for (const name of ['root-secret', 'message-secret', 'index-secret'] as const) {
    expect(() => openLedgerSecret(firstAlone, name, sealed)).toThrow(MasterKeyMissing)
  }
})
