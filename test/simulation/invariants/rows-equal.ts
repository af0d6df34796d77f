/**
 * Whether two values of the ledger are equal: maps in any order, undefined like absent. Values read from rows may have
 * another form than the values written.
 */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (isMap(left)) return isMap(right) && areEqualMaps(left, right)
  if (Array.isArray(left)) return Array.isArray(right) && areEqualLists(left, right)
  return !isMap(right) && !Array.isArray(right) && areEqualRecords(left, right)
}

/** Collections of an account can be read as maps without being one. */
function isMap(value: object): value is ReadonlyMap<string, unknown> {
  return value instanceof Map || ('forEach' in value && 'size' in value && 'get' in value)
}

/** The path of the first difference; empty if the values themselves differ. */
export function differenceOf(left: unknown, right: unknown): string {
  const parts = partsOf(left)
  const others = partsOf(right)
  if (parts === undefined || others === undefined) return ''
  for (const key of new Set([...parts.keys(), ...others.keys()])) {
    const [one, other] = [parts.get(key), others.get(key)]
    if (!isEqual(one, other)) return `.${key}${differenceOf(one, other)}`
  }
  return ''
}

function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return isMap(value) ? value : new Map(Object.entries(value))
}

function areEqualMaps(left: ReadonlyMap<unknown, unknown>, right: ReadonlyMap<unknown, unknown>): boolean {
  if (left.size !== right.size) return false
  for (const [key, value] of left) if (!right.has(key) || !isEqual(value, right.get(key))) return false
  return true
}

function areEqualLists(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => isEqual(item, right[index]))
}

function areEqualRecords(left: object, right: object): boolean {
  const [one, other] = [left as Record<string, unknown>, right as Record<string, unknown>]
  for (const key of Object.keys(one)) if (!isEqual(one[key], other[key])) return false
  for (const key of Object.keys(other)) if (one[key] === undefined && other[key] !== undefined) return false
  return true
}
