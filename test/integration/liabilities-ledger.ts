/** A ledger for tests of what it owes: rows as commits leave them, written without the ledger. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import {
  createLiabilities,
  type LiabilityLimits,
  type PostgresLiabilities,
} from '../../infra/assertions/liabilities-postgres.ts'
import { type LiabilityOutcome, type LiabilityTask, runLiabilities } from '../../infra/assertions/liability-run.ts'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { problemOfInclusion, rootOfTotals } from '../../actors/liabilities/inclusion.ts'
import type { LiabilityProof } from '../../runtime/ports/assertion-source.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

export interface LiabilitiesLedger {
  readonly database: LedgerDatabase
  readonly sql: postgres.Sql
  /** `level event`, as they were logged. */
  readonly logged: string[]
  /** How often a run began, over all sources. */
  readonly begun: () => number
  readonly open: (options?: OpenOptions) => PostgresLiabilities
  readonly balance: (accountId: string, tokenId: string, balance: string) => Promise<void>
  readonly boundary: (tokenId: string, credited: string, debited?: string) => Promise<void>
  readonly token: (tokenId: string, totalSupply: string, status?: string) => Promise<void>
  readonly hold: (accountId: string, tokenId: string, value: string) => Promise<void>
  /** A message that the receiver has not taken in. `receiver`: the key of an actor. */
  readonly message: (
    receiver: string,
    ...carries: readonly (readonly [tokenId: string, quantity: string])[]
  ) => Promise<void>
  /** Everything that was sent so far has been taken in. */
  readonly deliverAll: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface OpenOptions {
  readonly limits?: Partial<LiabilityLimits>
  readonly run?: (task: LiabilityTask) => Promise<LiabilityOutcome>
}

const SOURCE_SHARD = 3
const TARGET_SHARD = 5

export async function createLiabilitiesLedger(): Promise<LiabilitiesLedger> {
  const database = await createLedgerDatabase()
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const masterKey = readMasterKey(randomBytes(32).toString('base64url'))
  const opened: PostgresLiabilities[] = []
  const logged: string[] = []
  const write =
    (level: string) =>
    (event: string): void =>
      void logged.push(`${level} ${event}`)
  const log: Log = { info: write('info'), warn: write('warn'), error: write('error') }
  let begun = 0
  let messages = 0
  let holds = 0
  return {
    database,
    sql,
    logged,
    begun: () => begun,
    open: ({ limits = {}, run = runLiabilities } = {}) => {
      const source = createLiabilities({
        url: database.url,
        masterKey,
        log,
        limits,
        run: (task) => {
          begun += 1
          return run(task)
        },
      })
      opened.push(source)
      return source
    },
    balance: async (accountId, tokenId, balance) => {
      await sql`
        INSERT INTO balances (shard_id, account_id, token_id, balance, reserved, incoming, updated_at)
        VALUES (1, ${accountId}, ${tokenId}, ${balance}, 0, 0, now())`
    },
    boundary: async (tokenId, credited, debited = '0') => {
      await sql`INSERT INTO boundary_totals VALUES (${randomBytes(4).toString('hex')}, ${tokenId}, ${credited}, ${debited})`
    },
    token: async (tokenId, totalSupply, status = 'active') => {
      const document = JSON.stringify({ tokenId, totalSupply, status })
      await sql`
        INSERT INTO actors (shard_id, kind, actor_id, version, status, document, created_at)
        VALUES (2, 'token', ${tokenId.toLowerCase()}, 1, ${status}, ${document}, now())`
    },
    hold: async (accountId, tokenId, value) => {
      holds += 1
      await sql`
        INSERT INTO holds (shard_id, account_id, hold_id, document, token_id, value)
        VALUES (1, ${accountId}, ${`hold ${holds}`}, '{}', ${tokenId}, ${value})`
    },
    message: async (receiver, ...carries) => {
      messages += 1
      await sql`
        INSERT INTO outbox (shard_id, target_shard, number, receiver, message, carries, written_at)
        VALUES (${SOURCE_SHARD}, ${TARGET_SHARD}, ${messages}, ${receiver}, '{}', ${JSON.stringify(carries)}, now())`
      await sql`
        INSERT INTO outbox_channels VALUES (${SOURCE_SHARD}, ${TARGET_SHARD}, ${messages})
        ON CONFLICT (shard_id, target_shard) DO UPDATE SET sent = excluded.sent`
    },
    deliverAll: async () => {
      await sql`
        INSERT INTO inbox_marks VALUES (${TARGET_SHARD}, ${SOURCE_SHARD}, ${messages})
        ON CONFLICT (shard_id, source_shard) DO UPDATE SET mark = excluded.mark`
    },
    close: async () => {
      for (const source of opened) await source.close()
      await sql.end()
      await database.drop()
    },
  }
}

/** What an account is proved to be owed, by token. Throws when the proof does not hold. */
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
