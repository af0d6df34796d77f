/** Refusals of the ledger, as messages of commands. */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import type { LedgerError } from '../../../api/client/ledger-error.ts'
import { isJsonObject } from './given-file.ts'
import { shownText } from './shown-text.ts'

/** Status, title and detail of problem details, and the fields that they name, one a line. */
export function problemText(status: number, body: JsonObject): string {
  const { title, detail } = body
  const head = [String(status), ...(typeof title === 'string' ? [title] : [])].join(' ')
  const first = typeof detail === 'string' ? `${head}: ${detail}` : head
  return [shownText(first), ...fieldLines(body)].join('\n')
}

/** A line for each wrong field that `detail` does not state. The detail of a problem with one wrong field states it. */
export function fieldLines({ detail, errors }: JsonObject): readonly string[] {
  const fields = Array.isArray(errors) ? errors.flatMap((error: Json) => fieldText(error)) : []
  return fields.filter((field) => field !== detail).map((field) => shownText(`  ${field}`))
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
