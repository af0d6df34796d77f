/** The fields of a chain's entry that lists show. */
export interface EntryFields {
  /** The type of the transaction, or of another entry. */
  readonly kind: string
  readonly time: string | undefined
}

/** `payload`: null if it is erased. */
export function entryFields(payload: string | null): EntryFields {
  if (payload === null) return { kind: 'erased', time: undefined }
  try {
    const fields: Readonly<Record<string, unknown>> = { ...(JSON.parse(payload) as object) }
    const text = (name: string): string | undefined => (typeof fields[name] === 'string' ? fields[name] : undefined)
    return {
      kind: text('type') ?? text('kind') ?? 'unknown',
      time: text('processed_at') ?? text('timestamp') ?? text('created_at'),
    }
  } catch {
    return { kind: 'unreadable', time: undefined }
  }
}
