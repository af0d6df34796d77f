/**
 * The auditor's progress as one JSON document with a format version. Findings are separate rows. Both contain references
 * of accounts, not IDs. The position of a pass is sealed in storage.
 *   P1. A pass counts rows of commits before its beginning (below `beganXid`), the tail counts later ones. The last complete
 *       pass and the tail's counts since then therefore cover every row exactly once. A transaction is counted by the
 *       commit that ended it.
 *   P2. A finding belongs to the pass that was running when it was made. It is deleted when the next pass completes without
 *       confirming it.
 */
import { addCounts, type Counts, type Finding, type Subject } from '../../runtime/audit/finding.ts'
import { type PassPlace, startOf, WHOLE_PASS } from './pass.ts'
import type { Seen } from './walk.ts'

export interface AuditProgress {
  readonly format: 2
  readonly pass: PassUnderWay | null
  readonly last: CompletePass | null
  readonly tail: TailPlace
}

interface PassBegun {
  /** Grows from pass to pass, even if the document was lost: at least the time of its beginning. */
  readonly number: number
  readonly beganAtMs: number
  readonly checked: Counts
  /** Counts of the tail since the pass began. */
  readonly since: Counts
  /** Findings beyond the limit of the list. */
  readonly unlisted: Counts
}

export interface PassUnderWay extends PassBegun {
  /** PostgreSQL transaction number (xid8) in decimal. */
  readonly beganXid: string
  readonly place: PassPlace
}

export interface CompletePass extends PassBegun {
  readonly completedAtMs: number
}

export interface TailPlace {
  /** Commits below this transaction number are checked. */
  readonly position: string
  /** Every commit before this time is checked; null: unknown. */
  readonly asOfMs: number | null
  /** When `position` reaches the mark, `asOfMs` becomes its time. */
  readonly mark: { readonly position: string; readonly atMs: number }
  /** Time of the last check of all value. */
  readonly momentAtMs: number | null
  /** Time of the last check of changed supplies. */
  readonly suppliesAtMs: number | null
  /** Tokens with a supply change since, in lower case; at most MAX_TOKENS. */
  readonly tokens: readonly string[]
}

/** The next pass checks further tokens. */
export const MAX_TOKENS = 1_000
const FORMAT = 2

export function newProgress(position: string, nowMs: number): AuditProgress {
  return {
    format: FORMAT,
    pass: null,
    last: null,
    tail: {
      position,
      asOfMs: null,
      mark: { position, atMs: nowMs },
      momentAtMs: null,
      suppliesAtMs: null,
      tokens: [],
    },
  }
}

/** undefined: its format is of another version. */
export function readProgress(text: string): AuditProgress | undefined {
  const progress = JSON.parse(text) as AuditProgress | { readonly format: undefined }
  return progress.format === FORMAT ? progress : undefined
}

export function beginPass(progress: AuditProgress, nowMs: number): AuditProgress {
  const pass: PassUnderWay = {
    number: Math.max(nowMs, (progress.last?.number ?? 0) + 1),
    beganAtMs: nowMs,
    beganXid: progress.tail.position,
    place: startOf(WHOLE_PASS),
    checked: {},
    since: {},
    unlisted: {},
  }
  return { ...progress, pass }
}

/** Records a step. `next` null: the pass is complete. */
export function notePass(progress: AuditProgress, next: PassPlace | null, seen: Seen, nowMs: number): AuditProgress {
  const { pass } = progress
  if (pass === null) return progress
  const checked = addCounts(pass.checked, seen.checked)
  if (next !== null) return { ...progress, pass: { ...pass, place: next, checked } }
  const { place: _place, beganXid: _beganXid, ...rest } = pass
  return { ...progress, pass: null, last: { ...rest, checked, completedAtMs: nowMs } }
}

/** Adds counts of the tail. */
export function noteSince(progress: AuditProgress, counts: Counts): AuditProgress {
  const { pass, last } = progress
  return {
    ...progress,
    pass: pass === null ? null : { ...pass, since: addCounts(pass.since, counts) },
    last: last === null ? null : { ...last, since: addCounts(last.since, counts) },
  }
}

/** Adds unlisted findings to the current pass, or else to the last. */
export function noteUnlisted(progress: AuditProgress, counts: Counts): AuditProgress {
  const { pass, last } = progress
  if (pass !== null) return { ...progress, pass: { ...pass, unlisted: addCounts(pass.unlisted, counts) } }
  return last === null ? progress : { ...progress, last: { ...last, unlisted: addCounts(last.unlisted, counts) } }
}

/** Listed and unlisted findings of a subject. */
export function failedIn(
  { last, pass }: Pick<AuditProgress, 'last' | 'pass'>,
  listed: Counts,
  subject: Subject,
): number {
  return (listed[subject] ?? 0) + (last?.unlisted[subject] ?? 0) + (pass?.unlisted[subject] ?? 0)
}

/** P2: number of the pass for new findings. */
export function currentPass({ pass, last }: AuditProgress): number {
  return pass?.number ?? last?.number ?? 0
}

/** Counts of the last complete pass and of the tail since then. */
export function coveredBy({ last }: AuditProgress): Counts {
  return last === null ? {} : addCounts(last.checked, last.since)
}

/** Everything before this time is checked; null: unknown. */
export function asOfMsOf({ tail }: AuditProgress, subjects: readonly Subject[]): number | null {
  const { asOfMs, momentAtMs, suppliesAtMs } = tail
  const seen = [asOfMs]
  if (subjects.includes('value_is_conserved')) seen.push(momentAtMs)
  if (subjects.includes('supply_reconciles')) seen.push(suppliesAtMs)
  const known = seen.filter((atMs) => atMs !== null)
  return known.length < seen.length ? null : Math.min(...known)
}

/** Result of one turn of the auditor. */
export interface TurnResult {
  readonly progress: AuditProgress
  readonly findings: readonly Finding[]
}
