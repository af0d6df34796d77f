/** The shapes of what is asked of accounts: registration, key rotation, change of status (D2). */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { ReadPublicKey } from '../../runtime/ports/public-keys.ts'
import type { Invalid } from '../http/problem.ts'
import {
  accountIdField,
  codePoints,
  idempotencyKeyField,
  ledgerIdField,
  signatureField,
  unsignedOptional,
} from './fields.ts'
import { objectMessage, schemaErrors, unknownFields } from '../http/invalid.ts'

const PUBLIC_KEY_RULE =
  'must be a P-256 public key of at most 2,048 characters: a JWK without a private part, a PEM, or base64url of a SEC1 point or of DER SPKI'
/**
 * As canonical JSON. A JWK may have unknown members, which are signed and sent on. Numbers can become twenty times longer
 * in canonical form: without a bound a legal body would exceed every message.
 */
const MAX_PUBLIC_KEY_LENGTH = 2048
const MAX_REASON_LENGTH = 1024
const REASON_RULE = 'must be 1 to 1,024 characters'

/** Any JSON: whether it is a key is for `readPublicKey` to say. */
export const publicKeyField = v.pipe(v.unknown(), v.metadata({ type: ['object', 'string'] }))

export const registrationSchema = v.object({ account_id: accountIdField, public_key: publicKeyField }, objectMessage)

const rotationEntries = {
  account_id: accountIdField,
  public_key: publicKeyField,
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
  proof: v.exactOptional(signatureField),
  ledger_id: v.exactOptional(ledgerIdField),
}
export const rotationSchema = v.object(rotationEntries, objectMessage)
const ROTATION_FIELDS: ReadonlySet<string> = new Set(Object.keys(rotationEntries))

const STATUS_RULE = 'must be active, frozen or closed'
const INCOMING_RULE = 'must be accept or refuse'

const reasonField = v.pipe(
  v.string(REASON_RULE),
  v.check((text) => text !== '' && codePoints(text) <= MAX_REASON_LENGTH, REASON_RULE),
  v.metadata({ minLength: 1, maxLength: MAX_REASON_LENGTH }),
)

export const statusSchema = v.object(
  {
    status: unsignedOptional(v.picklist(['active', 'frozen', 'closed'], STATUS_RULE)),
    incoming: unsignedOptional(v.picklist(['accept', 'refuse'], INCOMING_RULE)),
    reason: reasonField,
  },
  objectMessage,
)

export const erasureSchema = v.object({ reason: reasonField }, objectMessage)

export const pauseSchema = v.object({ reason: reasonField }, objectMessage)

export interface Registration {
  readonly accountId: string
  readonly key: AccountKey
}

export function readRegistration(
  body: JsonObject,
  readPublicKey: ReadPublicKey,
): Result<Registration, readonly Invalid[]> {
  const invalid = schemaErrors(registrationSchema, body)
  const key = readKey(body, readPublicKey, invalid)
  if (invalid.length > 0 || key === undefined) return refuse(invalid)
  return ok({ accountId: (body as v.InferOutput<typeof registrationSchema>).account_id, key })
}

export interface Rotation {
  readonly signature: string
  readonly proof: string | null
}

/** `accountId`: of the path. The body has it too, so that it is signed. */
export function readRotation(
  body: JsonObject,
  accountId: string,
  readPublicKey: ReadPublicKey,
): Result<Rotation, readonly Invalid[]> {
  const invalid = [...schemaErrors(rotationSchema, body), ...unknownFields(body, ROTATION_FIELDS)]
  if (invalid.every((one) => one.field !== 'account_id') && body['account_id'] !== accountId) {
    invalid.push({ field: 'account_id', code: 'ERR_INVALID_ACCOUNT_ID', message: 'must be the account of the path' })
  }
  readKey(body, readPublicKey, invalid)
  if (invalid.length > 0) return refuse(invalid)
  const { signature, proof } = body as v.InferOutput<typeof rotationSchema>
  return ok({ signature, proof: proof ?? null })
}

export type StatusChange = v.InferOutput<typeof statusSchema>

export function readStatusChange(body: JsonObject): Result<StatusChange, readonly Invalid[]> {
  const invalid = schemaErrors(statusSchema, body)
  if ((body['status'] ?? body['incoming'] ?? null) === null) {
    for (const field of ['status', 'incoming']) {
      invalid.push({ field, code: 'ERR_INVALID_FIELD', message: 'at least one of status and incoming is required' })
    }
  }
  return invalid.length > 0 ? refuse(invalid) : ok(body as StatusChange)
}

export type Reason = v.InferOutput<typeof pauseSchema>

/** Of an erasure, a pause or a resumption. */
export function readReason(body: JsonObject): Result<Reason, readonly Invalid[]> {
  const invalid = schemaErrors(pauseSchema, body)
  return invalid.length > 0 ? refuse(invalid) : ok(body as Reason)
}

/** Adds to `invalid` unless the key is good, or its absence was told already. */
function readKey(body: JsonObject, readPublicKey: ReadPublicKey, invalid: Invalid[]): AccountKey | undefined {
  const given = body['public_key']
  if (given === undefined) return undefined
  const key = canonicalJson(given).length > MAX_PUBLIC_KEY_LENGTH ? undefined : readPublicKey(given)
  if (key === undefined) {
    invalid.push({ field: 'public_key', code: 'ERR_INVALID_PUBLIC_KEY', message: PUBLIC_KEY_RULE })
  }
  return key
}
