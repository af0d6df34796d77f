/** Proofs of liabilities of a ledger in PostgreSQL: the liabilities part of `AssertionSource`. */
import { availableParallelism } from 'node:os'
import type { ReadinessWarning } from '../../api/http/dependencies.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { type AssertionSource, AssertionUnavailable, type Liabilities } from '../../runtime/ports/assertion-source.ts'
import { createBegunLater } from '../audit/begun-later.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { codeOf } from '../postgres/connection/failure.ts'
import { createQueryPool, type QueryPool } from '../postgres/connection/query-pool.ts'
import { estimateBalances, startLimitWatch } from './liability-limit-watch.ts'
import { readProof } from './liability-proofs.ts'
import { startRunRemoval } from './liability-removal.ts'
import { failureOf } from './liability-readers.ts'
import type { LiabilityOutcome, LiabilityTask } from './liability-run.ts'
import { findRun, type LiabilityRun, openDocument, readDocument, type RunDocument } from './liability-runs.ts'
import { BALANCES_PER_READER, SNAPSHOT_TIMEOUT_MS } from './liability-session.ts'

export interface PostgresLiabilities extends Pick<AssertionSource, 'liabilities' | 'liabilityProof'> {
  /** Limits that the ledger approaches, from memory. */
  readonly warnings: () => readonly ReadinessWarning[]
  readonly close: () => Promise<void>
}

export interface LiabilitiesOptions {
  readonly url: string
  /** Master keys that open the ledger's rows. */
  readonly readingKeys: KeyRing
  /** 32 secret bytes that seal runs and proofs, constant for the life of the ledger. */
  readonly key: Buffer
  readonly log: Log
  /** Performs one run. A rejection is a failed run. */
  readonly run: (task: LiabilityTask) => Promise<LiabilityOutcome>
  readonly limits?: Partial<LiabilityLimits>
  /** Interval between removals of old runs, milliseconds. */
  readonly removeEveryMs?: number
  /** Interval between estimates of the number of balances, milliseconds. */
  readonly estimateEveryMs?: number
}

export type LiabilityLimits = Pick<
  LiabilityTask,
  'sharesEach' | 'maxRows' | 'capacityBytes' | 'maxReaders' | 'rowsAReader' | 'snapshotTimeoutMs'
>

/** Each reader also occupies a server process of PostgreSQL. */
const MAX_READERS = 4
const READERS = Math.min(MAX_READERS, availableParallelism())
/**
 * Four million balances take up to 700 MB of memory. A run over a million accounts takes about 110 MB of disk: such a
 * ledger has room for about 20 runs a day.
 */
const LIMITS: LiabilityLimits = {
  sharesEach: 2,
  maxRows: BALANCES_PER_READER * READERS,
  capacityBytes: 2_147_483_648,
  maxReaders: READERS,
  rowsAReader: 5_000,
  snapshotTimeoutMs: SNAPSHOT_TIMEOUT_MS,
}
const POOL_SIZE = 2
/** Cached documents of runs. Every proof needs the document of its run. */
const KEPT_DOCUMENTS = 8

export function createLiabilities(options: LiabilitiesOptions): PostgresLiabilities {
  const { url, readingKeys, key, log, run } = options
  const task: LiabilityTask = { url, readingKeys, sealingKey: key, ...LIMITS, ...options.limits }
  const pool = createQueryPool({
    url,
    name: 'ledger liability proofs',
    size: POOL_SIZE,
    readsOnly: true,
    settings: { default_transaction_read_only: 'on' },
    unavailable: (message, cause) => new AssertionUnavailable(message, cause),
  })
  const removal = startRunRemoval({
    url,
    everyMs: options.removeEveryMs,
    onFailed: (error) => log.warn('liability_removal_failed', { code: codeOf(error) }),
  })
  const watch = startLimitWatch({
    maxBalances: task.maxRows,
    snapshotTimeoutMs: task.snapshotTimeoutMs,
    estimate: () => pool.run(estimateBalances),
    log,
    everyMs: options.estimateEveryMs,
  })
  const documents = createBoundedCache<string, RunDocument>(KEPT_DOCUMENTS)

  async function findLiabilityRun(merkleRoot: string | null): Promise<LiabilityRun | undefined> {
    const row = await pool.run((sql) => findRun(sql, merkleRoot))
    if (row === undefined) return undefined
    const document = documents.get(row.run_id) ?? (await openedDocument(pool, key, row.run_id))
    if (document === undefined) return undefined
    documents.set(row.run_id, document)
    return { runId: row.run_id, asOfMs: row.as_of.getTime(), merkleRoot: row.merkle_root.toString('hex'), document }
  }

  return {
    liabilities: createBegunLater(async () => {
      const outcome = await run(task).catch(failureOf)
      const snapshotMs = snapshotMsOf(outcome)
      if (snapshotMs !== null) watch.recordSnapshot(snapshotMs)
      return liabilitiesIn(outcome, log)
    }),
    warnings: watch.warnings,
    liabilityProof: async (question) => {
      try {
        const found = await findLiabilityRun(question.merkleRoot)
        return found === undefined ? undefined : await readProof(pool, key, found, question)
      } catch (cause) {
        if (cause instanceof AssertionUnavailable) throw cause
        log.error('liability_proof_unreadable', { failure: cause instanceof Error ? cause.name : 'unknown' })
        throw new AssertionUnavailable('A proof could not be read.', { cause })
      }
    },
    close: async () => {
      await Promise.all([removal.close(), pool.close(), watch.close()])
    },
  }
}

async function openedDocument(pool: QueryPool, key: Buffer, runId: string): Promise<RunDocument | undefined> {
  const sealed = await pool.run((sql) => readDocument(sql, runId))
  return sealed === undefined ? undefined : openDocument(key, runId, sealed)
}

/** null: unknown. */
function snapshotMsOf(outcome: LiabilityOutcome): number | null {
  if (outcome.kind === 'done') return outcome.snapshotMs
  return outcome.kind === 'exceeded' && outcome.limit.kind === 'time' ? outcome.limit.limitMs : null
}

/** Tokens named in the log when they do not reconcile. */
const NAMED_TOKENS = 10

function liabilitiesIn(outcome: LiabilityOutcome, log: Log): Liabilities {
  switch (outcome.kind) {
    case 'done':
      if (outcome.snapshotMs === null) log.info('liabilities_given_again', { asOfMs: outcome.liabilities.asOfMs })
      return outcome.liabilities
    case 'unreconciled': {
      const { tokenIds } = outcome
      log.error('liabilities_do_not_reconcile', {
        tokens: tokenIds.length,
        named: tokenIds.slice(0, NAMED_TOKENS).join(' '),
      })
      throw new AssertionUnavailable('The liabilities do not match the token supplies.')
    }
    case 'exceeded':
      log.error('liability_limit_exceeded', { ...outcome.limit })
      throw new AssertionUnavailable('The ledger is too large for a proof of liabilities.', { exceeded: outcome.limit })
    case 'unreadable':
      log.error('liabilities_row_unreadable', { table: outcome.table })
      throw new AssertionUnavailable('The liabilities cannot be read.')
    case 'failed':
      log.warn('liabilities_failed', { code: outcome.code })
      throw new AssertionUnavailable('The liabilities could not be computed.')
  }
}
