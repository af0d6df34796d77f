/** Signs orders: ECDSA P-256 over the SHA-256 of the canonical JSON (RFC 8785). */
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { shownSha256 } from './bytes.ts'
import type { HoldCapture, HoldOrder, KeyRotation, NftMint, Submission } from '../generated/api-types.ts'
import { type AccountKey, signText } from './keys.ts'

/** Each form of a signed body, before its signature. Without an idempotency key, it gets a random one. */
export type Unsigned<Body> = Body extends unknown
  ? Omit<Body, 'signature' | 'idempotency_key'> & { readonly idempotency_key?: string }
  : never

/** An order for `POST /v1/transactions`. */
export type Order = Unsigned<Submission>
/** The private part of an account's key. */
export type SigningKey = Pick<AccountKey, 'privateKey'>
type SignedBody = Submission | HoldOrder | HoldCapture | NftMint | KeyRotation

/** The body with its key and `signature`. Members that are undefined are left out. */
export async function signOrder<Body extends SignedBody = Submission>(
  order: Unsigned<Body>,
  key: SigningKey,
): Promise<Body> {
  const keyed = { idempotency_key: crypto.randomUUID(), ...definedMembers(order) }
  return (await signMembers(keyed, key)) as JsonObject & Body
}

/** The members with `signature`, for bodies without an idempotency key. */
export async function signMembers<Members extends object>(
  members: Members,
  key: SigningKey,
): Promise<Members & { readonly signature: string }> {
  const payload = definedMembers(members)
  return { ...(payload as Members & JsonObject), signature: await signText(key, canonicalOrder(payload)) }
}

/** The text that a signature covers: the canonical JSON without `signature` and `proof`. */
export function canonicalOrder(order: object): string {
  const { signature: _signature, proof: _proof, ...payload } = definedMembers(order)
  return canonicalJson(payload)
}

/** `submission_hash` of the receipt of this order. */
export function orderHash(order: object): Promise<string> {
  return shownSha256(canonicalOrder(order))
}

/** As the body is sent. */
export function definedMembers(members: object): JsonObject {
  return JSON.parse(JSON.stringify(members)) as JsonObject
}
