/** What is asked about, as text: within bounds that cost nothing to look at, so that it may be done by the one who asks. */
import { canonicalJson, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { MAX_SCHEMA_BYTES } from './limits.ts'

/** Or why it is refused, as a sentence. */
export function schemaText(schema: JsonObject): Result<string, string> {
  if (isTooDeep(schema)) return refuse(`It is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  const text = canonicalJson(schema)
  if (Buffer.byteLength(text) <= MAX_SCHEMA_BYTES) return ok(text)
  return refuse(`It has more than ${MAX_SCHEMA_BYTES.toLocaleString('en')} bytes as canonical JSON.`)
}

/** Or what is wrong with the whole. */
export function valueText(value: Json): Result<string, string> {
  return isTooDeep(value) ? refuse(`is nested deeper than ${MAX_JSON_DEPTH} levels`) : ok(canonicalJson(value))
}

function isTooDeep(value: Json, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values<Json>(value).some((part) => isTooDeep(part, levels - 1))
}
