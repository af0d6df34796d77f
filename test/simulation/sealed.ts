/** Seals a state against whoever is given it: to change anything in it throws. */

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

/** What the value says as JSON, sealed. */
export function sealedCopy<T>(value: T): T {
  return sealed(JSON.parse(JSON.stringify(value)) as T)
}

function refuse(): never {
  throw new TypeError('A state that was given to be read was changed.')
}
