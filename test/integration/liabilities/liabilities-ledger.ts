/** A database with the rows of a ledger for tests of liabilities. No ledger runs. */
import postgres from 'postgres'
import {
  createLiabilities,
  type LiabilityLimits,
  type PostgresLiabilities,
} from '../../../infra/liabilities/liabilities-postgres.ts'
import { type LiabilityOutcome, type LiabilityTask, runLiabilities } from '../../../infra/liabilities/liability-run.ts'
import { problemOfInclusion, rootOfTotals } from '../../../runtime/liabilities/inclusion.ts'
import type { LiabilityProof } from '../../../runtime/ports/assertion-source.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import {
  createLedgerDatabase,
  type LedgerDatabase,
  secretsOf,
  TEST_MASTER_KEYS,
} from '../../support/postgres/ledger-database.ts'
import { createOwedRows, type OwedRows } from './liabilities-rows.ts'

export interface LiabilitiesLedger extends OwedRows {
  readonly database: LedgerDatabase
  readonly sql: postgres.Sql
  readonly vault: RowVault
  /** Logged events with their level, as `warn liabilities_failed`. */
  readonly logged: string[]
  /** The number of runs that began, over all sources. */
  readonly begun: () => number
  readonly open: (options?: OpenOptions) => PostgresLiabilities
  readonly close: () => Promise<void>
}

export interface OpenOptions {
  readonly removeEveryMs?: number
  readonly estimateEveryMs?: number
  readonly limits?: Partial<LiabilityLimits>
  readonly run?: (task: LiabilityTask) => Promise<LiabilityOutcome>
}

export async function createLiabilitiesLedger(): Promise<LiabilitiesLedger> {
  const database = await createLedgerDatabase()
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const { vault, derive } = await secretsOf(database.url)
  const opened: PostgresLiabilities[] = []
  const logged: string[] = []
  const write =
    (level: string) =>
    (event: string): void =>
      void logged.push(`${level} ${event}`)
  const log: Log = { info: write('info'), warn: write('warn'), error: write('error') }
  let begun = 0
  return {
    ...(await createOwedRows(sql, vault)),
    database,
    sql,
    vault,
    logged,
    begun: () => begun,
    open: ({ limits = {}, run = runLiabilities, ...options } = {}) => {
      const source = createLiabilities({
        url: database.url,
        readingKeys: TEST_MASTER_KEYS,
        key: derive('liability-proofs'),
        log,
        limits,
        ...options,
        run: (task) => {
          begun += 1
          return run(task)
        },
      })
      opened.push(source)
      return source
    },
    close: async () => {
      for (const source of opened) await source.close()
      await sql.end()
      await database.drop()
    },
  }
}

/** The proved balances of an account, by token. Throws if the proof does not hold. */
export async function provenBy(source: PostgresLiabilities, accountId: string): Promise<Record<string, string>> {
  const proof = await source.liabilityProof({ accountId, merkleRoot: null, after: null, limit: 1_000 })
  if (proof === undefined) throw new Error('there is no proof')
  return provenIn(accountId, proof)
}

export function provenIn(accountId: string, { liabilities, totals, proofs }: LiabilityProof): Record<string, string> {
  if (rootOfTotals(totals) !== liabilities.merkleRoot) throw new Error('the totals do not make the root')
  const proven: Record<string, string> = {}
  for (const proof of proofs) {
    const problem = problemOfInclusion(accountId, proof, totals)
    if (problem !== undefined) throw new Error(`${proof.tokenId}: ${problem}`)
    proven[proof.tokenId] = proof.amount
  }
  return proven
}
