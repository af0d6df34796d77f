import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'

/**
 * The result of a verification. `tampered`: the ledger did not sign it. `wrong_keys`: the key set is of another ledger,
 * or older than the key, and proves neither. `incomplete`: parts are missing. `unexpected`: it is valid, but of another
 * account, order, transaction, token or time than the caller expects.
 */
export type Verdict = Valid | Invalid

export interface Valid {
  readonly ok: true
  /** The proved facts, a sentence each, for people. */
  readonly proved: readonly string[]
}

export interface Invalid {
  readonly ok: false
  readonly reason: 'tampered' | 'wrong_keys' | 'incomplete' | 'unexpected'
  /** For people. */
  readonly problem: string
}

export function tampered(problem: string): Invalid {
  return { ok: false, reason: 'tampered', problem }
}

/** Undefined if each expected member has this value. Times are compared as moments. Undefined members are not expected. */
export function unexpected(expected: object, actual: object): Invalid | undefined {
  const members = new Map<string, unknown>(Object.entries(actual))
  for (const [name, wanted] of Object.entries(expected) as [string, unknown][]) {
    const found = members.get(name) ?? null
    if (wanted === undefined || comparable(found) === comparable(wanted)) continue
    const problem = `its ${name} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`
    return { ok: false, reason: 'unexpected', problem }
  }
  return undefined
}

function comparable(value: unknown): string | number {
  const timeMs = typeof value === 'string' ? parseTimestamp(value) : undefined
  return timeMs ?? canonicalJson(value as Json)
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
