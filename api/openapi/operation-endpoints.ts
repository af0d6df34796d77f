/** Endpoints outside /v1, which need no token (D18). */
import {
  healthResponse,
  keySetResponse,
  publishedKeyResponse,
  readinessResponse,
  readinessWarningResponse,
  rootResponse,
} from '../schemas/responses/operation.ts'
import type { Tag } from '../endpoint/operation.ts'
import { GET_DOCS } from '../routes/service/docs.ts'
import { GET_ERROR_PAGE } from '../routes/service/error-page.ts'
import { GET_HEALTH } from '../routes/service/health.ts'
import { GET_KEY_SET } from '../routes/service/key-set.ts'
import { GET_OPEN_API } from '../routes/service/openapi.ts'
import { GET_READINESS } from '../routes/service/ready.ts'
import { GET_ROOT } from '../routes/service/root.ts'

export const OPERATION: Tag = {
  name: 'Operation',
  description: 'Outside `/v1`, without a token.',
  schemas: {
    Root: {
      schema: rootResponse,
      description: 'Starting points of the API.',
      fields: {
        documentation: 'The API documentation as one page.',
        openapi: 'The API as an OpenAPI 3.1 document.',
        ready: 'Readiness: whether the process can serve requests.',
        keys: 'The public keys of the service.',
      },
    },
    Health: { schema: healthResponse, description: 'The process answers.', fields: { status: 'Always `ok`.' } },
    Readiness: {
      schema: readinessResponse,
      description: 'Whether requests can be served.',
      fields: {
        status: 'Whether they can.',
        ledger_id: 'This ledger; null before it was created.',
        environment: 'In `production` orders name their ledger and key rotations carry a proof.',
        checks: 'The dependencies by name: true if it works.',
        warnings: 'Limits that are near or exceeded. They do not change the status.',
      },
    },
    ReadinessWarning: {
      schema: readinessWarningResponse,
      description: 'A limit that is near or exceeded.',
      fields: {
        code: '`liability_balance_limit`: the ledger has more than 80 % of the balances that a proof of liabilities covers on this edge. `liability_time_limit`: the last snapshot of such a proof on this edge took more than 80 % of its time limit. Other codes may be added.',
        detail: 'A human-readable explanation that names the limit.',
      },
    },
    PublishedKey: {
      schema: publishedKeyResponse,
      description: 'A public key of the service, as a JWK.',
      fields: {
        kid: 'The RFC 7638 thumbprint.',
        use: 'Always `sig`.',
        alg: 'Always `ES256`.',
        purpose: 'The only kind of content that the key signs.',
        nbf: 'When its span begins: seconds since 1970.',
        revoked: 'Present if the key was revoked: none of its signatures counts any more.',
        exp: 'When its span ended: seconds since 1970. A key in use has none.',
      },
    },
    KeySet: {
      schema: keySetResponse,
      description: 'The public keys of the service.',
      fields: { keys: 'Every key that ever signed.' },
    },
  },
  operations: [GET_ROOT, GET_HEALTH, GET_READINESS, GET_KEY_SET, GET_ERROR_PAGE, GET_OPEN_API, GET_DOCS],
}
