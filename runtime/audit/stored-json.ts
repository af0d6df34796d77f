import type { JsonObject } from '../../actors/canonical-json.ts'

/** What a row holds as JSON; undefined when it is no object, as where somebody has been at it. */
export function storedObject(text: string): JsonObject | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}
