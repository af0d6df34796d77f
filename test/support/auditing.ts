/** Auditors for tests: quick ones, whose log is kept. */
import { Auditor, type AuditorOptions } from '../../infra/audit/auditor.ts'
import type { AuditProgress } from '../../infra/audit/progress.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import type { Log, LogFields } from '../../runtime/ports/log.ts'
import type { AuditedLedger } from './audited-ledger.ts'
import { until } from './postgres/ledger-store-postgres.ts'

export interface Logged {
  readonly event: string
  readonly fields: LogFields
}

export interface AuditorUnderTest {
  readonly auditor: Auditor
  readonly logged: readonly Logged[]
  /** How often the event was logged. */
  readonly count: (event: string) => number
}

export const NEVER_MS = 1_000_000_000

/** Started. It takes all the time that it can get, a page a turn, and rests as little as it can. */
export function startAuditor(
  { url, ledgerId, vault }: Pick<AuditedLedger, 'url' | 'ledgerId' | 'vault'>,
  { settings, ...options }: Partial<AuditorOptions> = {},
): AuditorUnderTest {
  const logged: Logged[] = []
  const note = (event: string, fields: LogFields = {}): void => void logged.push({ event, fields })
  const log: Log = { info: note, warn: note, error: note }
  const auditor = new Auditor({
    url,
    ledgerId,
    vault,
    clock: createSystemClock(),
    log,
    share: 1,
    settings: { betweenPassesMs: 0, betweenMomentsMs: 0, workMs: 0, idleMs: 5, retryMs: 20, ...settings },
    ...options,
  })
  auditor.start()
  const count = (wanted: string): number => logged.filter(({ event }) => event === wanted).length
  return { auditor, logged, count }
}

export async function progressOf({ sql }: Pick<AuditedLedger, 'sql'>): Promise<AuditProgress | undefined> {
  const [row] = await sql<{ document: string }[]>`SELECT document FROM audit_progress`
  return row === undefined ? undefined : (JSON.parse(row.document) as AuditProgress)
}

export interface Found {
  readonly subject: string
  readonly place: string
}

export async function findingsOf({ sql }: Pick<AuditedLedger, 'sql'>): Promise<readonly Found[]> {
  const rows = await sql<Found[]>`SELECT subject, place FROM audit_findings ORDER BY subject, place`
  return rows.map(({ subject, place }) => ({ subject, place }))
}

/** Waits for so many passes that begin and end from now on. */
export async function untilPasses({ count }: AuditorUnderTest, passes: number): Promise<void> {
  const soFar = count('audit_pass_complete')
  // The one that is under way began before.
  await until(() => count('audit_pass_complete') >= soFar + passes + 1)
}

/** Waits until the auditor has looked at everything that was committed before. */
export async function untilSeen(ledger: Pick<AuditedLedger, 'sql'>): Promise<void> {
  const [row] = await ledger.sql<{ now: Date }[]>`SELECT clock_timestamp() AS now`
  const nowMs = row?.now.getTime() ?? 0
  await until(async () => {
    const { tail } = (await progressOf(ledger)) ?? {}
    return tail !== undefined && (tail.asOfMs ?? 0) > nowMs
  })
}
