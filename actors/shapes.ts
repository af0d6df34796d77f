/**
 * Guards for parsed JSON, and the types that follow from them. A guard checks the members of its type and ignores
 * others, so that a later version may add members. Hot path: no allocation.
 */
export type Guard<T> = (value: unknown) => value is T

export const isText = (value: unknown): value is string => typeof value === 'string'
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
/** A number; JSON has no NaN. */
export const isNumber = (value: unknown): value is number => typeof value === 'number'
/** A whole number from 0 to 2^53 - 1. */
export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

export function isRecord<T extends object = Readonly<Record<string, unknown>>>(value: unknown): value is T {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isOneOf<T extends string>(names: readonly T[]): Guard<T> {
  const known: ReadonlySet<unknown> = new Set(names)
  return (value): value is T => known.has(value)
}

export function isNullOr<T>(is: Guard<T>): Guard<T | null> {
  return (value): value is T | null => value === null || is(value)
}

/** A guard for an optional member. */
export function isAbsentOr<T>(is: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || is(value)
}

export function isListOf<T>(is: Guard<T>): Guard<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(is)
}

/** An object with members of any names. */
export function isTableOf<T>(is: Guard<T>): Guard<{ readonly [name: string]: T }> {
  return (value): value is { readonly [name: string]: T } => isRecord(value) && Object.values(value).every(is)
}

/** The type that a guard accepts. */
export type Guarded<G> = G extends Guard<infer T> ? T : never
type Members = { readonly [name: string]: Guard<unknown> }
type Optional<M> = { readonly [Name in keyof M]: undefined extends Guarded<M[Name]> ? Name : never }[keyof M]
type ObjectOf<M> = { readonly [Name in Exclude<keyof M, Optional<M>>]: Guarded<M[Name]> } & {
  readonly [Name in Optional<M>]?: Exclude<Guarded<M[Name]>, undefined>
}

export function isObjectOf<M extends Members>(members: M): Guard<ObjectOf<M>> {
  const guards = Object.entries(members)
  return (value): value is ObjectOf<M> => {
    if (!isRecord(value)) return false
    for (const [name, is] of guards) if (!is(value[name])) return false
    return true
  }
}

/** The union that a table of kinds and member guards describes. */
export type KindOf<T> = { readonly [Kind in keyof T]: { readonly kind: Kind } & ObjectOf<T[Kind]> }[keyof T]

export function isKindOf<T extends { readonly [kind: string]: Members }>(kinds: T): Guard<KindOf<T>> {
  const guards = new Map<unknown, Guard<object>>()
  for (const [kind, members] of Object.entries(kinds)) guards.set(kind, isObjectOf(members))
  return (value): value is KindOf<T> => isRecord(value) && guards.get(value['kind'])?.(value) === true
}
