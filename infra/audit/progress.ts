/**
 * What the auditor knows, as one document: plain JSON, with the version of its format inside. What it has found wrong is
 * beside it, in rows. Both name accounts by their references; where a pass is, which says more, is sealed as it is stored.
 *   P1. A pass looks at whatever was written before it began (commits below `beganXid`), the tail at whatever was written
 *       since. So the last complete pass and what was counted since cover everything, and nothing twice.
 *       A transaction is counted once it is final, by the commit that ended it.
 *   P2. A finding belongs to the pass that was under way when it was made, and goes when the pass after that is complete
 *       and has not made it again.
 */
import { addCounts, type Counts, type Finding, type Subject } from '../../runtime/audit/finding.ts'
import { type PassPlace, startOf, WHOLE_PASS } from './pass.ts'
import type { Seen } from './walk.ts'

export interface AuditProgress {
  readonly format: 1
  readonly pass: PassUnderWay | null
  readonly last: CompletePass | null
  readonly tail: TailPlace
}

interface PassBegun {
  /** Grows from pass to pass, whatever became of the document before: the time that it began, or more. */
  readonly number: number
  readonly beganAtMs: number
  readonly checked: Counts
  /** By the tail, of what was written since the pass began. */
  readonly since: Counts
  /** Findings that there was no room to list. */
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
  /** Commits below have been looked at. */
  readonly position: string
  /** Every commit that was answered before then has been looked at; null: not known yet. */
  readonly asOfMs: number | null
  /** Once the position is there, that is so of this time. */
  readonly mark: { readonly position: string; readonly atMs: number }
  /** When all value was looked at last, of one moment. */
  readonly momentAtMs: number | null
  /** When the supply of tokens that it had changed of was looked at last. */
  readonly suppliesAtMs: number | null
  /** Tokens whose supply was changed since, in lower case; at most MAX_TOKENS. */
  readonly tokens: readonly string[]
}

/** More than these are left to the next pass. */
export const MAX_TOKENS = 1_000
const FORMAT = 1

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

/** undefined: there is none that this program can go on from. */
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

/** After a step; `next` null: the pass is complete. */
export function notePass(progress: AuditProgress, next: PassPlace | null, seen: Seen, nowMs: number): AuditProgress {
  const { pass } = progress
  if (pass === null) return progress
  const checked = addCounts(pass.checked, seen.checked)
  if (next !== null) return { ...progress, pass: { ...pass, place: next, checked } }
  const { place: _place, beganXid: _beganXid, ...rest } = pass
  return { ...progress, pass: null, last: { ...rest, checked, completedAtMs: nowMs } }
}

/** The tail has counted something. */
export function noteSince(progress: AuditProgress, counts: Counts): AuditProgress {
  return inBoth(progress, (pass) => ({ since: addCounts(pass.since, counts) }))
}

/** Findings that were made and could not be listed. They count for the pass that is under way, or else for the last. */
export function noteUnlisted(progress: AuditProgress, counts: Counts): AuditProgress {
  const { pass, last } = progress
  if (pass !== null) return { ...progress, pass: { ...pass, unlisted: addCounts(pass.unlisted, counts) } }
  return last === null ? progress : { ...progress, last: { ...last, unlisted: addCounts(last.unlisted, counts) } }
}

function inBoth(progress: AuditProgress, change: (pass: PassBegun) => Partial<PassBegun>): AuditProgress {
  const { pass, last } = progress
  return {
    ...progress,
    pass: pass === null ? null : { ...pass, ...change(pass) },
    last: last === null ? null : { ...last, ...change(last) },
  }
}

/** P2: the number of the pass that findings made now belong to. */
export function currentPass({ pass, last }: AuditProgress): number {
  return pass?.number ?? last?.number ?? 0
}

/** How many of each subject the last complete pass has looked at, with what was written since. */
export function coveredBy({ last }: AuditProgress): Counts {
  return last === null ? {} : addCounts(last.checked, last.since)
}

/** Everything that was answered before then has been looked at; null: nothing is known yet. */
export function asOfMsOf({ tail }: AuditProgress, subjects: readonly Subject[]): number | null {
  const { asOfMs, momentAtMs, suppliesAtMs } = tail
  const seen = [asOfMs]
  if (subjects.includes('value_is_conserved')) seen.push(momentAtMs)
  if (subjects.includes('supply_reconciles')) seen.push(suppliesAtMs)
  const known = seen.filter((atMs) => atMs !== null)
  return known.length < seen.length ? null : Math.min(...known)
}

/** What one turn of the auditor makes durable. */
export interface Turned {
  readonly progress: AuditProgress
  readonly findings: readonly Finding[]
}
