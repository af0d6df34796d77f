/** `ledger verify --checkpoint`: verifies the file's signature, and that no account has gone back since. */
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type postgres from 'postgres'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'
import { findRegressions } from '../../checkpoints/checkpoint-accounts.ts'
import {
  type CheckpointFile,
  CheckpointFileBroken,
  FIRST_LINE,
  pointsOf,
  readCheckpointFile,
} from '../../checkpoints/checkpoint-file.ts'
import {
  type CheckedLog,
  checkLog,
  checkLogSince,
  type KnownHeads,
  type LogCheck,
} from '../../checkpoints/checkpoint-log.ts'
import { problemOfSigned } from '../../checkpoints/checkpoint-statement.ts'
import { existingPartKeys, type LedgerSecrets, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { createServiceKeys } from '../../postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import { onConnection } from './checkpoint.ts'
import { CommandFailed } from '../common/command.ts'
import { withLedger } from '../common/configured.ts'
import { unreadable } from '../common/given-file.ts'
import { type ReceiptKeys, unsuitableJwks } from '../verify/jwks.ts'
import type { VerdictIo } from '../verify/verdicts.ts'

const ACCOUNTS_PER_STATEMENT = 1_000
const PROGRESS_ACCOUNTS = 100_000
const PROGRESS_ENTRIES = 1_000_000
/** Problems of the log that are printed one by one. */
const MOST_PRINTED = 1_000
/** More than the last line, which is the longest. */
const TAIL_BYTES = 16_384

/** Verifies the file by its JWKS alone. */
export async function verifyCheckpointOffline(name: string, jwks: ReceiptKeys, io: VerdictIo): Promise<boolean> {
  return (await readSigned(name, { ...jwks, jwks }, io)) !== undefined
}

/** `jwks`: undefined to use the keys in the database. */
export async function verifyCheckpoint(name: string, jwks: ReceiptKeys | undefined, io: VerdictIo): Promise<boolean> {
  return withLedger(io, async ({ configuration, url, ledger }) => {
    const ring = await existingPartKeys(configuration, 'edge')
    if (jwks?.ledgerId !== undefined && jwks.ledgerId !== ledger.ledgerId) {
      throw new CommandFailed('the JWKS and the database are of different ledgers')
    }
    return verifyCheckpointAt(
      { url, ledgerId: ledger.ledgerId, secrets: openLedgerSecrets(ring, ledger) },
      name,
      jwks,
      io,
    )
  })
}

export interface OpenedLedger {
  readonly url: string
  readonly ledgerId: string
  readonly secrets: LedgerSecrets
}

/** `jwks`: undefined to use the keys in the database. */
export async function verifyCheckpointAt(
  { url, ledgerId, secrets }: OpenedLedger,
  name: string,
  jwks: ReceiptKeys | undefined,
  io: VerdictIo,
): Promise<boolean> {
  const keys = jwks?.keys ?? (await keysOf(url, secrets))
  const file = await readSigned(name, { keys, ledgerId, jwks }, io)
  if (file === undefined) return false
  return onConnection(url, async (sql) => {
    const accounts = await checkAccounts(sql, secrets, resolve(io.cwd, name), file, io)
    const log = await checkAgainstLog(sql, secrets, (check) => checkLog(check, file), io)
    return log && accounts
  })
}

/** Compares the log with the rows, and with heads of an earlier time. */
export async function verifyLogSince(
  { url, secrets }: OpenedLedger,
  known: KnownHeads,
  io: VerdictIo,
): Promise<boolean> {
  return onConnection(url, (sql) => checkAgainstLog(sql, secrets, (check) => checkLogSince(check, known), io))
}

/** The keys whose tags prove that the ledger created them. */
async function keysOf(url: string, { serviceKeys: seals }: LedgerSecrets): Promise<readonly PublishedKey<string>[]> {
  const keys = await createServiceKeys({ url, seals, clock: createSystemClock() })
  await keys.close()
  return keys.published()
}

interface KnownKeys {
  readonly keys: readonly PublishedKey<string>[]
  readonly ledgerId: string | undefined
  /** The file of the keys; undefined if they are from the database. */
  readonly jwks: ReceiptKeys | undefined
}

/** Prints the result. Undefined if the file does not verify. */
async function readSigned(
  name: string,
  { keys, ledgerId, jwks }: KnownKeys,
  io: VerdictIo,
): Promise<CheckpointFile | undefined> {
  const path = resolve(io.cwd, name)
  try {
    const file = await readCheckpointFile(path)
    const { ledger_id, key_id, as_of: asOf, accounts } = file.statement
    const unsuitable = jwks === undefined ? undefined : unsuitableJwks({ ledger_id, key_id }, jwks)
    if (unsuitable !== undefined) {
      io.verdict({ verdict: 'NOT CHECKED', detail: `${name}: ${unsuitable}` })
      return undefined
    }
    const problem = problemOfSigned(file.statement, file.signed, keys, ledgerId)
    if (problem === undefined) {
      io.verdict({ verdict: 'ok', detail: `checkpoint of ${asOf}, ${accounts} accounts, as it was signed` })
      return file
    }
    io.verdict({ verdict: 'TAMPERED', detail: `${name}: ${problem}` })
  } catch (cause) {
    if (!(cause instanceof CheckpointFileBroken)) throw unreadable(name, cause)
    const incomplete = await whyIncomplete(path)
    if (incomplete === undefined) io.verdict({ verdict: 'TAMPERED', detail: `${name}: ${cause.message}` })
    else io.verdict({ verdict: 'UNREADABLE', detail: `${name}: ${incomplete}: it is not a complete checkpoint` })
  }
  return undefined
}

/** Undefined if the file has a beginning and an end. An interrupted copy has not. */
async function whyIncomplete(path: string): Promise<string | undefined> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size === 0) return 'it is empty'
    const head = await textAt(file, 0, FIRST_LINE.length + 1)
    if (!`${FIRST_LINE}\n`.startsWith(head)) return 'its first line is not that of a checkpoint file'
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
  io: VerdictIo,
): Promise<boolean> {
  let checked = 0
  let wentBack = 0
  for await (const points of pointsOf(path, ACCOUNTS_PER_STATEMENT)) {
    const found = await findRegressions(sql, vault, points)
    wentBack += found.length
    for (const { accountRef, accountId, problem } of found) {
      const name = accountId === null || accountId === accountRef ? accountRef : `${accountId} (${accountRef})`
      io.verdict({ verdict: 'WENT BACK', detail: `account ${name}: ${problem}` })
    }
    checked += points.length
    if (checked % PROGRESS_ACCOUNTS === 0) io.err(`${checked} accounts checked\n`)
  }
  if (wentBack === 0) io.verdict({ verdict: 'ok', detail: `${checked} accounts are not behind ${statement.as_of}` })
  else
    io.verdict({
      verdict: 'WENT BACK',
      detail: `${wentBack} of ${checked} accounts are behind ${statement.as_of}, or differ`,
    })
  return wentBack === 0
}

async function checkAgainstLog(
  sql: postgres.Sql,
  { vault, derive }: LedgerSecrets,
  checkLogOf: (check: LogCheck) => Promise<CheckedLog>,
  io: VerdictIo,
): Promise<boolean> {
  let problems = 0
  let printed = 0
  const report = (detail: string): void => {
    problems += 1
    if (problems <= MOST_PRINTED) io.verdict({ verdict: 'WENT BACK', detail })
  }
  const progress = (entries: number): void => {
    if (Math.floor(entries / PROGRESS_ENTRIES) === printed) return
    printed = Math.floor(entries / PROGRESS_ENTRIES)
    io.err(`${entries} entries of the log read\n`)
  }
  const { entries, newer } = await checkLogOf({ sql, vault, derive, report, progress })
  if (problems === 0) {
    io.verdict({ verdict: 'ok', detail: `log of ${entries} entries, as the rows have them; ${newer} rows are newer` })
  } else if (problems > MOST_PRINTED) {
    io.verdict({ verdict: 'WENT BACK', detail: `${problems - MOST_PRINTED} more problems of the log` })
  }
  return problems === 0
}
