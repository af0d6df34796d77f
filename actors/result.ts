/** An expected 'no' is a value: `E` is a closed union, handled exhaustively where it becomes visible. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

export function refuse<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error }
}

/** Something that the code proves cannot happen has happened. Caught in one place, the shard host, which quarantines the shard. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenInvariant(message)
}
