/** Structured events for operators. No field is a secret, key or signature; accounts are named by shard. */
export interface Log {
  /** For single requests. Absent unless enabled, so that its fields are not computed in vain. */
  readonly debug?: (event: string, fields?: LogFields) => void
  readonly info: (event: string, fields?: LogFields) => void
  readonly warn: (event: string, fields?: LogFields) => void
  readonly error: (event: string, fields?: LogFields) => void
}

export type LogFields = { readonly [field: string]: string | number | boolean | null | undefined }
