/**
 * Checks the whole ledger in repeated passes, and follows new commits, within a share of one processor.
 *   A1. One auditor works at a time; others wait until it ends. Each continues from the progress of the one before.
 *   A2. A turn handles some pages of new commits (the tail) and of the pass. It is stored before the next turn begins.
 *   A3. It works for at most its share of the time. The work of a turn is its processor time plus its waits for PostgreSQL.
 *   A4. It writes only its own tables, and takes no lock that could block a commit.
 */
import { type Subject, SUBJECTS } from '../../runtime/audit/finding.ts'
import type { Clock, Timer } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { type AuditReads, AuditUnavailable, createAuditReads } from './audit-reads.ts'
import { conservationWalk } from './conservation.ts'
import { stepPass, WHOLE_PASS } from './pass.ts'
import {
  type AuditProgress,
  beginPass,
  failedIn,
  MAX_TOKENS,
  newProgress,
  notePass,
  noteSince,
  type TurnResult,
} from './progress.ts'
import { openProgressStore, type ProgressStore, type SavedProgress } from './progress-store.ts'
import { loadReceiptCheck } from './receipt-check.ts'
import { type FeedEnd, isTooMuch, lookAtWindow, nextWindow, readFeedEnd } from './tail.ts'
import type { Look } from './walk.ts'
import { checkTokens } from './walk-tokens.ts'

export interface AuditorOptions {
  readonly url: string
  readonly ledgerId: string
  readonly clock: Clock
  readonly log: Log
  readonly vault: RowVault
  /** Share of one processor, above 0 and at most 1. */
  readonly share: number
  /** Milliseconds worked so far. The default is A3. */
  readonly workedMs?: () => number
  readonly settings?: Partial<AuditorSettings>
}

/** Milliseconds. */
export interface AuditorSettings {
  /** From the end of a pass to the beginning of the next. */
  readonly betweenPassesMs: number
  /** Interval between checks of all value, and of changed supplies, if the share allows it. */
  readonly betweenMomentsMs: number
  /** Time of a turn for the tail, and for the pass. No page begins afterwards. */
  readonly workMs: number
  /** Pause without work. */
  readonly idleMs: number
  /** Interval between attempts to reach PostgreSQL, or to become the auditor. */
  readonly retryMs: number
}

export const AUDITOR_DEFAULTS: AuditorSettings = {
  betweenPassesMs: 5_000,
  betweenMomentsMs: 30_000,
  workMs: 100,
  idleMs: 1_000,
  retryMs: 5_000,
}

/** Inputs and results of a turn. */
interface Turn extends TurnResult {
  readonly look: Look
  readonly end: FeedEnd
  readonly busy: boolean
}

/** Times are milliseconds since 1970, by PostgreSQL's clock. */
export interface AuditMeasures {
  /** Findings that no later pass has cleared. */
  readonly failed: Readonly<Record<Subject, number>>
  /** null: there was no complete pass yet. */
  readonly passCompletedAtMs: number | null
  /** Every commit before this time is checked; null: unknown. */
  readonly checkedUntilMs: number | null
}

export class Auditor {
  private readonly options: AuditorOptions
  private readonly settings: AuditorSettings
  private readonly reads: AuditReads
  private readonly workedMs: () => number
  private stopping = false
  private wake: () => void = () => undefined
  private running: Promise<void> = Promise.resolve()
  private saved: SavedProgress | undefined
  private working = false

  constructor(options: AuditorOptions) {
    this.options = options
    this.settings = { ...AUDITOR_DEFAULTS, ...options.settings }
    this.reads = createAuditReads(options.url, 'ledger auditor reads', options.vault)
    this.workedMs = options.workedMs ?? workedByProcess
  }

  start(): void {
    this.running = this.run()
  }

  /** Aborts the current statement, which may take a minute, and stores the results so far. */
  async stop(): Promise<void> {
    this.stopping = true
    this.wake()
    await Promise.all([this.reads.close(), this.running])
  }

  /** False until the first save, while PostgreSQL is unavailable, and while another auditor works. */
  isWorking(): boolean {
    return this.working
  }

  /** Of the last save, also while PostgreSQL is unavailable. undefined: none was saved, or another auditor works. */
  measures(): AuditMeasures | undefined {
    if (this.saved === undefined) return undefined
    const { progress, listed } = this.saved
    const failed = Object.fromEntries(SUBJECTS.map((subject) => [subject, failedIn(progress, listed, subject)]))
    return {
      failed: failed as AuditMeasures['failed'],
      passCompletedAtMs: progress.last?.completedAtMs ?? null,
      checkedUntilMs: progress.tail.asOfMs,
    }
  }

  private async run(): Promise<void> {
    const { log } = this.options
    while (!this.stopping) {
      try {
        await this.runAlone()
      } catch (error) {
        if (!(error instanceof AuditUnavailable)) throw error
        if (!this.stopping) log.warn('audit_interrupted', { because: error.message })
      }
      await this.rest(this.settings.retryMs)
    }
  }

  /** A1. Returns if another auditor runs. */
  private async runAlone(): Promise<void> {
    const store = await openProgressStore(this.options.url, this.options.vault)
    if (store === undefined) {
      this.saved = undefined
      return
    }
    try {
      this.options.log.info('audit_begun')
      let progress = (await store.load()) ?? (await this.fresh())
      while (!this.stopping) progress = await this.turnAndRest(store, progress)
    } finally {
      this.working = false
      await store.close()
    }
  }

  private async fresh(): Promise<AuditProgress> {
    const { settled, nowMs } = await readFeedEnd(this.reads.query)
    return newProgress(settled, nowMs)
  }

  /** A2, A3. */
  private async turnAndRest(store: ProgressStore, before: AuditProgress): Promise<AuditProgress> {
    const { clock, share } = this.options
    const startedMs = clock.monotonic()
    const workedBeforeMs = this.workedMs()
    const turn = await this.turn(before)
    this.saved = await store.save(turn)
    this.working = true
    const { progress } = this.saved
    this.report(before, progress, turn)
    const dueMs = startedMs + (this.workedMs() - workedBeforeMs) / share
    await this.rest(turn.busy ? dueMs - clock.monotonic() : this.settings.idleMs)
    return progress
  }

  private async turn(before: AuditProgress): Promise<TurnResult & { readonly busy: boolean }> {
    const end = await readFeedEnd(this.reads.query)
    const receiptProblem = await loadReceiptCheck(this.reads.query, this.options.ledgerId)
    const look: Look = { ...this.reads, receiptProblem, countBelow: null }
    const progress = this.unlessRestored(before, end)
    let turn: Turn = { progress, findings: [], busy: false, look, end }
    for (const part of [this.followTail, this.lookAtValue, this.lookAtSupplies, this.walk])
      turn = await this.tried(part, turn)
    return turn
  }

  /** A part that fails, for example by a timeout, does not stop the others. */
  private async tried(part: (turn: Turn) => Promise<Turn>, turn: Turn): Promise<Turn> {
    if (this.stopping) return turn
    try {
      return await part(turn)
    } catch (error) {
      if (!(error instanceof AuditUnavailable)) throw error
      if (!this.stopping) this.options.log.warn('audit_step_failed', { part: part.name, because: error.message })
      return { ...turn, busy: true }
    }
  }

  /** A restored database numbers its transactions anew, so the audit begins anew. */
  private unlessRestored(progress: AuditProgress, { settled, nowMs }: FeedEnd): AuditProgress {
    if (BigInt(settled) >= BigInt(progress.tail.position)) return progress
    return this.anew(settled, nowMs, 'the database was restored')
  }

  /** Drops all progress: only a new pass can find something. */
  private anew(position: string, nowMs: number, because: string): AuditProgress {
    this.options.log.warn('audit_begins_anew', { because })
    return newProgress(position, nowMs)
  }

  private readonly followTail = (turn: Turn): Promise<Turn> => {
    const stands = (now: Turn, before: Turn): boolean => now.progress.tail.position === before.progress.tail.position
    return this.whileTimeLasts(turn, this.followWindow, stands)
  }

  private readonly followWindow = async (turn: Turn): Promise<Turn> => {
    const { look, end } = turn
    const { tail } = turn.progress
    const window = await nextWindow(look.query, tail.position, end.settled)
    const position = window?.until ?? tail.position
    const isMarked = BigInt(position) >= BigInt(tail.mark.position)
    const marked = isMarked
      ? { asOfMs: tail.mark.atMs, mark: { position: end.next, atMs: end.nowMs } }
      : { asOfMs: tail.asOfMs, mark: tail.mark }
    if (window === undefined || window.isEmpty) {
      return { ...turn, progress: { ...turn.progress, tail: { ...tail, ...marked, position } } }
    }
    if (await isTooMuch(look.query, window)) {
      const progress = this.anew(window.until, end.nowMs, 'so much was written at once')
      return { ...turn, progress, busy: true }
    }
    const seen = await lookAtWindow(look, window)
    const tokens = [...new Set([...tail.tokens, ...seen.tokens])].slice(0, MAX_TOKENS)
    return {
      ...turn,
      progress: noteSince({ ...turn.progress, tail: { ...tail, ...marked, position, tokens } }, seen.checked),
      findings: [...turn.findings, ...seen.findings],
      busy: turn.busy || Object.values(seen.checked).some((count) => count > 0),
    }
  }

  /** Checks the conservation of value from time to time, because it needs a consistent snapshot. */
  private readonly lookAtValue = async (turn: Turn): Promise<Turn> => {
    const { progress, look, end } = turn
    if (!this.isDue(progress.tail.momentAtMs, end)) return turn
    const { findings } = await conservationWalk.step(look, null)
    return {
      ...turn,
      progress: { ...progress, tail: { ...progress.tail, momentAtMs: end.nowMs } },
      findings: [...turn.findings, ...findings],
      busy: true,
    }
  }

  /** Checks tokens whose supply has changed, at the same interval. */
  private readonly lookAtSupplies = async (turn: Turn): Promise<Turn> => {
    const { progress, look, end } = turn
    const { suppliesAtMs, tokens } = progress.tail
    if (!this.isDue(suppliesAtMs, end) && tokens.length < MAX_TOKENS) return turn
    const findings = await checkTokens(look, tokens)
    return {
      ...turn,
      progress: { ...progress, tail: { ...progress.tail, suppliesAtMs: end.nowMs, tokens: [] } },
      findings: [...turn.findings, ...findings],
      busy: true,
    }
  }

  private isDue(lookedAtMs: number | null, { nowMs }: FeedEnd): boolean {
    return lookedAtMs === null || nowMs - lookedAtMs >= this.settings.betweenMomentsMs
  }

  private readonly walk = async (turn: Turn): Promise<Turn> => {
    const { end } = turn
    const { last } = turn.progress
    const isDue = last === null || end.nowMs - last.completedAtMs >= this.settings.betweenPassesMs
    const progress = turn.progress.pass === null && isDue ? beginPass(turn.progress, end.nowMs) : turn.progress
    if (progress.pass === null) return turn
    return this.whileTimeLasts({ ...turn, progress, busy: true }, walkPage, (walked) => walked.progress.pass === null)
  }

  /** Handles at least one page. If a later page fails, the pages before it count, and the next turn begins with it. */
  private async whileTimeLasts(
    before: Turn,
    page: (turn: Turn) => Promise<Turn>,
    isDone: (turn: Turn, before: Turn) => boolean,
  ): Promise<Turn> {
    const { clock } = this.options
    const untilMs = clock.monotonic() + this.settings.workMs
    let turn = before
    for (;;) {
      const next = await page(turn).catch((error: unknown) => {
        if (turn === before || !(error instanceof AuditUnavailable)) throw error
        return undefined
      })
      if (next === undefined) return { ...turn, busy: true }
      if (isDone(next, turn) || clock.monotonic() >= untilMs) return next
      turn = next
    }
  }

  private report(before: AuditProgress, { last }: AuditProgress, { findings }: TurnResult): void {
    const { log } = this.options
    const subjects = new Set(findings.map(({ subject }) => subject))
    for (const subject of subjects) {
      log.error('audit_found', { subject, count: findings.filter((finding) => finding.subject === subject).length })
    }
    if (last !== null && last.number !== before.last?.number) {
      log.info('audit_pass_complete', { duration_ms: last.completedAtMs - last.beganAtMs, ...last.checked })
    }
  }

  private async rest(durationMs: number): Promise<void> {
    if (this.stopping) return
    let timer: Timer | undefined
    await new Promise<void>((resolve) => {
      this.wake = resolve
      timer = this.options.clock.after(durationMs, resolve)
    })
    timer?.cancel()
  }
}

/** A3. Waiting for a busy processor does not count as work. */
function workedByProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + performance.eventLoopUtilization().idle
}

async function walkPage(turn: Turn): Promise<Turn> {
  const { pass } = turn.progress
  if (pass === null) return turn
  const { next, seen } = await stepPass(WHOLE_PASS, { ...turn.look, countBelow: pass.beganXid }, pass.place)
  const nowMs = next === null ? (await readFeedEnd(turn.look.query)).nowMs : turn.end.nowMs
  return {
    ...turn,
    progress: notePass(turn.progress, next, seen, nowMs),
    findings: [...turn.findings, ...seen.findings],
  }
}
