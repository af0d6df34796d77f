/** Refusals of the ledger, as messages of commands. */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import type { LedgerError } from '../../../api/client/ledger-error.ts'
import { isJsonObject } from './given-file.ts'
import { shownText } from './shown-text.ts'

/** Status, title and detail of problem details, and the fields that they name, one a line. */
export function problemText(status: number, body: JsonObject): string {
  const { title, detail, errors } = body
  const fields = Array.isArray(errors) ? errors.flatMap((error: Json) => fieldText(error)) : []
  const head = [String(status), ...(typeof title === 'string' ? [title] : [])].join(' ')
  const first = typeof detail === 'string' ? `${head}: ${detail}` : head
  return [first, ...fields.map((field) => `  ${field}`)].map(shownText).join('\n')
}

/** The same of the problem of a response; the message of the error without one. */
export function failureText({ message, status, problem }: LedgerError): string {
  return problem === undefined ? shownText(message) : problemText(status, { ...problem })
}

function fieldText(error: Json): readonly string[] {
  if (!isJsonObject(error)) return []
  const { field, message } = error
  return typeof field === 'string' && typeof message === 'string' ? [`${field}: ${message}`] : []
}
