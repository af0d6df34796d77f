import type { JsonObject } from '../../actors/canonical-json.ts'

/** A row's text as a JSON object; undefined when it is none, as in a row that was tampered with. */
export function storedObject(text: string): JsonObject | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}
