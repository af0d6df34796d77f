/**
 * RFC 8785 canonical JSON. JavaScript's own order of code units and printing of numbers are the ones that the RFC
 * prescribes, so this needs no more than sorted keys.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Deeper values are refused where text enters the ledger; recursion here is bounded by it. */
export const MAX_JSON_DEPTH = 32

export function canonicalJson(value: Json): string {
  // JSON.stringify writes members in the order in which the object has them: where that is the canonical one already,
  // as in the records that the ledger makes itself, one native call does it all.
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
