/**
 * What is asserted of provenance and compliance (D12).
 *   F1. A small ledger is walked when somebody asks, whole, by a thread beside the requests. A large one has the auditor:
 *       the answer is its last complete pass with all that was written since, and says as of when.
 *   F2. Nobody's word is taken for what has not been looked at: without a complete pass in the last 24 hours the answer
 *       is no.
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
import { type AuditProgress, asOfMsOf, coveredBy, readProgress } from './progress.ts'
import type { SpotPass } from './spot-pass.ts'
import { prepared } from '../postgres/connection/prepared.ts'

export interface AuditFindingsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly clock: Pick<Clock, 'now'>
  /** At least one. */
  readonly frameworks: readonly Framework[]
  /** How a pass is made at once. */
  readonly spotPass: SpotPass
  /** From so many entries on the auditor's word is given. */
  readonly largeFrom?: number
}

export interface AuditFindings extends Pick<AssertionSource, 'provenance' | 'compliance'> {
  readonly close: () => Promise<void>
}

/** D12. */
const LARGE_FROM = 100_000
const LONGEST_WITHOUT_PASS_MS = 24 * 3_600_000
const STATEMENT_TIMEOUT_MS = 5_000

/** What is known, wherever it comes from. */
interface Known {
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
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: READ_SETTINGS,
    unavailable: (message, cause) => new AssertionUnavailable(message, cause),
  })
  const { spotPass } = options
  const isLarge = createSizeCheck(pool, options.largeFrom ?? LARGE_FROM)
  const isFresh = ({ lastFullPassAtMs }: Known): boolean =>
    lastFullPassAtMs !== null && clock.now() - lastFullPassAtMs <= LONGEST_WITHOUT_PASS_MS
  const known = (kind: PassKind, subjects: readonly Subject[]): (() => Promise<Known>) =>
    createBegunLater(async () => {
      if (await isLarge()) return readKnown(pool, subjects, clock.now())
      return atOnce(() => spotPass({ url: options.url, ledgerId: options.ledgerId, kind }))
    })
  const provenance = known('provenance', ['provenance'])
  const compliance = known('compliance', CONTROLS)
  return {
    provenance: async () => provenanceOf(await provenance(), isFresh),
    compliance: async () => complianceOf(await compliance(), isFresh, frameworks),
    close: pool.close,
  }
}

function provenanceOf(known: Known, isFresh: (known: Known) => boolean): ProvenanceFindings {
  const { checked, failed, asOfMs, lastFullPassAtMs } = known
  return {
    assetsVerified: checked.provenance ?? 0,
    provenanceValid: isFresh(known) && (failed.provenance ?? 0) === 0,
    asOfMs,
    lastFullPassAtMs,
  }
}

function complianceOf(
  known: Known,
  isFresh: (known: Known) => boolean,
  frameworks: readonly Framework[],
): ComplianceFindings {
  const { asOfMs, lastFullPassAtMs } = known
  const asked = new Set(frameworks.flatMap((framework) => framework.controls))
  const controls = CONTROLS.filter((control) => asked.has(control)).map((control) => outcomeOf(control, known))
  return {
    compliant: isFresh(known) && controls.length > 0 && controls.every(({ passed }) => passed),
    frameworks: frameworks.map(({ name }) => name),
    controls,
    asOfMs,
    lastFullPassAtMs,
  }
}

function outcomeOf(name: Control, { checked, failed, lastFullPassAtMs }: Known): ControlOutcome {
  const wrong = failed[name] ?? 0
  return { name, passed: wrong === 0 && lastFullPassAtMs !== null, checked: checked[name] ?? 0, failed: wrong }
}

async function atOnce(pass: () => ReturnType<SpotPass>): Promise<Known> {
  try {
    const { checked, failed, beganAtMs, endedAtMs } = await pass()
    return { checked, failed, asOfMs: beganAtMs, lastFullPassAtMs: endedAtMs }
  } catch (cause) {
    throw new AssertionUnavailable('The ledger could not be walked.', { cause })
  }
}

const SIZE = `
SELECT greatest((SELECT count(*) FROM (SELECT FROM chain_entries LIMIT $1) entries)
                + (SELECT count(*) FROM (SELECT FROM nft_events LIMIT $1) events),
                (SELECT count(*) FROM (SELECT FROM transactions LIMIT $1) entered)) >= $1::bigint AS large`

/** What was large stays so: nothing is ever taken out of a ledger. */
function createSizeCheck(pool: QueryPool, largeFrom: number): () => Promise<boolean> {
  let large = false
  return async () => {
    if (large) return true
    const [row] = await pool.run((sql) => prepared<{ large: boolean }>(sql, SIZE, [largeFrom]))
    large = row?.large === true
    return large
  }
}

interface KnownRow {
  readonly document: string | null
  readonly found: Readonly<Record<string, number>> | null
}

/** One statement: how far the auditor is, and what it has found so far. */
async function readKnown(pool: QueryPool, subjects: readonly Subject[], nowMs: number): Promise<Known> {
  const [row] = await pool.run(
    (sql) => sql<KnownRow[]>`
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

function failedIn({ last, pass }: AuditProgress, listed: Counts, subject: Subject): number {
  return (listed[subject] ?? 0) + (last?.unlisted[subject] ?? 0) + (pass?.unlisted[subject] ?? 0)
}
