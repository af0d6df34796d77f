/** K1 and K2 of service-key-seals.ts: no part opens keys that another part sealed. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { MasterKeyMissing } from '../../../infra/keys/master-seal.ts'
import { createServiceKeySeals, type ServicePublicKey } from '../../../infra/keys/service-key-seals.ts'
import { type KeyRing, ringOfPart, WrappingKeyMissing } from '../../../infra/keys/wrapping-keys.ts'
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../../../runtime/ports/service-keys.ts'

const ring: KeyRing = { current: readMasterKey(randomBytes(32).toString('base64url')), previous: [] }
const owner = createServiceKeySeals(ring)
const node = createServiceKeySeals(ringOfPart(ring, 'node'))
const edge = createServiceKeySeals(ringOfPart(ring, 'edge'))
const auditor = createServiceKeySeals(ringOfPart(ring, 'auditor'))
const SECRET = Buffer.from('pkcs 8')

function keyOf(purpose: ServiceKeyPurpose): ServicePublicKey {
  return { purpose, keyId: `key for ${purpose}`, x: 'x', y: 'y' }
}

test.for([...SERVICE_KEY_PURPOSES])(
  'K1: a private key for %s opens at the part that uses it, and nowhere else',
  (purpose) => {
    const key = keyOf(purpose)
    const sealed = owner.seal(key, SECRET)
    const [user, ...none] = [node, edge, auditor].filter(({ held }) => held.includes(purpose))
    expect([user?.open(key, sealed).secret, none]).toEqual([SECRET, []])
    for (const seals of [node, edge, auditor].filter((one) => one !== user)) {
      expect(() => seals.open(key, sealed)).toThrow(WrappingKeyMissing)
    }
    // The key of another purpose does not open it.
    for (const other of edge.held.filter((one) => one !== purpose)) {
      expect(() => edge.open({ ...key, purpose: other }, sealed)).toThrow(MasterKeyMissing)
    }
  },
)

test('K2: an edge’s tag fits one public key for one purpose; a node has no tags', () => {
  const key = keyOf('receipt')
  const tag = owner.tag(key)
  expect(edge.check(key, tag)).toBe(0)
  for (const change of [{ purpose: 'token' }, { keyId: 'another' }, { x: 'X' }, { y: 'Y' }] as const) {
    expect(() => edge.check({ ...key, ...change }, tag)).toThrow(MasterKeyMissing)
  }
  for (const seals of [node, auditor]) {
    expect(seals.tags).toBe(false)
    expect(() => seals.tag(key)).toThrow(WrappingKeyMissing)
  }
  expect([owner, node, edge, auditor].map(({ createsKeys }) => createsKeys)).toEqual([true, false, false, false])
})
