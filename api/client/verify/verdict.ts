/**
 * The result of a verification. `tampered`: the ledger did not sign it. `wrong_keys`: the key set is of another ledger,
 * or older than the key, and proves neither. `incomplete`: parts are missing.
 */
export type Verdict = Valid | Invalid

export interface Valid {
  readonly ok: true
  /** The proved facts, a sentence each, for people. */
  readonly proved: readonly string[]
}

export interface Invalid {
  readonly ok: false
  readonly reason: 'tampered' | 'wrong_keys' | 'incomplete'
  /** For people. */
  readonly problem: string
}

export function tampered(problem: string): Invalid {
  return { ok: false, reason: 'tampered', problem }
}

/** Values from elsewhere may have any shape: what cannot be read was not signed like this. */
export async function judged<Found extends Verdict>(judge: () => Promise<Found | Invalid>): Promise<Found | Invalid> {
  try {
    return await judge()
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
      return tampered('it is malformed')
    }
    throw error
  }
}
