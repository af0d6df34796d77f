/** `ledger verify --checkpoint FILE`: whether the file is the ledger's, and whether the ledger still stands where it says. */
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type postgres from 'postgres'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { AssertionKey } from '../../../api/endpoint/assertion.ts'
import { whatWentBack } from '../../checkpoints/checkpoint-accounts.ts'
import { problemsOfChain, recompute } from '../../checkpoints/checkpoint-check.ts'
import {
  type CheckpointFile,
  CheckpointFileBroken,
  FIRST_LINE,
  pointsOf,
  readCheckpointFile,
} from '../../checkpoints/checkpoint-file.ts'
import { allCheckpoints, CheckpointUnreadable } from '../../checkpoints/checkpoint-rows.ts'
import { problemOfSigned } from '../../checkpoints/checkpoint-statement.ts'
import { checkpointKeys } from '../../checkpoints/checkpoint-sums.ts'
import { existingPartKeys, type LedgerSecrets, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { readLedgerAt, type LedgerRecord } from '../../postgres/migrations/migrate.ts'
import { createServiceKeys } from '../../postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import { onConnection } from './checkpoint.ts'
import { CommandFailed, EXIT_FAILED, EXIT_OK, type CommandIo } from '../common/command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from '../common/configured.ts'
import { unfitOf } from '../verify/jwks-fit.ts'
import { inLineNames } from '../common/line-words.ts'
import type { ReceiptKeys } from '../verify/verify-receipt.ts'

/** Accounts that one statement looks for. */
const AT_ONCE = 1_000
const PROGRESS_ACCOUNTS = 100_000
const PROGRESS_ENTRIES = 1_000_000
/** The last line is the longest, and shorter. */
const TAIL_BYTES = 16_384

/** Without the ledger: `jwks` is all that is known of it. */
export async function verifyCheckpointOffline(name: string, jwks: ReceiptKeys, io: CommandIo): Promise<number> {
  return (await readSigned(name, { ...jwks, jwks }, io)) === undefined ? EXIT_FAILED : EXIT_OK
}

/** `jwks`: undefined to use the keys in the database. */
export async function verifyCheckpoint(name: string, jwks: ReceiptKeys | undefined, io: CommandIo): Promise<number> {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return withDatabase(configuration, io, async (url) => {
    const ring = await existingPartKeys(configuration, 'edge')
    const ledger = await readLedgerAt(url)
    if (ledger === undefined) throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
    if (jwks?.ledgerId !== undefined && jwks.ledgerId !== ledger.ledgerId) {
      throw new CommandFailed('the JWKS is of another ledger than the database')
    }
    const secrets = openLedgerSecrets(ring, ledger)
    const keys = jwks?.keys ?? (await keysOf(url, secrets))
    const file = await readSigned(name, { keys, ledgerId: ledger.ledgerId, jwks }, io)
    if (file === undefined) return EXIT_FAILED
    const good = await onConnection(url, async (sql) => {
      const accounts = await checkAccounts(sql, secrets, resolve(io.cwd, name), file, io)
      return (await checkChain(sql, { ledger, secrets, keys }, file, io)) && accounts
    })
    return good ? EXIT_OK : EXIT_FAILED
  })
}

/** Keys that the ledger created, as their tags prove. */
async function keysOf(url: string, { serviceKeys: seals }: LedgerSecrets): Promise<readonly AssertionKey[]> {
  const keys = await createServiceKeys({ url, seals, clock: createSystemClock() })
  await keys.close()
  return keys.published()
}

interface KnownKeys {
  readonly keys: readonly AssertionKey[]
  readonly ledgerId: string | undefined
  /** Where they are from, if that is a file. */
  readonly jwks: ReceiptKeys | undefined
}

/** Undefined when the file is not to be believed; it has been said why. */
async function readSigned(
  name: string,
  { keys, ledgerId, jwks }: KnownKeys,
  io: CommandIo,
): Promise<CheckpointFile | undefined> {
  const path = resolve(io.cwd, name)
  try {
    const file = await readCheckpointFile(path)
    const unfit = jwks === undefined ? undefined : unfitOf(namesIn(file), jwks)
    if (unfit !== undefined) {
      io.out(`NOT CHECKED: ${name}: ${unfit}\n`)
      return undefined
    }
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
    const unfinished = await unfinishedBecause(path)
    if (unfinished === undefined) io.out(`TAMPERED: ${name}: ${inLineNames(fromZero(cause.message))}\n`)
    else io.out(`UNREADABLE: ${name}: ${unfinished}: it is no whole checkpoint\n`)
  }
  return undefined
}

function namesIn({ statement: { ledger_id, key_id } }: CheckpointFile): JsonObject {
  return { ledger_id, key_id }
}

/** Lines of a checkpoint have no numbers of their own, and are counted from 1 where it is read. */
function fromZero(message: string): string {
  return message.replace(/^line (\d+)/, (_, line: string) => `line ${Number(line) - 1}`)
}

/** What a copy that did not come to its end looks like; undefined where the file has a beginning and an end. */
async function unfinishedBecause(path: string): Promise<string | undefined> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size === 0) return 'it is empty'
    const head = await textAt(file, 0, FIRST_LINE.length + 1)
    if (!`${FIRST_LINE}\n`.startsWith(head)) return 'it does not begin as a checkpoint does'
    const tail = await textAt(file, Math.max(0, size - TAIL_BYTES), TAIL_BYTES)
    return tail.endsWith('\n') && tail.includes('\n{') ? undefined : 'it was cut off'
  } finally {
    await file.close()
  }
}

async function textAt(file: FileHandle, position: number, bytes: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position)
  return buffer.toString('utf8', 0, bytesRead)
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
