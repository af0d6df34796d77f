/** The body that registers a webhook (D23). */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isPrintable } from '../../../actors/identifiers.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { accountIdField, checkedField, codePoints, textField, unsignedOptional } from '../fields.ts'
import { defineClosed } from '../named-schema.ts'
import { closedErrors, readBody } from '../read-body.ts'
import { EVENT_TYPE_PATTERNS, MAX_EVENT_TYPES } from '../event-types.ts'

const MAX_URL_LENGTH = 2_048
const URL_RULE =
  'must be an absolute https URL (in the sandbox also http) of at most 2,048 characters, without credentials and fragment'
const URL_START = /^https?:\/\/[^/?#]/i
/** Characters that URL parsers repair, each parser in its own way. */
const NOT_IN_A_URL = /[\s\\]/

const TYPES_RULE = `must be 1 to ${MAX_EVENT_TYPES} event types, such as ledger.group.settled.v1 or ledger.transaction.*`
const typesField = v.pipe(
  v.custom<readonly string[]>(isTypeList, TYPES_RULE),
  v.metadata({
    type: 'array',
    items: { type: 'string', enum: EVENT_TYPE_PATTERNS },
    minItems: 1,
    maxItems: MAX_EVENT_TYPES,
  }),
)

export const webhookSchema = defineClosed('WebhookRegistration', 'Where events are to be sent.', {
  url: [checkedField(URL_RULE, isWebhookUrl, { maxLength: MAX_URL_LENGTH }), 'The receiver.'],
  types: [unsignedOptional(typesField), 'Only events of these types. Left out: all types.'],
  account_id: [unsignedOptional(accountIdField), 'Only events that concern this account.'],
  description: [unsignedOptional(textField(1, 256)), 'For people.'],
})

export interface WebhookRegistration {
  readonly url: string
  readonly types: readonly string[]
  readonly accountId: string | null
  readonly description: string | null
}

export interface UrlRules {
  /** Only in the sandbox. */
  readonly plainHttp: boolean
  /** Whether the ledger may connect to the host, where it is an address. */
  readonly mayConnect: (hostname: string) => boolean
}

export function readWebhook(
  body: JsonObject,
  { plainHttp, mayConnect }: UrlRules,
): Result<WebhookRegistration, readonly Invalid[]> {
  const read = readBody(webhookSchema, body, closedErrors(webhookSchema, body))
  if (!read.ok) return read
  const { url, types, account_id: accountId, description } = read.value
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !plainHttp) return refuse([invalidUrl(URL_RULE)])
  if (!mayConnect(hostname)) return refuse([invalidUrl('names an address that this ledger does not send to')])
  return ok({
    url,
    types: [...new Set(types ?? [])],
    accountId: accountId ?? null,
    description: description ?? null,
  })
}

function invalidUrl(message: string): Invalid {
  return { field: 'url', code: 'ERR_INVALID_FIELD', message }
}

function isWebhookUrl(text: string): boolean {
  if (codePoints(text) > MAX_URL_LENGTH || !URL_START.test(text)) return false
  if (NOT_IN_A_URL.test(text) || !isPrintable(text) || !URL.canParse(text)) return false
  const { username, password, hash } = new URL(text)
  return username === '' && password === '' && hash === '' && !text.includes('#')
}

function isTypeList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_EVENT_TYPES) return false
  return value.every((one) => EVENT_TYPE_PATTERNS.some((pattern) => pattern === one))
}
