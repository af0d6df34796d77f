/**
 * A complete pass on request, for a small ledger. It covers all commits before its beginning, and some later ones.
 */
import { addCounts, type Counts, type Finding, SUBJECTS } from '../../runtime/audit/finding.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { createAuditReads } from './audit-reads.ts'
import { type PassKind, type PassPlace, startOf, stepPass, WALKS } from './pass.ts'
import { loadReceiptCheck } from './receipt-check.ts'
import { readFeedEnd } from './tail.ts'

export interface SpotRequest {
  readonly url: string
  readonly ledgerId: string
  readonly kind: PassKind
}

/** Plain data, so that it can be sent between threads. */
export interface SpotResult {
  readonly checked: Counts
  readonly failed: Counts
  /** By the database's clock. */
  readonly beganAtMs: number
  readonly endedAtMs: number
}

/** Throws AuditUnavailable. */
export type SpotPass = (request: SpotRequest) => Promise<SpotResult>

/** Distinct places per subject that are remembered. Beyond, every finding counts. */
const MAX_PLACES = 10_000

/** Observes a pass. */
export interface SpotWatch {
  readonly found?: (finding: Finding) => void
  /** Called after each page with all that was checked so far. */
  readonly checked?: (counts: Counts) => void
}

export async function runSpotPass(
  { url, ledgerId, kind }: SpotRequest,
  vault: RowVault,
  watch: SpotWatch = {},
): Promise<SpotResult> {
  const reads = createAuditReads(url, `ledger audit ${kind}`, vault)
  try {
    const began = await readFeedEnd(reads.query)
    const tally = createTally()
    let checked: Counts = {}
    let place: PassPlace | null = startOf(WALKS[kind])
    while (place !== null) {
      const receiptProblem = await loadReceiptCheck(reads.query, ledgerId)
      const look = { ...reads, receiptProblem, countBelow: null }
      const { next, seen }: Awaited<ReturnType<typeof stepPass>> = await stepPass(WALKS[kind], look, place)
      checked = addCounts(checked, seen.checked)
      watch.checked?.(checked)
      for (const finding of seen.findings) {
        tally.add(finding)
        watch.found?.(finding)
      }
      place = next
    }
    const ended = await readFeedEnd(reads.query)
    return { checked, failed: tally.counts(), beganAtMs: began.nowMs, endedAtMs: ended.nowMs }
  } finally {
    // The result does not depend on the end of the connections.
    await reads.close().catch(() => undefined)
  }
}

/** Counts places, not findings. */
function createTally() {
  const places = new Map(SUBJECTS.map((subject) => [subject, { named: new Set<string>(), beyond: 0 }]))
  return {
    add: ({ subject, place }: Finding): void => {
      const found = places.get(subject)
      if (found === undefined || found.named.has(place)) return
      if (found.named.size < MAX_PLACES) found.named.add(place)
      else found.beyond += 1
    },
    counts: (): Counts =>
      Object.fromEntries([...places].map(([subject, { named, beyond }]) => [subject, named.size + beyond])),
  }
}
