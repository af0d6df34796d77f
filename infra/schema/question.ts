/** The messages between the adapter and its worker process. A worker may be broken, so its messages are validated. */
import * as v from 'valibot'
import { canonicalJson, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { SchemaVerdict, ValueVerdict } from '../../runtime/ports/schema-validator.ts'
import { MAX_ERRORS, MAX_MESSAGE_LENGTH, MAX_PATH_LENGTH, MAX_SCHEMA_BYTES } from './limits.ts'

/** The texts are canonical JSON. */
export type Question =
  | { readonly kind: 'check'; readonly schema: string }
  | { readonly kind: 'validate'; readonly schema: string; readonly value: string }

export interface Verdicts {
  readonly check: Exclude<SchemaVerdict, { readonly kind: 'overloaded' }>
  readonly validate: Exclude<ValueVerdict, { readonly kind: 'overloaded' }>
}

/** The refusals of a question that exceeds the bounds on steps, time or memory. */
export const TOO_MUCH_WORK = 'It takes more time or memory than a schema may.'
export const TOO_MUCH_WORK_FOR_VALUE = 'takes more time or memory to check than is allowed'
export const NO_SCHEMA = 'cannot be checked, because the schema of its class is invalid'

export interface QuestionMessage {
  readonly id: number
  readonly question: Question
}

/** The worker sends this once, when it can take questions. */
export const READY = 'ready'

const verdictMessage = v.object({ id: v.number(), verdict: v.unknown() })
/** `verdict`: null if the worker failed on the question. */
export type VerdictMessage = Readonly<v.InferOutput<typeof verdictMessage>>

export function isVerdictMessage(message: unknown): message is VerdictMessage {
  return v.is(verdictMessage, message)
}

/** Room for an ellipsis and the words around a path. */
const SLACK = 200

/** `maxLength` is in code points, each of which has at most two code units. */
const text = (maxLength: number) => v.pipe(v.string(), v.maxLength(2 * maxLength + SLACK))
const VALID = v.object({ kind: v.literal('valid') })
const schemaVerdict = v.variant('kind', [
  VALID,
  v.object({ kind: v.literal('invalid'), reason: text(MAX_PATH_LENGTH + MAX_MESSAGE_LENGTH) }),
])
const valueError = v.object({ path: text(MAX_PATH_LENGTH), message: text(MAX_MESSAGE_LENGTH) })
const valueVerdict = v.variant('kind', [
  VALID,
  v.object({
    kind: v.literal('invalid'),
    errors: v.pipe(v.array(valueError), v.minLength(1), v.maxLength(MAX_ERRORS)),
  }),
])

export function readSchemaVerdict(verdict: unknown): Verdicts['check'] | undefined {
  const { success, output } = v.safeParse(schemaVerdict, verdict)
  return success ? output : undefined
}

export function readValueVerdict(verdict: unknown): Verdicts['validate'] | undefined {
  const { success, output } = v.safeParse(valueVerdict, verdict)
  return success ? output : undefined
}

/** The error is the reason for the refusal, as a sentence. */
export function schemaText(schema: JsonObject): Result<string, string> {
  if (isTooDeep(schema)) return refuse(`It is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  const json = canonicalJson(schema)
  if (Buffer.byteLength(json) <= MAX_SCHEMA_BYTES) return ok(json)
  return refuse(`It has more than ${MAX_SCHEMA_BYTES.toLocaleString('en')} bytes as canonical JSON.`)
}

/** The error is a message about the whole value. */
export function valueText(value: Json): Result<string, string> {
  return isTooDeep(value) ? refuse(`is nested deeper than ${MAX_JSON_DEPTH} levels`) : ok(canonicalJson(value))
}

function isTooDeep(value: Json, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values<Json>(value).some((part) => isTooDeep(part, levels - 1))
}
