/** What stands outside /v1 and needs no token (D18). */
import {
  healthResponse,
  keySetResponse,
  publishedKeyResponse,
  readinessResponse,
  readinessWarningResponse,
  rootResponse,
} from '../schemas/responses/operation.ts'
import type { Operation, Tag } from './model/operation.ts'
import { IF_NONE_MATCH } from './parameters.ts'

export const getRoot: Operation = {
  id: 'getRoot',
  method: 'GET',
  path: '/',
  summary: 'List the starting points',
  description: 'A browser is redirected to the documentation.',
  roles: null,
  answers: [
    { status: 200, description: 'Paths of the service.', content: rootResponse },
    {
      status: 303,
      description: 'The documentation, for a client that prefers HTML.',
      content: null,
      headers: ['Location'],
    },
  ],
}

export const getHealth: Operation = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process answers',
  description: 'It does not look at what it depends on.',
  roles: null,
  answers: [{ status: 200, description: 'It does.', content: healthResponse }],
}

export const getReadiness: Operation = {
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  summary: 'Whether requests can be served, and which ledger this is',
  description: 'Send traffic to the edges that say 200.',
  roles: null,
  answers: [
    { status: 200, description: 'They can.', content: readinessResponse },
    {
      status: 503,
      description: 'They cannot at this moment.',
      content: readinessResponse,
      headers: ['Retry-After'],
    },
  ],
}

export const getKeySet: Operation = {
  id: 'getKeySet',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys of the service',
  description:
    'Every key that ever signed, each with its one purpose and its span. A signature counts only if it was made by a key of its purpose within the span. Keep a copy with what they signed.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The keys.', content: keySetResponse, headers: ['ETag'] },
    { status: 304, description: 'They have not changed.', content: null, headers: ['ETag'] },
  ],
}

export const getErrorPage: Operation = {
  id: 'getErrorPage',
  method: 'GET',
  path: '/errors/:slug',
  summary: 'Read what a type of problem means',
  description: 'A page for a person: the `type` of a problem leads here.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
}

export const getOpenApi: Operation = {
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get this document',
  description: 'OpenAPI 3.1, built from the schemas that validate requests.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The document.', content: 'application/json', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
}

export const getDocs: Operation = {
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Read this document as a page',
  description: 'One page without scripts, and nothing in it comes from elsewhere.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
}

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
        checks: 'What it depends on, each by its name.',
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
        purpose: 'What it signs, and nothing else.',
        nbf: 'When its span begins: seconds since 1970.',
        revoked: 'Where it stands, nothing that the key ever signed counts any more.',
        exp: 'When its span ended: seconds since 1970. A key in use has none.',
      },
    },
    KeySet: {
      schema: keySetResponse,
      description: 'The public keys of the service.',
      fields: { keys: 'Every key that ever signed.' },
    },
  },
  operations: [getRoot, getHealth, getReadiness, getKeySet, getErrorPage, getOpenApi, getDocs],
}
