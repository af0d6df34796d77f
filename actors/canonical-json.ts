/**
 * RFC 8785 canonical JSON. JavaScript's order of code units and number format are those of the RFC, so that sorting the
 * keys suffices.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Deeper values are refused on input; this bounds the recursion here. */
export const MAX_JSON_DEPTH = 32

export function canonicalJson(value: Json): string {
  // JSON.stringify keeps the order of members. The ledger's own records are already in canonical order: one native call
  // suffices for them.
  return isOrdered(value) ? JSON.stringify(value) : ordered(value)
}

function isOrdered(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true
  if (isArray(value)) return value.every(isOrdered)
  let before = ''
  for (const key in value) {
    if (key < before || !isOrdered(value[key] ?? null)) return false
    before = key
  }
  return true
}

function ordered(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isArray(value)) return `[${value.map(ordered).join(',')}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${ordered(value[key] ?? null)}`)
  return `{${members.join(',')}}`
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
