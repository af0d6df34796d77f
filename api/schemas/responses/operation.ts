/** Responses of the endpoints outside /v1 (D9, D18). */
import * as v from 'valibot'
import { keyId, publicJwk, text } from '../values.ts'
import { define } from '../named-schema.ts'

export const healthResponse = define('Health', 'The process answers.', {
  status: [v.literal('ok'), 'Always `ok`.'],
})

export const readinessWarningResponse = define('ReadinessWarning', 'A limit that is near or exceeded.', {
  code: [
    text,
    '`liability_balance_limit`: the ledger has more than 80 % of the balances that a proof of liabilities covers on this edge. `liability_time_limit`: the last snapshot of such a proof on this edge took more than 80 % of its time limit. Other codes may be added.',
  ],
  detail: [text, 'A human-readable explanation that names the limit.'],
})

export const readinessResponse = define('Readiness', 'Whether requests can be served.', {
  status: [v.picklist(['ready', 'not_ready']), 'Whether they can.'],
  ledger_id: [v.nullable(text), 'This ledger; null before it was created.'],
  environment: [
    v.picklist(['sandbox', 'production']),
    'In `production` orders name their ledger and key rotations carry a proof.',
  ],
  checks: [v.record(v.string(), v.boolean()), 'The dependencies by name: true if it works.'],
  warnings: [v.array(readinessWarningResponse), 'Limits that are near or exceeded. They do not change the status.'],
})

/** Seconds since 1970. */
const epochSeconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

export const publishedKeyResponse = define('PublishedKey', 'A public key of the service, as a JWK.', {
  ...publicJwk.entries,
  kid: [keyId, 'The RFC 7638 thumbprint.'],
  use: [v.literal('sig'), 'Always `sig`.'],
  alg: [v.literal('ES256'), 'Always `ES256`.'],
  purpose: [
    v.picklist(['token', 'receipt', 'assertion', 'attestation']),
    'The only kind of content that the key signs.',
  ],
  nbf: [epochSeconds, 'When its span begins: seconds since 1970.'],
  exp: [v.exactOptional(epochSeconds), 'When its span ended: seconds since 1970. A key in use has none.'],
  revoked: [
    v.exactOptional(v.object({ revoked_at: epochSeconds })),
    'Present if the key was revoked: none of its signatures counts any more.',
  ],
})

export const keySetResponse = define('KeySet', 'The public keys of the service.', {
  ledger_id: text,
  keys: [v.array(publishedKeyResponse), 'Every key that ever signed.'],
})

export const rootResponse = define('Root', 'Starting points of the API.', {
  console: [v.exactOptional(text), 'The console, if the ledger serves it.'],
  documentation: [text, 'The API documentation as one page.'],
  openapi: [text, 'The API as an OpenAPI 3.1 document.'],
  ready: [text, 'Readiness: whether the process can serve requests.'],
  keys: [text, 'The public keys of the service.'],
  errors: [text, 'The types of problems.'],
})
