/** Derives invalid requests of an operation from the OpenAPI document, each with the expected outcome. */
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { HttpRequest } from '../../support/client/client.ts'
import type { DocumentedOperation } from '../../support/documented-interface.ts'
import type { Service } from './service.ts'

export interface Refusal {
  readonly request: HttpRequest
  /** Status and codes, as `outcomeOf` has them. */
  readonly outcome: RegExp
  readonly headers?: Readonly<Record<string, string>>
  /** The fields that must be named, in any order. */
  readonly fields?: readonly string[]
}

/** Bytes: a larger body is refused with 413. */
const LARGEST_BODY_BYTES = 1_048_576
const ROLES = ['viewer', 'transactor', 'admin'] as const
/** Well-formed IDs of unknown resources, by the parameter of the path. */
const NOTHING: Readonly<Record<string, string>> = {
  accountId: 'unknown@nowhere',
  attestationId: `att_${'0'.repeat(26)}`,
  clientId: 'nothing',
  classId: `cls_${'0'.repeat(26)}`,
  groupId: '00000000-0000-4000-8000-000000000000',
  holdId: `hld_${'0'.repeat(26)}`,
  importId: '00000000-0000-4000-8000-000000000000',
  instanceId: 'nothing',
  shardId: '256',
  webhookId: `whk_${'0'.repeat(26)}`,
  slug: 'nothing',
  guide: 'nothing',
  version: 'nothing',
  file: 'nothing.js',
  tokenId: 'NO-SUCH',
  txnId: `txn_${'0'.repeat(26)}`,
}
const ILL_FORMED = {
  accountId: ['a%20b', /^400 ERR_INVALID_ACCOUNT_ID$/],
  groupId: ['no-uuid', /^400 ERR_INVALID_GROUP_ID$/],
} as const

export function refusalsOf(service: Service, operation: DocumentedOperation): readonly Refusal[] {
  const { described, client } = service
  const { members } = operation
  const roles = members['x-roles']
  const request = service.request(operation)
  const methods = described.operations.filter((one) => one.path === operation.path).map((one) => one.method)
  const allow = ['GET', 'POST', 'PUT', 'DELETE']
    .filter((one) => methods.includes(one))
    .map((one) => ALLOWED[one] ?? one)
  return [
    ...(roles === undefined ? [] : unauthorized(request)),
    ...ROLES.filter((role) => roles?.includes(role) === false).map((role) => ({
      request: { ...request, headers: { ...request.headers, ...client(role).authorization() } },
      outcome: /^403 ERR_FORBIDDEN$/,
    })),
    ...(members.responses['400'] === undefined
      ? []
      : [
          {
            request: { ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}no_such=1` },
            outcome: /^400 ERR_INVALID_QUERY$/,
            fields: ['no_such'],
          },
        ]),
    {
      request: { ...request, method: 'PATCH', headers: client('admin').authorization() },
      outcome: /^405 ERR_METHOD_NOT_ALLOWED$/,
      headers: { allow: [...allow, 'OPTIONS'].join(', ') },
    },
    ...elsewhere(operation, request),
    ...(members.requestBody === undefined ? [] : unreadable(request)),
  ]
}

const ALLOWED: Readonly<Record<string, string>> = { GET: 'GET, HEAD' }

function unauthorized(request: HttpRequest): readonly Refusal[] {
  const tokens = [{}, { authorization: 'Bearer a.b.c' }, { authorization: 'Basic eA==' }]
  return tokens.map((token) => ({
    request: { ...request, headers: { 'content-type': 'application/json', ...token } },
    outcome: /^401 ERR_UNAUTHORIZED$/,
    headers: { 'www-authenticate': 'Bearer ' },
  }))
}

/** The request with unknown and with malformed IDs in the path. A signed body excludes unknown IDs. */
function elsewhere({ path: template, members }: DocumentedOperation, request: HttpRequest): readonly Refusal[] {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const to = (name: string, value: string): HttpRequest => {
    const place = template.split('/').indexOf(`{${name}}`)
    const [path = '', ...query] = request.path.split('?')
    const segments = path.split('/')
    const replaced = [...segments.slice(0, place), value, ...segments.slice(place + 1)].join('/')
    return { ...request, path: [replaced, ...query].join('?') }
  }
  const signed = String(request.body).includes('"signature"')
  const missing = members.responses['404'] === undefined || signed ? [] : names
  const illFormed = names.flatMap((name) => (name in ILL_FORMED ? [name as keyof typeof ILL_FORMED] : []))
  return [
    ...missing.map((name) => ({ request: to(name, NOTHING[name] ?? ''), outcome: /^404 ERR_NOT_FOUND$/ })),
    ...illFormed.map((name) => ({ request: to(name, ILL_FORMED[name][0]), outcome: ILL_FORMED[name][1] })),
  ]
}

/** A body that no operation accepts. */
function unreadable(request: HttpRequest): readonly Refusal[] {
  const fields = Object.keys(JSON.parse(String(request.body)) as JsonObject)
  const wrong = JSON.stringify(Object.fromEntries(fields.map((name) => [name, []])))
  const typed = (type: string, body: string): HttpRequest => {
    return { ...request, headers: { ...request.headers, 'content-type': type }, body }
  }
  return [
    { request: typed('text/plain', '{}'), outcome: /^415 ERR_UNSUPPORTED_CONTENT_TYPE$/ },
    // The edge checks the size first.
    { request: typed('text/plain', ' '.repeat(LARGEST_BODY_BYTES + 1)), outcome: /^413 ERR_PAYLOAD_TOO_LARGE$/ },
    { request: typed('application/json', ' '.repeat(LARGEST_BODY_BYTES)), outcome: /^400 ERR_INVALID_FIELD$/ },
    { request: typed('application/json; charset=utf-8', '{'), outcome: /^400 ERR_INVALID_FIELD$/ },
    { request: typed('application/json', wrong), outcome: /^400 ERR_/, fields },
  ]
}
