/**
 * D14: the edge checks every field of every body and reports each fault under its code. field-rules.ts lists the values
 * by hand; the OpenAPI document must describe the same fields and exactly the accepted values.
 */
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { nameReferredTo } from '../../../../api/openapi/openapi-types.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'
import { bodyOf, createEdgeFixture, refusalOf, signedIn } from '../fakes/edge-fixture.ts'
import { CODES, FIELDS, MADE_OF_OTHERS } from './field-rules.ts'
import type { FieldRule } from './field-values.ts'
import { WRITTEN, type WrittenId } from '../routes/written-requests.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)

interface FieldCase {
  readonly id: WrittenId
  readonly body: JsonObject
  readonly field: string
  readonly absence: 'wrong' | 'right' | 'depends'
  readonly rule: FieldRule
}

const CASES: readonly FieldCase[] = FIELDS.flatMap(({ id, body = WRITTEN[id].body, fields }) =>
  Object.entries(fields).map(([name, rule]) => ({
    id,
    body,
    field: name.replace(/[?~]$/, ''),
    absence: name.endsWith('?') ? 'right' : name.endsWith('~') ? 'depends' : 'wrong',
    rule,
  })),
)

/** The body with `value` at a path like `legs[2].amount`. `undefined` removes the member. */
function changed(body: JsonObject, field: string, value: Json | undefined): JsonObject {
  const copy = structuredClone(body) as Record<string, unknown>
  const keys = field.split(/[.[\]]+/).filter((key) => key !== '')
  const last = keys.pop() ?? ''
  let place = copy
  for (const key of keys) place = place[key] as Record<string, unknown>
  if (value === undefined) delete place[last]
  else place[last] = value
  return copy as JsonObject
}

function codeOf(field: string): string {
  return CODES[field.split('.').at(-1) ?? ''] ?? 'ERR_INVALID_FIELD'
}

const { edge, token } = await signedIn('admin')
const { asked } = edge.gateway

function send(id: WrittenId, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return (id === 'putShardHealth' ? edge.put : edge.post)(WRITTEN[id].path, body, token, headers)
}

/** All property names of the schema, including those of its alternatives. */
function propertiesOf(schema: JsonObject): readonly string[] {
  const { $ref: reference, oneOf = [], anyOf = [], properties = {} } = schema
  if (reference !== undefined) return propertiesOf(DOCUMENT.components.schemas[nameReferredTo(reference)] ?? {})
  const inner = [...(oneOf as readonly JsonObject[]), ...(anyOf as readonly JsonObject[])].flatMap(propertiesOf)
  return [...new Set([...Object.keys(properties as JsonObject), ...inner])]
}

test('the rules name every field of every body in the document', () => {
  const described = DESCRIBED.operations.flatMap(({ id, members }) => {
    const { schema } = members.requestBody?.content['application/json'] ?? {}
    return schema === undefined || MADE_OF_OTHERS.has(id) ? [] : propertiesOf(schema).map((name) => `${id} ${name}`)
  })
  const ruled = CASES.filter(({ field }) => !/[.[]/.test(field)).map(({ id, field }) => `${id} ${field}`)
  expect([...new Set(ruled)].toSorted()).toEqual(described.toSorted())
})

test.for(CASES.map((one) => [`${one.id} ${one.field}`, one] as const))(
  'D14: a field of a body: %s',
  async ([, { id, body, field, absence, rule }]) => {
    asked.length = 0
    const operation = DESCRIBED.byId(id)
    // Null counts as absent in an optional field of an unsigned body.
    const wrong = absence === 'wrong' ? [undefined, null, ...rule.wrong] : rule.wrong
    for (const value of wrong) {
      const sent = changed(body, field, value)
      const refused = await refusalOf(await send(id, sent))
      expect([value, refused]).toEqual([value, { status: 400, codes: [codeOf(field)], fields: [field] }])
      const isDescribed = DESCRIBED.faultsOfBody(operation, sent).length === 0
      expect([value, isDescribed && rule.inWords !== true]).toEqual([value, false])
    }
    expect(asked).toEqual([])
    for (const value of absence === 'right' ? [undefined, ...rule.right] : rule.right) {
      const sent = changed(body, field, value)
      expect([value, (await send(id, sent)).status]).not.toEqual([value, 400])
      expect([value, DESCRIBED.faultsOfBody(operation, sent)]).toEqual([value, []])
    }
  },
)

test.for(FIELDS.map(({ id, variant, body = WRITTEN[id].body }) => [`${id}${variant ?? ''}`, id, body] as const))(
  'D14: one reply reports all faults of a body: %s',
  async ([, id, body]) => {
    asked.length = 0
    const cases = CASES.filter((one) => one.id === id && one.body === body && one.rule.wrong.length > 0)
    const wrong = cases.reduce((sum, { field, rule }) => changed(sum, field, rule.wrong[0]), body)
    const takesKey = DESCRIBED.byId(id).members.parameters?.some(({ name }) => name === 'Idempotency-Key') === true
    const headers = takesKey ? { 'idempotency-key': 'x'.repeat(256) } : undefined
    const { status, codes, fields } = await refusalOf(await send(id, wrong, headers))
    expect(status).toBe(400)
    const expected = [...(takesKey ? ['Idempotency-Key'] : []), ...cases.map(({ field }) => field)]
    expect((fields as string[]).toSorted()).toEqual(expect.arrayContaining(expected.toSorted()))
    expect(codes).toEqual(expect.arrayContaining(cases.map(({ field }) => codeOf(field))))
    expect(asked).toEqual([])
  },
)

const OPTIONAL = CASES.filter(({ absence }) => absence === 'right').map(
  (one) => [`${one.id} ${one.field}`, one] as const,
)
/** A signature covers the whole body, so null is an error there. A null signature means an unsigned body. */
const isSigned = ({ body, field }: FieldCase): boolean => field !== 'signature' && 'signature' in body

/** The outcome of a body at a new edge, whose random IDs repeat. */
async function effectOf({ id }: FieldCase, body: JsonObject): Promise<unknown> {
  const own = createEdgeFixture()
  const response = await own.post(WRITTEN[id].path, body, await own.tokenFor('admin'), { 'x-request-id': 'the-same' })
  // The legs of a group are hashed exactly as sent (D10).
  const asked = own.gateway.asked.map(({ operation, ...request }) => ({
    ...request,
    ...operation,
    ...('payload' in operation ? { payload: withoutNulls(operation.payload) } : {}),
  }))
  return { status: response.status, text: await response.text(), asked }
}

function withoutNulls(payload: string): unknown {
  return JSON.parse(payload, (_, value: unknown) => value ?? undefined)
}

test.for(OPTIONAL.filter(([, one]) => !isSigned(one)))(
  'null counts as absent in an unsigned body: %s',
  async ([, one]) => {
    const withNull = await effectOf(one, changed(one.body, one.field, null))
    expect(withNull).toEqual(await effectOf(one, changed(one.body, one.field, undefined)))
    expect(DESCRIBED.faultsOfBody(DESCRIBED.byId(one.id), changed(one.body, one.field, null))).toEqual([])
  },
)

test.for(OPTIONAL.filter(([, one]) => isSigned(one)))('null is refused in a signed body: %s', async ([, one]) => {
  const response = await send(one.id, changed(one.body, one.field, null))
  const message = 'is null: omit it, since the body is signed'
  expect(await bodyOf(response)).toMatchObject({ status: 400, errors: [{ field: one.field, message }] })
})
