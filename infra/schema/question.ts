/** What goes between the adapter and the process that answers, as JSON. What comes back is read with suspicion. */
import type { SchemaVerdict, ValueError, ValueVerdict } from '../../runtime/ports/schema-validator.ts'
import { MAX_ERRORS, MAX_MESSAGE_LENGTH, MAX_PATH_LENGTH } from './limits.ts'

/** The texts are canonical JSON. */
export type Question =
  | { readonly kind: 'check'; readonly schema: string }
  | { readonly kind: 'validate'; readonly schema: string; readonly value: string }

/** Of one that was answered. */
export interface Verdicts {
  readonly check: Exclude<SchemaVerdict, { readonly kind: 'overloaded' }>
  readonly validate: Exclude<ValueVerdict, { readonly kind: 'overloaded' }>
}

/** What is said of a question that was stopped, by a count or by the clock. */
export const TOO_MUCH_WORK = 'It takes more time or memory than a schema may.'
export const TOO_MUCH_WORK_FOR_VALUE = 'takes more time or memory to check than is allowed'
/** Of a value, where the schema is refused. */
export const NO_SCHEMA = 'cannot be held against the schema of its class'

export interface Asked {
  readonly id: number
  readonly question: Question
}

/** Sent once, when the process can be asked. */
export const READY = 'ready'

/** A mark for what was cut off, and what stands around a place. */
const SLACK = 200

/** `verdict`: null when the process could not make sense of the question. */
export interface Answered {
  readonly id: number
  readonly verdict: unknown
}

export function isAnswered(message: unknown): message is Answered {
  return typeof message === 'object' && message !== null && 'id' in message && 'verdict' in message
}

export function readSchemaVerdict(verdict: unknown): Verdicts['check'] | undefined {
  if (isOfKind(verdict, 'valid')) return { kind: 'valid' }
  if (!isOfKind(verdict, 'invalid') || !('reason' in verdict)) return undefined
  const { reason } = verdict
  return isText(reason, MAX_PATH_LENGTH + MAX_MESSAGE_LENGTH) ? { kind: 'invalid', reason } : undefined
}

export function readValueVerdict(verdict: unknown): Verdicts['validate'] | undefined {
  if (isOfKind(verdict, 'valid')) return { kind: 'valid' }
  if (!isOfKind(verdict, 'invalid') || !('errors' in verdict) || !Array.isArray(verdict.errors)) return undefined
  const errors = verdict.errors.map(readError).filter((error) => error !== undefined)
  const complete = errors.length === verdict.errors.length && errors.length > 0 && errors.length <= MAX_ERRORS
  return complete ? { kind: 'invalid', errors } : undefined
}

function readError(error: unknown): ValueError | undefined {
  if (typeof error !== 'object' || error === null || !('path' in error) || !('message' in error)) return undefined
  const { path, message } = error
  return isText(path, MAX_PATH_LENGTH) && isText(message, MAX_MESSAGE_LENGTH) ? { path, message } : undefined
}

function isOfKind(verdict: unknown, kind: string): verdict is { readonly kind: string } {
  return typeof verdict === 'object' && verdict !== null && 'kind' in verdict && verdict.kind === kind
}

/** Lengths are of code points: of code units there may be twice as many. */
function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= 2 * maxLength + SLACK
}
