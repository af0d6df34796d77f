/** Seals a state against changes by its readers: any change throws. */

export function sealed<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map) {
    for (const part of value.values()) sealed(part)
    Object.assign(value, { set: refuse, delete: refuse, clear: refuse })
  } else {
    for (const part of Object.values(value)) sealed(part)
  }
  return Object.freeze(value)
}

/** A sealed copy of the value's JSON. */
export function sealedCopy<T>(value: T): T {
  return sealed(JSON.parse(JSON.stringify(value)) as T)
}

function refuse(): never {
  throw new TypeError('A sealed state must not be changed.')
}
