/** The key pairs that loaded accounts share. They follow from the seed, which can therefore sign for every account. */
import { createECDH, createHash, createPrivateKey } from 'node:crypto'
import type { AccountKey } from '../../../actors/account/state.ts'
import { readPublicKey } from '../../../infra/keys/public-key.ts'
import type { AccountKeys } from '../client/client-keys.ts'

export interface SharedKey {
  /** As clients of the tests sign with. */
  readonly keys: AccountKeys
  /** As the ledger knows it. */
  readonly accountKey: AccountKey
}

export function sharedKeys(seed: number, count: number): readonly SharedKey[] {
  return Array.from({ length: count }, (_, number) => sharedKeyOf(seed, number))
}

export function sharedKeyOf(seed: number, number: number): SharedKey {
  const name = `load ${seed} ${number}`
  const scalar = createHash('sha256').update(name).digest()
  const ecdh = createECDH('prime256v1')
  // Throws for a digest that is no scalar of the curve: one in 2^32.
  ecdh.setPrivateKey(scalar)
  const point = ecdh.getPublicKey()
  const coordinate = (start: number): string => point.subarray(start, start + 32).toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) } as const
  const privateKey = createPrivateKey({ key: { ...jwk, d: scalar.toString('base64url') }, format: 'jwk' })
  const accountKey = readPublicKey(jwk)
  if (accountKey === undefined) throw new Error(`${name} gives no key`)
  return { keys: { privateKey, jwk }, accountKey }
}
