import type { Verdict } from '../../client/index.ts'

/** The result of a check in the browser. `unproved`: parts are missing, or the keys are of another ledger. */
export interface Finding {
  readonly outcome: 'verified' | 'tampered' | 'unproved'
  /** The first fault, and its place. */
  readonly problem?: string
  readonly proved: readonly string[]
  /** Claims that a reader might take for proved. */
  readonly unproved: readonly string[]
}

/** `subject`: names what was checked at the beginning of a sentence, such as `Entry 3 of the chain`. */
export function findingOf(verdict: Verdict, subject: string, unproved: readonly string[]): Finding {
  if (verdict.ok) return { outcome: 'verified', proved: verdict.proved, unproved }
  const { reason, problem } = verdict
  return {
    outcome: reason === 'tampered' ? 'tampered' : 'unproved',
    problem: `${subject}: ${problem}.`,
    proved: [],
    unproved: [],
  }
}

/** `problem`: a sentence that names the place. */
export function tampered(problem: string): Finding {
  return { outcome: 'tampered', problem, proved: [], unproved: [] }
}

/** Only a copy of the keys from elsewhere proves whose they are. */
export const KEYS_UNPROVED =
  'That the keys are those of your ledger: this page got them from the same server. Compare them with a copy that you keep.'
