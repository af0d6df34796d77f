/**
 * Findings for assertions of provenance and compliance (D12).
 *   F1. A small ledger is checked completely on request, in a separate thread. For a large one, the result is the auditor's
 *       last complete pass with all later commits, and states its time.
 *   F2. Without a complete pass in the last 24 hours the result is negative.
 */
import { type Control, CONTROLS, type Counts, type Subject } from '../../runtime/audit/finding.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import {
  type AssertionSource,
  AssertionUnavailable,
  type ComplianceFindings,
  type ControlOutcome,
  type ProvenanceFindings,
} from '../../runtime/ports/assertion-source.ts'
import type { Framework } from '../config/frameworks.ts'
import { createQueryPool, type QueryPool } from '../postgres/connection/query-pool.ts'
import { READ_SETTINGS } from '../postgres/reads/ledger-reads-postgres.ts'
import { createBegunLater } from './begun-later.ts'
import type { PassKind } from './pass.ts'
import { asOfMsOf, coveredBy, failedIn, readProgress } from './progress.ts'
import type { SpotPass } from './spot-pass.ts'
import { prepared } from '../postgres/connection/prepared.ts'

export interface AuditFindingsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly clock: Pick<Clock, 'now'>
  /** At least one. */
  readonly frameworks: readonly Framework[]
  /** Performs a pass on request. */
  readonly spotPass: SpotPass
  /** Number of entries from which the auditor's findings are used. */
  readonly largeFrom?: number
}

export interface AuditFindings extends Pick<AssertionSource, 'provenance' | 'compliance'> {
  readonly close: () => Promise<void>
}

/** D12. */
const LARGE_FROM = 100_000
const LONGEST_WITHOUT_PASS_MS = 24 * 3_600_000

/** Results of a spot pass or of the auditor. */
interface AuditState {
  readonly checked: Counts
  readonly failed: Counts
  readonly asOfMs: number
  readonly lastFullPassAtMs: number | null
}

/** Both throw AssertionUnavailable. */
export function createAuditFindings(options: AuditFindingsOptions): AuditFindings {
  const { clock, frameworks } = options
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger audit findings',
    readsOnly: true,
    size: 2,
    settings: READ_SETTINGS,
    unavailable: (message, cause) => new AssertionUnavailable(message, cause),
  })
  const { spotPass } = options
  const isLarge = createSizeCheck(pool, options.largeFrom ?? LARGE_FROM)
  const isFresh = ({ lastFullPassAtMs }: AuditState): boolean =>
    lastFullPassAtMs !== null && clock.now() - lastFullPassAtMs <= LONGEST_WITHOUT_PASS_MS
  const stateOf = (kind: PassKind, subjects: readonly Subject[]): (() => Promise<AuditState>) =>
    createBegunLater(async () => {
      if (await isLarge()) return readAuditorState(pool, subjects, clock.now())
      return stateAfter(() => spotPass({ url: options.url, ledgerId: options.ledgerId, kind }))
    })
  const provenance = stateOf('provenance', ['provenance'])
  const compliance = stateOf('compliance', CONTROLS)
  return {
    provenance: async () => provenanceOf(await provenance(), isFresh),
    compliance: async () => complianceOf(await compliance(), isFresh, frameworks),
    close: pool.close,
  }
}

function provenanceOf(state: AuditState, isFresh: (state: AuditState) => boolean): ProvenanceFindings {
  const { checked, failed, asOfMs, lastFullPassAtMs } = state
  return {
    assetsVerified: checked.provenance ?? 0,
    provenanceValid: isFresh(state) && (failed.provenance ?? 0) === 0,
    asOfMs,
    lastFullPassAtMs,
  }
}

function complianceOf(
  state: AuditState,
  isFresh: (state: AuditState) => boolean,
  frameworks: readonly Framework[],
): ComplianceFindings {
  const { asOfMs, lastFullPassAtMs } = state
  const required = new Set(frameworks.flatMap((framework) => framework.controls))
  const controls = CONTROLS.filter((control) => required.has(control)).map((control) => outcomeOf(control, state))
  return {
    compliant: isFresh(state) && controls.length > 0 && controls.every(({ passed }) => passed),
    frameworks: frameworks.map(({ name }) => name),
    controls,
    asOfMs,
    lastFullPassAtMs,
  }
}

function outcomeOf(name: Control, { checked, failed, lastFullPassAtMs }: AuditState): ControlOutcome {
  const wrong = failed[name] ?? 0
  return { name, passed: wrong === 0 && lastFullPassAtMs !== null, checked: checked[name] ?? 0, failed: wrong }
}

async function stateAfter(pass: () => ReturnType<SpotPass>): Promise<AuditState> {
  try {
    const { checked, failed, beganAtMs, endedAtMs } = await pass()
    return { checked, failed, asOfMs: beganAtMs, lastFullPassAtMs: endedAtMs }
  } catch (cause) {
    throw new AssertionUnavailable('The ledger could not be checked.', { cause })
  }
}

const SIZE = `
SELECT greatest((SELECT count(*) FROM (SELECT FROM chain_entries LIMIT $1) entries)
                + (SELECT count(*) FROM (SELECT FROM nft_events LIMIT $1) events),
                (SELECT count(*) FROM (SELECT FROM transactions LIMIT $1) entered)) >= $1::bigint AS large`

/** A large ledger stays large, because entries are never removed. */
function createSizeCheck(pool: QueryPool, largeFrom: number): () => Promise<boolean> {
  let large = false
  return async () => {
    if (large) return true
    const [row] = await pool.run((sql) => prepared<{ large: boolean }>(sql, SIZE, [largeFrom]))
    large = row?.large === true
    return large
  }
}

interface AuditorStateRow {
  readonly document: string | null
  readonly found: Readonly<Record<string, number>> | null
}

/** Reads the auditor's progress and findings in one statement, so that they are consistent. */
async function readAuditorState(pool: QueryPool, subjects: readonly Subject[], nowMs: number): Promise<AuditState> {
  const [row] = await pool.run(
    (sql) => sql<AuditorStateRow[]>`
      SELECT (SELECT document FROM audit_progress) AS document,
             (SELECT json_object_agg(subject, count) FROM (
                SELECT subject, count(*) AS count FROM audit_findings GROUP BY subject) found) AS found`,
  )
  const document = row?.document ?? null
  const progress = document === null ? undefined : readProgress(document)
  const listed: Counts = row?.found ?? {}
  if (progress === undefined) return { checked: {}, failed: listed, asOfMs: nowMs, lastFullPassAtMs: null }
  return {
    checked: coveredBy(progress),
    failed: Object.fromEntries(subjects.map((subject) => [subject, failedIn(progress, listed, subject)])),
    asOfMs: asOfMsOf(progress, subjects) ?? progress.tail.mark.atMs,
    lastFullPassAtMs: progress.last?.completedAtMs ?? null,
  }
}
