/** The proof of liabilities over a ledger in PostgreSQL: the part of `AssertionSource` that is about what is owed. */
import { availableParallelism } from 'node:os'
import { createBoundedCache } from '../../runtime/bounded-cache.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { type AssertionSource, AssertionUnavailable, type Liabilities } from '../../runtime/ports/assertion-source.ts'
import { createBegunLater } from '../audit/begun-later.ts'
import type { MasterKeys } from '../keys/master-key.ts'
import { codeOf } from '../postgres/failure.ts'
import { createQueryPool, type QueryPool } from '../postgres/query-pool.ts'
import { readProof } from './liability-proofs.ts'
import { startRunRemoval } from './liability-removal.ts'
import type { LiabilityOutcome, LiabilityTask } from './liability-run.ts'
import { findRun, type LiabilityRun, openDocument, readDocument, type RunDocument } from './liability-runs.ts'

export interface PostgresLiabilities extends Pick<AssertionSource, 'liabilities' | 'liabilityProof'> {
  readonly close: () => Promise<void>
}

export interface LiabilitiesOptions {
  readonly url: string
  /** What the ledger's rows are sealed under. */
  readonly masterKeys: MasterKeys
  /** 32 secret bytes under which runs and proofs are sealed, the same for the life of the ledger. */
  readonly key: Buffer
  readonly log: Log
  /** Does one run. Never rejects. */
  readonly run: (task: LiabilityTask) => Promise<LiabilityOutcome>
  readonly limits?: Partial<LiabilityLimits>
  /** Between two removals of what is old, milliseconds. */
  readonly removeEveryMs?: number
}

export type LiabilityLimits = Pick<
  LiabilityTask,
  'sharesEach' | 'maxRows' | 'capacityBytes' | 'maxReaders' | 'rowsAReader'
>

/** Each has a server process of PostgreSQL beside it. */
const MAX_READERS = 4
/**
 * Eight million balances take up to 1.4 GB of memory; that they can be read in the time of a snapshot is another question:
 * with encryption, two processors that do nothing else read some two to three million accounts in it, and four twice as many.
 * Proofs of a million accounts take some 110 MB of disk a run: of such a ledger 20 runs may come one right after the other,
 * and about 40 in a day.
 */
const LIMITS: LiabilityLimits = {
  sharesEach: 2,
  maxRows: 8_000_000,
  capacityBytes: 2_147_483_648,
  maxReaders: Math.min(MAX_READERS, availableParallelism()),
  rowsAReader: 5_000,
}
const STATEMENT_TIMEOUT_MS = 5_000
const POOL_SIZE = 2
/** Documents of runs, which every proof of a run needs. */
const KEPT_DOCUMENTS = 8

export function createLiabilities(options: LiabilitiesOptions): PostgresLiabilities {
  const { url, masterKeys, key, log, run } = options
  const task: LiabilityTask = { url, masterKeys, sealingKey: key, ...LIMITS, ...options.limits }
  const pool = createQueryPool({
    url,
    name: 'ledger liability proofs',
    size: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    readsOnly: true,
    settings: { default_transaction_read_only: 'on' },
    unavailable: (message, cause) => new AssertionUnavailable(message, cause),
  })
  const removal = startRunRemoval({
    url,
    everyMs: options.removeEveryMs,
    onFailed: (error) => log.warn('liability_removal_failed', { code: codeOf(error) }),
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
    liabilities: createBegunLater(async () => liabilitiesIn(await run(task), log)),
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
      await Promise.all([removal.close(), pool.close()])
    },
  }
}

async function openedDocument(pool: QueryPool, key: Buffer, runId: string): Promise<RunDocument | undefined> {
  const sealed = await pool.run((sql) => readDocument(sql, runId))
  return sealed === undefined ? undefined : openDocument(key, runId, sealed)
}

/** How many of the tokens that do not reconcile are named in the log. */
const NAMED_TOKENS = 10

function liabilitiesIn(outcome: LiabilityOutcome, log: Log): Liabilities {
  switch (outcome.kind) {
    case 'done':
      if (!outcome.fresh) log.info('liabilities_given_again', { asOfMs: outcome.liabilities.asOfMs })
      return outcome.liabilities
    case 'unreconciled': {
      const { tokenIds } = outcome
      log.error('liabilities_do_not_reconcile', {
        tokens: tokenIds.length,
        named: tokenIds.slice(0, NAMED_TOKENS).join(' '),
      })
      throw new AssertionUnavailable('What is owed does not add up to what there must be.')
    }
    case 'unreadable':
      log.error('liabilities_row_unreadable', { table: outcome.table })
      throw new AssertionUnavailable('What is owed cannot be read.')
    case 'failed':
      log.warn('liabilities_failed', { code: outcome.code })
      throw new AssertionUnavailable('What is owed could not be computed.')
  }
}
