/** The header `Idempotency-Key` of requests that create something and have no key in their body (D7). */
import type { PublicCall } from './route.ts'
import type { Invalid } from '../http/problem.ts'
import { IDEMPOTENCY_KEY_RULE, isIdempotencyKey } from '../schemas/fields.ts'

const KEY_HEADER = 'Idempotency-Key'

export interface RegistrationKey {
  /** null: the request has none. */
  readonly registrationKey: string | null
  /** The problem with the key. */
  readonly keyErrors: readonly Invalid[]
}

export function readRegistrationKey(http: PublicCall['http']): RegistrationKey {
  const registrationKey = http.req.header(KEY_HEADER) ?? null
  if (registrationKey === null || isIdempotencyKey(registrationKey)) return { registrationKey, keyErrors: [] }
  const invalid: Invalid = { field: KEY_HEADER, code: 'ERR_INVALID_IDEMPOTENCY_KEY', message: IDEMPOTENCY_KEY_RULE }
  return { registrationKey, keyErrors: [invalid] }
}
