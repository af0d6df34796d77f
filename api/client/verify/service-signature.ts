/**
 * Signatures of the ledger's own keys.
 *   G1. A signature is valid only if its key has the expected purpose, is not revoked, and was in use at the time of the text.
 *   G2. It verifies only in its original encoding: DER in base64.
 */
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import { base64, type Bytes, concat, fromBase64, utf8 } from '../signing/bytes.ts'
import type { PublishedKey } from '../generated/api-types.ts'
import { definedMembers } from '../signing/sign-order.ts'
import { type Invalid, tampered } from './verdict.ts'

/** The public keys of a ledger: the document of `/.well-known/jwks.json`. */
export interface TrustedKeys {
  /** Without it, the keys count for any ledger. */
  readonly ledger_id?: string
  readonly keys: readonly TrustedKey[]
}

export type TrustedKey = Pick<PublishedKey, 'kid' | 'x' | 'y' | 'nbf' | 'exp' | 'revoked'> & {
  readonly purpose: string
}

export interface SignedText {
  /** The signed members; they have `ledger_id` and `key_id`. */
  readonly signed: object
  readonly signature: unknown
  readonly purpose: PublishedKey['purpose']
  /** The member with the time of the signature. */
  readonly timeMember: string
  /** Time before and after its use in which a key may sign. */
  readonly slackMs?: number
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' }
const INTEGER_BYTES = 32
const SEQUENCE_TAG = 0x30
const INTEGER_TAG = 0x02

/** Undefined for a valid signature. */
export async function signatureProblem(
  given: SignedText,
  { ledger_id, keys }: TrustedKeys,
): Promise<Invalid | undefined> {
  const signed = definedMembers(given.signed)
  const { ledger_id: ofLedger, key_id: keyId, [given.timeMember]: time } = signed
  if (ledger_id !== undefined && ofLedger !== ledger_id) return wrongKeys('its ledger_id is not that of the key set')
  const key = keys.find(({ kid }) => kid === keyId)
  if (key === undefined) return wrongKeys('its key_id is not in the key set')
  if (key.purpose !== given.purpose) return tampered('its key has another purpose')
  if (key.revoked !== undefined) return tampered('its key is revoked')
  if (!isInUse(key, typeof time === 'string' ? parseTimestamp(time) : undefined, given.slackMs ?? 0)) {
    return tampered(`its key was not in use at its ${given.timeMember}`)
  }
  return (await verifies(key, signed, given.signature)) ? undefined : tampered('its signature does not verify')
}

function wrongKeys(problem: string): Invalid {
  return { ok: false, reason: 'wrong_keys', problem }
}

function isInUse({ nbf, exp }: TrustedKey, atMs: number | undefined, slackMs: number): boolean {
  if (atMs === undefined) return false
  return atMs >= nbf * 1_000 - slackMs && (exp === undefined || atMs <= exp * 1_000 + slackMs)
}

async function verifies({ x, y }: TrustedKey, signed: JsonObject, signature: unknown): Promise<boolean> {
  const der = typeof signature === 'string' ? fromBase64(signature) : undefined
  const raw = der === undefined || base64(der) !== signature ? undefined : rawSignature(der)
  if (raw === undefined) return false
  try {
    const key = await crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x, y }, ES256, false, ['verify'])
    return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, raw, utf8(canonicalJson(signed)))
  } catch {
    return false
  }
}

/** r||s of a DER signature, as WebCrypto takes it; undefined for any other encoding (X.690, 8.3 and 10.1). */
export function rawSignature(der: Bytes): Bytes | undefined {
  if (der[0] !== SEQUENCE_TAG || der[1] !== der.length - 2) return undefined
  const first = integerAt(der, 2)
  const second = first === undefined ? undefined : integerAt(der, first.end)
  if (first === undefined || second?.end !== der.length) return undefined
  return concat(first.bytes, second.bytes)
}

/** A positive integer of at most 32 bytes, in its shortest form. */
function integerAt(der: Bytes, at: number): { readonly bytes: Bytes; readonly end: number } | undefined {
  const length = der[at + 1] ?? 0
  const end = at + 2 + length
  if (der[at] !== INTEGER_TAG || length === 0 || end > der.length) return undefined
  const [first = 0, second = 0] = [der[at + 2], der[at + 3]]
  const isShortest = length === 1 || first !== 0 || second >= 0x80
  const digits = der.slice(first === 0 ? at + 3 : at + 2, end)
  if (first >= 0x80 || !isShortest || digits.length > INTEGER_BYTES) return undefined
  return { bytes: concat(new Uint8Array(INTEGER_BYTES - digits.length), digits), end }
}
