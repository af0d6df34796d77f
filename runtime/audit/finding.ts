/** Subjects and findings of an audit. */

/** The controls of compliance (D12). Names are never reused: clients store them. */
export const CONTROLS = [
  'chains_verify',
  'value_is_conserved',
  'receipts_verify',
  'no_negative_balance',
  'supply_reconciles',
] as const
export type Control = (typeof CONTROLS)[number]

/** Subjects of an audit: each control, and the provenance of every NFT. */
export const SUBJECTS = [...CONTROLS, 'provenance'] as const
export type Subject = (typeof SUBJECTS)[number]

/** `place`: names one item of the subject, for example `account alice, entry 3`. */
export interface Finding {
  readonly subject: Subject
  readonly place: string
  readonly problem: string
}

/** Number of items by subject. */
export type Counts = Readonly<Partial<Record<Subject, number>>>

export function addCounts(counts: Counts, more: Counts): Counts {
  const sum: Partial<Record<Subject, number>> = { ...counts }
  for (const subject of SUBJECTS) {
    const added = more[subject]
    if (added !== undefined) sum[subject] = (sum[subject] ?? 0) + added
  }
  return sum
}
