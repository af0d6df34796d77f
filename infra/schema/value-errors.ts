/** The compiler's errors in the words of the interface: a path as `parts[0].weight`, a sentence without the value in it. */
import type { ErrorObject } from 'ajv'
import type { Json } from '../../actors/canonical-json.ts'
import type { ValueError } from '../../runtime/ports/schema-validator.ts'
import { MAX_ERRORS, MAX_MESSAGE_LENGTH } from './limits.ts'
import { shortened } from './shortened.ts'

interface Told {
  /** A member of what the error is about, that it is rather about. */
  readonly member: string | null
  readonly message: string
}

/** Each once; at least one if there is any. */
export function valueErrors(errors: readonly ErrorObject[], value: Json): readonly ValueError[] {
  const told = new Map<string, ValueError>()
  for (const error of errors) {
    if (told.size === MAX_ERRORS) break
    const { member, message } = toldOf(error)
    const found = {
      path: shortened(pathOf(error.instancePath, value, member)),
      message: shortened(message, MAX_MESSAGE_LENGTH),
    }
    told.set(JSON.stringify(found), found)
  }
  return [...told.values()]
}

function toldOf({ keyword, message, params, propertyName }: ErrorObject): Told {
  const said = message ?? 'is not valid'
  if (propertyName !== undefined) return { member: propertyName, message: `has a name that ${said}` }
  switch (keyword) {
    case 'required':
      return { member: textOf(params['missingProperty']), message: 'is required' }
    case 'dependentRequired':
      return { member: textOf(params['missingProperty']), message: 'is required by another member' }
    case 'additionalProperties':
      return { member: textOf(params['additionalProperty']), message: 'is not allowed' }
    case 'unevaluatedProperties':
      return { member: textOf(params['unevaluatedProperty']), message: 'is not allowed' }
    case 'propertyNames':
      return { member: textOf(params['propertyName']), message: 'has a name that is not allowed' }
    case 'false schema':
      return { member: null, message: 'is not allowed' }
    default:
      return { member: null, message: said }
  }
}

function textOf(parameter: unknown): string | null {
  return typeof parameter === 'string' ? parameter : null
}

/** `pointer`: RFC 6901. Whether `0` is an index or a name shows in the value only. */
function pathOf(pointer: string, value: Json, member: string | null): string {
  const keys = pointer.split('/').slice(1).map(unescaped)
  let path = ''
  let part: Json | undefined = value
  for (const key of keys) {
    const isIndex = Array.isArray(part)
    path = isIndex ? `${path}[${key}]` : joined(path, key)
    part = memberOf(part, key)
  }
  return member === null ? path : joined(path, member)
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, Json>>)[key]
}
