/** The shapes of what is asked of accounts: registration, key rotation, change of status (D2). */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { AccountKey } from '../../../actors/account/state.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { ReadPublicKey } from '../../../runtime/ports/public-keys.ts'
import type { Invalid } from '../../http/problem.ts'
import {
  accountIdField,
  idempotencyKeyField,
  ledgerIdField,
  signatureField,
  textField,
  unsignedOptional,
} from '../fields.ts'
import { schemaErrors } from '../../http/invalid.ts'
import { define, defineClosed, named } from '../named-schema.ts'
import { readBody, closedErrors } from '../read-body.ts'

const PUBLIC_KEY_RULE =
  'must be a P-256 public key of at most 2,048 characters: a JWK without a private part, a PEM, or base64url of a SEC1 point or of DER SPKI'
/**
 * As canonical JSON. A JWK may have unknown members, which are signed and sent on. Numbers can become twenty times longer
 * in canonical form: without a bound a legal body would exceed every message.
 */
const MAX_PUBLIC_KEY_LENGTH = 2048

/** Any JSON: whether it is a key is for `readPublicKey` to say. */
export const publicKeyField = named(
  'PublicKey',
  'A P-256 public key of at most 2,048 characters: a JWK without a private part, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI.',
  v.pipe(v.unknown(), v.metadata({ type: ['object', 'string'] })),
)

export const registrationSchema = define('AccountRegistration', 'A new account.', {
  account_id: accountIdField,
  public_key: publicKeyField,
})

export const rotationSchema = defineClosed('KeyRotation', 'A new key for an account, signed by the one in force.', {
  account_id: [accountIdField, 'The account of the path, so that it is signed.'],
  public_key: publicKeyField,
  idempotency_key: idempotencyKeyField,
  signature: [signatureField, 'By the key in force, over the body without `signature` and `proof`.'],
  proof: [v.exactOptional(signatureField), 'By the new key, over the same payload.'],
  ledger_id: v.exactOptional(ledgerIdField),
})

const STATUS_RULE = 'must be active, frozen or closed'
const INCOMING_RULE = 'must be accept or refuse'

const reasonField = textField(1, 1_024)

export const statusSchema = define(
  'StatusChange',
  'At least one of `status` and `incoming`.',
  {
    status: [unsignedOptional(v.picklist(['active', 'frozen', 'closed'], STATUS_RULE)), 'The new status.'],
    incoming: [unsignedOptional(v.picklist(['accept', 'refuse'], INCOMING_RULE)), 'Whether it takes value in.'],
    reason: [reasonField, 'The reason, which the audit chain records.'],
  },
  { relations: { minProperties: 2 } },
)

export const erasureSchema = define('Erasure', 'A request to erase an account.', {
  reason: [reasonField, 'Why; it is destroyed with the rest.'],
})

export const pauseSchema = define('Pause', 'Why an account is paused, or resumed.', {
  reason: [reasonField, 'The reason, which the audit chain records.'],
})

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
  const invalid = closedErrors(rotationSchema, body)
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
  return readBody(statusSchema, body, invalid)
}

/** Of an erasure, a pause or a resumption. */
export function readReason(body: JsonObject) {
  return readBody(pauseSchema, body)
}

/** Adds to `invalid` unless the key is good, or its absence was told already. */
export function readKey(body: JsonObject, readPublicKey: ReadPublicKey, invalid: Invalid[]): AccountKey | undefined {
  const given = body['public_key']
  if (given === undefined) return undefined
  const key = canonicalJson(given).length > MAX_PUBLIC_KEY_LENGTH ? undefined : readPublicKey(given)
  if (key === undefined) {
    invalid.push({ field: 'public_key', code: 'ERR_INVALID_PUBLIC_KEY', message: PUBLIC_KEY_RULE })
  }
  return key
}
