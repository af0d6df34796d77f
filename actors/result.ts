/** An expected failure is a value: `E` is a closed union, handled exhaustively. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

export function refuse<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error }
}

/** A proven property does not hold. The shard host catches it and quarantines the shard. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenInvariant(message)
}
