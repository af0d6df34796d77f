/**
 * Warns before a proof of liabilities reaches a limit: by the number of balances, and by the time of the last snapshot.
 * The number is an estimate from PostgreSQL's statistics. Its cost does not depend on the number of balances.
 */
import type { ReadinessWarning } from '../../api/http/dependencies.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Sql } from '../postgres/connection/connection.ts'

export interface LimitWatchOptions {
  readonly maxBalances: number
  readonly snapshotTimeoutMs: number
  /** Rejects while PostgreSQL is unavailable: the last estimate remains. */
  readonly estimate: () => Promise<number>
  readonly log: Log
  /** Interval between estimates, milliseconds. */
  readonly everyMs?: number | undefined
}

export interface LimitWatch {
  readonly warnings: () => readonly ReadinessWarning[]
  /** Duration of this process's latest run; the limit itself if the run exceeded it. */
  readonly recordSnapshot: (ms: number) => void
  readonly close: () => Promise<void>
}

const EVERY_MS = 60_000
const WARN_FROM = 0.8

/** PostgreSQL counts live rows since its last crash; `reltuples` survives a crash and is as old as the last VACUUM. */
export async function estimateBalances(sql: Sql): Promise<number> {
  const [row] = await sql<{ balances: number }[]>`
    SELECT greatest(reltuples, pg_stat_get_live_tuples(oid))::float8 AS balances
      FROM pg_class WHERE oid = 'balances'::regclass`
  return row?.balances ?? 0
}

export function startLimitWatch(options: LimitWatchOptions): LimitWatch {
  const { maxBalances, snapshotTimeoutMs, estimate, log, everyMs = EVERY_MS } = options
  let [balances, snapshotMs] = [0, 0]
  let underWay: Promise<void> | undefined
  const logged = new Set<string>()

  function logOnce(event: string, isNear: boolean, fields: Record<string, number>): void {
    if (isNear && !logged.has(event)) log.warn(event, fields)
    if (isNear) logged.add(event)
    else logged.delete(event)
  }

  async function look(): Promise<void> {
    balances = await estimate().catch(() => balances)
    underWay = undefined
    logOnce('liability_balance_limit_approached', isNear(balances, maxBalances), { balances, maxBalances })
  }

  const start = (): void => void (underWay ??= look())
  const timer = setInterval(start, everyMs)
  timer.unref()
  start()
  return {
    warnings: () => [
      ...(isNear(balances, maxBalances) ? [balanceWarning(balances, maxBalances)] : []),
      ...(isNear(snapshotMs, snapshotTimeoutMs) ? [timeWarning(snapshotTimeoutMs)] : []),
    ],
    recordSnapshot: (ms) => {
      snapshotMs = ms
      logOnce('liability_time_limit_approached', isNear(ms, snapshotTimeoutMs), { snapshotMs, snapshotTimeoutMs })
    },
    close: async () => {
      clearInterval(timer)
      await underWay
    },
  }
}

function isNear(value: number, limit: number): boolean {
  return value > WARN_FROM * limit
}

/** `/readyz` is public: the warning names the limit but not the number of balances, which only the log has. */
function balanceWarning(balances: number, maxBalances: number): ReadinessWarning {
  const limit = `${maxBalances.toLocaleString('en')} balances`
  const detail =
    balances > maxBalances
      ? `This edge makes proofs of liabilities for at most ${limit}. The ledger has about that many or more.`
      : `This edge makes proofs of liabilities for at most ${limit}. The ledger has more than 80 % of that.`
  return { code: 'liability_balance_limit', detail }
}

function timeWarning(snapshotTimeoutMs: number): ReadinessWarning {
  const limit = `${snapshotTimeoutMs / 1_000} s`
  const detail = `The snapshot of a proof of liabilities may take at most ${limit}. The last one on this edge took more than 80 % of that.`
  return { code: 'liability_time_limit', detail }
}
