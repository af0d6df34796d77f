/** `ledger verify --checkpoint FILE`: whether the file is the ledger's, and whether the ledger still stands where it says. */
import { resolve } from 'node:path'
import type postgres from 'postgres'
import type { AssertionKey } from '../../api/assertion.ts'
import { whatWentBack } from '../audit/checkpoint-accounts.ts'
import { problemsOfChain, recompute } from '../audit/checkpoint-check.ts'
import { type CheckpointFile, CheckpointFileBroken, pointsOf, readCheckpointFile } from '../audit/checkpoint-file.ts'
import { allCheckpoints, CheckpointUnreadable } from '../audit/checkpoint-rows.ts'
import { problemOfSigned } from '../audit/checkpoint-statement.ts'
import { checkpointKeys } from '../audit/checkpoint-sums.ts'
import { type LedgerSecrets, openLedgerSecrets, openMasterKeys } from '../main/ledger-secrets.ts'
import { readLedgerAt, type LedgerRecord } from '../postgres/migrate.ts'
import { createServiceKeys } from '../postgres/service-keys-postgres.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { onConnection } from './checkpoint.ts'
import { CommandFailed, EXIT_FAILED, EXIT_OK, type CommandIo } from './command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './configured.ts'
import type { ReceiptKeys } from './verify-receipt.ts'

/** Accounts that one statement looks for. */
const AT_ONCE = 1_000
const PROGRESS_ACCOUNTS = 100_000
const PROGRESS_ENTRIES = 1_000_000

/** Without the ledger: `jwks` is all that is known of it. */
export async function verifyCheckpointOffline(name: string, jwks: ReceiptKeys, io: CommandIo): Promise<number> {
  return (await readSigned(name, jwks.keys, jwks.ledgerId, io)) === undefined ? EXIT_FAILED : EXIT_OK
}

/** `jwks`: undefined to take the keys that the master key opens. */
export async function verifyCheckpoint(name: string, jwks: ReceiptKeys | undefined, io: CommandIo): Promise<number> {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  const masterKeys = await openMasterKeys(configuration)
  return withDatabase(configuration, io, async (url) => {
    const ledger = await readLedgerAt(url)
    if (ledger === undefined) throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
    if (jwks?.ledgerId !== undefined && jwks.ledgerId !== ledger.ledgerId) {
      throw new CommandFailed('the JWKS is of another ledger than the database')
    }
    const secrets = openLedgerSecrets(masterKeys, ledger)
    const keys = jwks?.keys ?? (await keysOf(url, secrets))
    const file = await readSigned(name, keys, ledger.ledgerId, io)
    if (file === undefined) return EXIT_FAILED
    const good = await onConnection(url, async (sql) => {
      const accounts = await checkAccounts(sql, secrets, resolve(io.cwd, name), file, io)
      return (await checkChain(sql, { ledger, secrets, keys }, file, io)) && accounts
    })
    return good ? EXIT_OK : EXIT_FAILED
  })
}

/** Those whose sealed private part is theirs: nobody who lacks the master key can have made others. */
async function keysOf(url: string, { serviceKeys: sealing }: LedgerSecrets): Promise<readonly AssertionKey[]> {
  const keys = await createServiceKeys({ url, sealing, clock: createSystemClock() })
  await keys.close()
  return keys.published()
}

/** Undefined when the file is not to be believed; it has been said why. */
async function readSigned(
  name: string,
  keys: readonly AssertionKey[],
  ledgerId: string | undefined,
  io: CommandIo,
): Promise<CheckpointFile | undefined> {
  try {
    const file = await readCheckpointFile(resolve(io.cwd, name))
    const problem = problemOfSigned(file.statement, file.signed, keys, ledgerId)
    if (problem === undefined) {
      io.out(`ok: checkpoint of ${file.statement.as_of}, ${file.statement.accounts} accounts, as it was signed\n`)
      return file
    }
    io.out(`TAMPERED: ${name}: ${problem}\n`)
  } catch (cause) {
    if (!(cause instanceof CheckpointFileBroken)) {
      throw new CommandFailed(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      })
    }
    io.out(`TAMPERED: ${name}: ${cause.message}\n`)
  }
  return undefined
}

async function checkAccounts(
  sql: postgres.Sql,
  { vault }: LedgerSecrets,
  path: string,
  { statement }: CheckpointFile,
  io: CommandIo,
): Promise<boolean> {
  let checked = 0
  let wentBack = 0
  for await (const points of pointsOf(path, AT_ONCE)) {
    const found = await whatWentBack(sql, vault, points)
    wentBack += found.length
    for (const { accountRef, accountId, problem } of found) {
      const name = accountId === null || accountId === accountRef ? accountRef : `${accountId} (${accountRef})`
      io.out(`WENT BACK: account ${name}: ${problem}\n`)
    }
    checked += points.length
    if (checked % PROGRESS_ACCOUNTS === 0) io.err(`${checked} accounts checked\n`)
  }
  if (wentBack === 0) io.out(`ok: ${checked} accounts are where they were at ${statement.as_of}, or further\n`)
  else io.out(`${wentBack} of ${checked} accounts are not where they were at ${statement.as_of}\n`)
  return wentBack === 0
}

interface OpenedLedger {
  readonly ledger: LedgerRecord
  readonly secrets: LedgerSecrets
  readonly keys: readonly AssertionKey[]
}

async function checkChain(
  sql: postgres.Sql,
  { ledger, secrets, keys }: OpenedLedger,
  { statement }: CheckpointFile,
  io: CommandIo,
): Promise<boolean> {
  try {
    const checkpoints = await allCheckpoints(sql)
    let told = 0
    const progress = (entries: number): void => {
      if (entries - told < PROGRESS_ENTRIES) return
      told = entries
      io.err(`${entries} entries read\n`)
    }
    const computed = await recompute(
      { sql, keys: checkpointKeys(secrets.derive), shardCount: ledger.shardCount, progress },
      checkpoints,
    )
    const problems = [...problemsOfChain(checkpoints, keys, ledger.ledgerId, statement.links), ...computed.problems]
    for (const problem of problems) io.out(`WENT BACK: ${problem}\n`)
    if (problems.length === 0) {
      io.out(`ok: ${checkpoints.length} checkpoints in the database, ${computed.checkpoints} computed again\n`)
    }
    return problems.length === 0
  } catch (cause) {
    if (!(cause instanceof CheckpointUnreadable)) throw cause
    io.out(`TAMPERED: ${cause.message}\n`)
    return false
  }
}
