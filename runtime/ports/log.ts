/** Structured events for operators. No secret, key or signature is ever a field; accounts are named by shard. */
export interface Log {
  readonly info: (event: string, fields?: LogFields) => void
  readonly warn: (event: string, fields?: LogFields) => void
  readonly error: (event: string, fields?: LogFields) => void
}

export type LogFields = { readonly [field: string]: string | number | boolean | null | undefined }
