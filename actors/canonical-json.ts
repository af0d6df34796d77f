/**
 * RFC 8785 canonical JSON. JavaScript's own order of code units and printing of numbers are the ones that the RFC
 * prescribes, so this needs no more than sorted keys.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Deeper values are refused where text enters the ledger; recursion here is bounded by it. */
export const MAX_JSON_DEPTH = 32

export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`)
  return `{${members.join(',')}}`
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
