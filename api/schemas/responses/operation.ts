/** Responses of the endpoints outside /v1 (D9, D18). */
import * as v from 'valibot'
import { keyId, publicJwk, text } from './values.ts'

export const healthResponse = v.object({ status: v.literal('ok') })

export const readinessWarningResponse = v.object({ code: text, detail: text })

export const readinessResponse = v.object({
  status: v.picklist(['ready', 'not_ready']),
  ledger_id: v.nullable(text),
  environment: v.picklist(['sandbox', 'production']),
  checks: v.record(v.string(), v.boolean()),
  warnings: v.array(readinessWarningResponse),
})

/** Seconds since 1970. */
const epochSeconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

export const publishedKeyResponse = v.object({
  ...publicJwk.entries,
  kid: keyId,
  use: v.literal('sig'),
  alg: v.literal('ES256'),
  purpose: v.picklist(['token', 'receipt', 'assertion', 'attestation']),
  nbf: epochSeconds,
  exp: v.exactOptional(epochSeconds),
  revoked: v.exactOptional(v.object({ revoked_at: epochSeconds })),
})

export const keySetResponse = v.object({ ledger_id: text, keys: v.array(publishedKeyResponse) })

export const rootResponse = v.object({ documentation: text, openapi: text, ready: text, keys: text })
