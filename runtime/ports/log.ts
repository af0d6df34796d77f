/** Structured events for operators. No secret, key or signature is ever a field; accounts are named by shard. */
export interface Log {
  /** Follows single requests. Not there unless it was asked for: what nobody reads is not even put together. */
  readonly debug?: (event: string, fields?: LogFields) => void
  readonly info: (event: string, fields?: LogFields) => void
  readonly warn: (event: string, fields?: LogFields) => void
  readonly error: (event: string, fields?: LogFields) => void
}

export type LogFields = { readonly [field: string]: string | number | boolean | null | undefined }
