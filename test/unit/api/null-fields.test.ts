/**
 * Goal: on every route an optional field that is null counts as absent in an unsigned body, and is refused with the reason
 * in a signed one. The OpenAPI document lists these fields.
 */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { createOpenApiDocument } from '../../../api/openapi/document.ts'
import type { GatewayRequest } from '../../../runtime/ports/ledger-gateway.ts'
import { nameReferredTo } from '../../../api/openapi/openapi-types.ts'
import { DocumentedInterface, type DocumentedOperation } from '../../support/documented-interface.ts'
import { createEdgeFixture } from './edge-fixture.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const { operations } = new DocumentedInterface(DOCUMENT)
const SIGNED_RULE = 'is null: omit it, since the body is signed'

interface NullCase {
  readonly operation: DocumentedOperation
  /** Its name in problems. */
  readonly field: string
  readonly takesNull: boolean
  readonly withNull: JsonObject
  readonly without: JsonObject
}

function referred(schema: JsonObject): JsonObject {
  return schema['$ref'] === undefined ? schema : (DOCUMENT.components.schemas[nameReferredTo(schema['$ref'])] ?? {})
}

/** The rule for a value that is not null. */
function notNull(schema: JsonObject): JsonObject {
  const options = (schema['anyOf'] ?? []) as readonly JsonObject[]
  return referred(options.find(({ type }) => type !== 'null') ?? schema)
}

function takesNull({ anyOf = [] }: JsonObject): boolean {
  return (anyOf as readonly JsonObject[]).some(({ type }) => type === 'null')
}

/** Every optional field of the schema, at every depth, with the body in which it is null and the body without it. */
function nullable(
  schema: JsonObject,
  value: JsonObject,
): readonly (readonly [field: string, takesNull: boolean, withNull: JsonObject, without: JsonObject])[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties as Readonly<Record<string, JsonObject>>).flatMap(([name, property]) => {
    const without = Object.fromEntries(Object.entries<Json>(value).filter(([field]) => field !== name))
    const own = (required as readonly string[]).includes(name)
      ? []
      : [[name, takesNull(property), { ...without, [name]: null }, without] as const]
    return [...own, ...inner(name, notNull(property), value)]
  })
}

/** The fields under one name: of an object, or of the first item of a list. */
function inner(name: string, schema: JsonObject, value: JsonObject): ReturnType<typeof nullable> {
  const { [name]: member } = value
  if (Array.isArray(member)) {
    const [first, ...others] = member as readonly Json[]
    if (!isObject(first)) return []
    const items = referred((schema['items'] ?? {}) as JsonObject)
    return nullable(items, first).map(([field, isTaken, withNull, without]) => [
      `${name}[0].${field}`,
      isTaken,
      { ...value, [name]: [withNull, ...others] },
      { ...value, [name]: [without, ...others] },
    ])
  }
  if (!isObject(member)) return []
  return nullable(schema, member).map(([field, isTaken, withNull, without]) => [
    `${name}.${field}`,
    isTaken,
    { ...value, [name]: withNull },
    { ...value, [name]: without },
  ])
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** From every example body, to include fields that only some of them have. */
function casesOf(operation: DocumentedOperation): readonly NullCase[] {
  const { schema = {}, examples = {} } = operation.members.requestBody?.content['application/json'] ?? {}
  const named = referred(schema)
  const shapes = named['properties'] === undefined ? ((named['anyOf'] ?? []) as readonly JsonObject[]) : [named]
  const bodies = Object.values(examples).map(({ value }) => value as JsonObject)
  return shapes.flatMap((shape) =>
    bodies.flatMap((body) =>
      nullable(referred(shape), body).map(([field, isTaken, withNull, without]) => {
        // An optional signature covers the whole body.
        const isSigned = field !== 'signature' && typeof without['signature'] === 'string'
        return { operation, field, takesNull: isTaken && !isSigned, withNull, without }
      }),
    ),
  )
}

/** Each submission of a batch is checked like a single one. */
const CASES = operations
  .filter(({ id }) => id !== 'submitBatch')
  .flatMap(casesOf)
  .map((one) => [`${one.operation.id} ${one.field}`, one] as const)
const PATH_VALUES: Readonly<Record<string, string>> = {
  accountId: 'alice@example',
  groupId: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f',
  classId: 'cls_01K6ZZZZZZ0000000000000000',
  attestationId: 'att_01K6ZZZZZZ0000000000000000',
  shardId: '0',
}

/** The effect of a body: the response, and the request to the ledger. */
async function sent({ path, method, members }: DocumentedOperation, body: JsonObject) {
  const edge = createEdgeFixture()
  const token = members['x-roles'] === undefined ? undefined : await edge.tokenFor('admin')
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(PATH_VALUES[name] ?? 'x'))
  const ask = method === 'PUT' ? edge.put : edge.post
  const response = await ask(url, body, token, { 'x-request-id': 'the-same' })
  return { status: response.status, text: await response.text(), asked: edge.gateway.asked.map(meaningOf) }
}

/** The legs of a group are hashed exactly as sent (D10). */
function meaningOf({ operation, ...request }: GatewayRequest | Omit<GatewayRequest, 'trail'>): object {
  if (operation.kind !== 'register_group') return { operation, ...request }
  const payload = JSON.parse(operation.payload, (_, value: unknown) => value ?? undefined) as unknown
  return { ...request, operation: { ...operation, payload } }
}

describe('an optional field that is null', () => {
  test('is tried on every route whose body has one', () => {
    const tried = new Set(CASES.map(([, { operation }]) => operation.id))
    const having = operations.filter(({ id, members }) => {
      const { properties = {}, required = [] } = referred(
        members.requestBody?.content['application/json']?.schema ?? {},
      )
      return (
        id !== 'submitBatch' && Object.keys(properties as JsonObject).length > (required as readonly string[]).length
      )
    })
    expect(having.length).toBeGreaterThan(10)
    expect(having.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([])
  })

  test.for(CASES.filter(([, { takesNull: isTaken }]) => isTaken))('is absent: %s', async ([, one]) => {
    const absent = await sent(one.operation, one.without)
    expect(await sent(one.operation, one.withNull)).toEqual(absent)
  })

  test.for(CASES.filter(([, { takesNull: isTaken }]) => !isTaken))(
    'is refused in a signed body: %s',
    async ([, one]) => {
      const { status, text } = await sent(one.operation, one.withNull)
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { errors: expect.arrayContaining([{ field: one.field, message: SIGNED_RULE }]) as unknown },
      ])
    },
  )
})
