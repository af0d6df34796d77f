/**
 * A body with everything wrong is told everything that is wrong: each field, and each code, in one answer. Which fields
 * a body has, and which of them it needs, is taken from the document that the ledger serves.
 */
import { expect } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { OpenApiDocument } from '../../../api/openapi/openapi-types.ts'
import { type HttpReply, membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { fieldsOf } from '../../support/client-moves.ts'
import { DocumentedInterface } from '../../support/documented-interface.ts'
import { bodied } from './endpoints.ts'
import { once } from './once.ts'
import { sorted } from './sorted.ts'
import { type RowOf, SPECIFICATION } from './specification.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const FIELD = 'ERR_INVALID_FIELD'
const ACCOUNT = 'ERR_INVALID_ACCOUNT_ID'
/** Of fields that have a code of their own, wherever they stand; of all others it is FIELD. */
const CODES: Readonly<Record<string, string>> = {
  account_id: ACCOUNT,
  amount: 'ERR_INVALID_AMOUNT',
  class_id: 'ERR_INVALID_CLASS_ID',
  decimals: 'ERR_INVALID_DECIMALS',
  expires_at: 'ERR_INVALID_TIMESTAMP',
  group_id: 'ERR_INVALID_GROUP_ID',
  health_state: 'ERR_INVALID_HEALTH_STATE',
  idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
  issuer: 'ERR_INVALID_ISSUER',
  metadata_schema: 'ERR_INVALID_SCHEMA',
  name: 'ERR_INVALID_NAME',
  owner: ACCOUNT,
  proof: 'ERR_INVALID_SIGNATURE',
  public_key: 'ERR_INVALID_PUBLIC_KEY',
  requester: 'ERR_INVALID_REQUESTER',
  signature: 'ERR_INVALID_SIGNATURE',
  subject_class: 'ERR_INVALID_CLASS_ID',
  symbol: 'ERR_INVALID_SYMBOL',
  to_account_id: ACCOUNT,
  token_id: 'ERR_INVALID_TOKEN_ID',
  total_supply: 'ERR_INVALID_TOTAL_SUPPLY',
  txn_count: 'ERR_INVALID_TXN_COUNT',
  type: 'ERR_INVALID_TYPE',
}

type Row = RowOf<'Everything wrong at once'>

/** These have no body, or one of two forms. */
const OTHERS: readonly Row[] = ['POST /v1/auth/token', 'GET /v1/transactions']

export function validationChapter(suite: Suite): void {
  const row = suite.chapter('Everything wrong at once')
  row('POST /v1/auth/token', 'every field and every code', async ({ ask }) => {
    const headers = { 'content-type': 'application/json' }
    for (const [body, fields] of [
      [{}, ['client_id', 'client_secret']],
      [{ client_id: '', client_secret: 7 }, ['client_id', 'client_secret']],
      [{ grant_type: 'refresh_token', refresh_token: '' }, ['refresh_token']],
    ] as const) {
      const reply = await ask({ method: 'POST', path: '/v1/auth/token', headers, body: JSON.stringify(body) })
      expectAll(reply, fields)
    }
  })
  for (const name of SPECIFICATION['Everything wrong at once'].filter((one) => !OTHERS.includes(one))) {
    row(name, 'every field that is missing, and every field that is wrong', async (stage) => {
      const { send, required, properties, isClosed } = await endpointOf(stage, name)
      // Of a change of status one of two is needed.
      const either = name === 'POST /v1/accounts/{id}/status' ? ['status', 'incoming'] : []
      if (required.length > 0) expectAll(await send({}), [...required, ...either])
      const wrong = Object.fromEntries(properties.map((property) => [property, false]))
      expectAll(await send(wrong), properties)
      if (!isClosed) return
      expectAll(await send({ ...wrong, colour: 'red' }), [...properties, 'colour'], { colour: 'ERR_UNKNOWN_FIELD' })
    })
  }
  row('POST /v1/transactions', 'what is wrong in a part of it, or between two of its fields', async (stage) => {
    const { send } = await endpointOf(stage, 'POST /v1/transactions')
    const order = { account_id: 'a', type: 'transfer', amount: '1', idempotency_key: 'k', signature: 's' }
    expectAll(await send({ ...order, to_account_id: 'a' }), ['to_account_id'], { to_account_id: 'ERR_SELF_TRANSFER' })
    const swap = { ...order, type: 'exchange', token_id: 'T', to_account_id: 'b', group_id: THERE }
    expectAll(await send({ ...swap, receive: { amount: '0', colour: 'red' } }), RECEIVED, {
      'receive.amount': 'ERR_INVALID_AMOUNT',
      'receive.colour': 'ERR_UNKNOWN_FIELD',
      'receive.token_id': 'ERR_INVALID_TOKEN_ID',
    })
  })
  row('POST /v1/settlement-groups', 'what is wrong in a leg', async (stage) => {
    const { send } = await endpointOf(stage, 'POST /v1/settlement-groups')
    const legs = [
      { account_id: 'a b', type: 'gift', amount: '0', token_id: '-' },
      { type: 'transfer', amount: '1', account_id: 'a', to_account_id: 'a', boundary: 'yes' },
    ]
    const codes = {
      'legs[0].account_id': ACCOUNT,
      'legs[0].type': 'ERR_INVALID_TYPE',
      'legs[0].amount': 'ERR_INVALID_AMOUNT',
      'legs[0].token_id': 'ERR_INVALID_TOKEN_ID',
      'legs[1].to_account_id': 'ERR_SELF_TRANSFER',
      'legs[1].boundary': FIELD,
    }
    expectAll(await send({ legs }), Object.keys(codes), codes)
  })
  row('GET /v1/transactions', 'every parameter and every code', async ({ viewer }) => {
    const query = 'account_id=/&date_from=x&date_to=x&type=x&token_id=-&group_id=x&amount_min=x&amount_max=x&status=x'
    const reply = await viewer.get(`/v1/transactions?${query}&idempotency_key=%C3%A4&order=x&page_size=0&page_token=x`)
    const codes = {
      date_from: 'ERR_INVALID_TIMESTAMP',
      date_to: 'ERR_INVALID_TIMESTAMP',
      amount_min: 'ERR_INVALID_AMOUNT',
      amount_max: 'ERR_INVALID_AMOUNT',
      status: 'ERR_INVALID_QUERY',
      order: 'ERR_INVALID_QUERY',
      page_size: 'ERR_INVALID_QUERY',
      page_token: 'ERR_INVALID_QUERY',
    }
    const others = ['account_id', 'type', 'token_id', 'group_id', 'idempotency_key']
    expectAll(reply, [...Object.keys(codes), ...others], codes, 'invalid-request')
  })
}

const THERE = '00000000-0000-4000-8000-000000000000'
const RECEIVED = ['receive.amount', 'receive.colour', 'receive.token_id']

interface BodiedEndpoint {
  readonly send: (body: Members) => Promise<HttpReply>
  readonly required: readonly string[]
  readonly properties: readonly string[]
  /** A field that it does not know is wrong, too. */
  readonly isClosed: boolean
}

const documentOf = once(async ({ ask }) => {
  return membersOf(await ask({ method: 'GET', path: '/openapi.json' })) as Members & OpenApiDocument
})

async function endpointOf(stage: Stage, name: Row): Promise<BodiedEndpoint> {
  const document = await documentOf(stage)
  const described = new DocumentedInterface(document)
  const form = (method: string, path: string): string => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
  const [named = '', template = ''] = name.split(' ')
  for (const { method, path } of bodied(stage)) {
    const operation = described.find(method, path)
    if (operation === undefined || form(method, operation.path) !== form(named, template)) continue
    const headers = { ...stage.admin.authorization(), 'content-type': 'application/json' }
    const schema = operation.members.requestBody?.content['application/json']?.schema
    return {
      send: (body) => stage.admin.ask({ method, path, headers, body: JSON.stringify(body) }),
      ...fieldsIn(formsOf(document, schema as unknown as Schema)),
    }
  }
  throw new Error(`there is no endpoint ${name}`)
}

interface Schema {
  readonly $ref?: string
  readonly oneOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: JsonObject
  readonly additionalProperties?: unknown
}

/** The objects that a body may be. */
function formsOf(document: OpenApiDocument, schema: Schema): readonly Schema[] {
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap((one) => formsOf(document, one))
  if (schema.$ref === undefined) return [schema]
  const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  return formsOf(document, document.components.schemas[name] as unknown as Schema)
}

/** What all of the forms need, and what any of them has. */
function fieldsIn(forms: readonly Schema[]): Omit<BodiedEndpoint, 'send'> {
  const [first] = forms
  return {
    required: (first?.required ?? []).filter((field) => forms.every(({ required = [] }) => required.includes(field))),
    properties: [...new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))],
    isClosed: forms.every(({ additionalProperties }) => additionalProperties === false),
  }
}

/** Exactly these fields, in whatever order and with whatever said of each, and exactly their codes. */
function expectAll(
  reply: HttpReply,
  fields: readonly string[],
  codes: Readonly<Record<string, string>> = {},
  type: 'validation-error' | 'invalid-request' = 'validation-error',
): void {
  const told = membersOf(reply)
  const expected = fields.map((field) => codes[field] ?? CODES[field] ?? FIELD)
  expect({
    status: reply.status,
    type: String(told['type']).split('/').at(-1),
    fields: sorted(new Set(fieldsOf(reply))),
    codes: sorted(told['error_codes'] as readonly string[]),
  }).toEqual({ status: 400, type, fields: sorted(fields), codes: sorted(new Set(expected)) })
}
