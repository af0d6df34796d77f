import { link, open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import postgres from 'postgres'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { type Moment, readAccounts } from '../audit/checkpoint-accounts.ts'
import { contentHash, FIRST_LINE, lastLine, lineOf } from '../audit/checkpoint-file.ts'
import { signStatement } from '../audit/checkpoint-statement.ts'
import { openLedgerSecrets, openMasterKeys } from '../main/ledger-secrets.ts'
import { readLedgerAt } from '../postgres/migrate.ts'
import { createServiceKeys } from '../postgres/service-keys-postgres.ts'
import { tlsByAddress } from '../postgres/tls-by-address.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { CommandFailed, EXIT_OK, readArgs, type Command, type CommandIo } from './command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './configured.ts'

export const checkpointCommand: Command = {
  summary: 'write down where each account is, signed, to be kept elsewhere',
  help: `Usage: ledger checkpoint [FILE]

Writes where the chain of each account ends, of one moment and signed by the ledger, to FILE (a new one) or to standard
output: some 85 bytes an account, by reference; no account ID, no balance. Keep it where nobody can write who can write to
the database: ledger verify --checkpoint FILE then names every account that was put back since.

Needs the database and the master key. The role ledger_edge may do it.
`,
  run: async (args, io) => {
    const { positionals } = readArgs(args, {}, { least: 0, most: 1, what: 'FILE' })
    const configuration = configurationOf(io)
    refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
    const masterKeys = await openMasterKeys(configuration)
    const [name] = positionals
    const accounts = await withDatabase(configuration, io, async (url) => {
      const ledger = await readLedgerAt(url)
      if (ledger === undefined)
        throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
      const { serviceKeys: sealing } = openLedgerSecrets(masterKeys, ledger)
      const clock = createSystemClock()
      const keys = await createServiceKeys({ url, sealing, clock })
      try {
        const signer = { ledgerId: ledger.ledgerId, keys, nowMs: clock.now }
        return name === undefined
          ? await writeCheckpoint(url, signer, (text) => Promise.resolve(io.out(text)), io)
          : await writeFile(resolve(io.cwd, name), (write) => writeCheckpoint(url, signer, write, io))
      } finally {
        await keys.close()
      }
    })
    io.err(`${accounts} accounts\n`)
    return EXIT_OK
  },
}

type Write = (text: string) => Promise<void>

const PROGRESS_ACCOUNTS = 100_000

/** Returns the number of accounts. */
async function writeCheckpoint(
  url: string,
  signer: Parameters<typeof signStatement>[0],
  write: Write,
  io: CommandIo,
): Promise<number> {
  const content = contentHash()
  const add = async (text: string): Promise<void> => {
    content.add(text)
    await write(text)
  }
  let accounts = 0
  const moment = await onConnection(url, async (sql): Promise<Moment> => {
    await add(`${FIRST_LINE}\n`)
    return readAccounts(sql, async (points) => {
      await add(points.map(lineOf).join(''))
      const before = accounts
      accounts += points.length
      if (Math.floor(before / PROGRESS_ACCOUNTS) !== Math.floor(accounts / PROGRESS_ACCOUNTS)) {
        io.err(`${accounts} accounts so far\n`)
      }
    })
  })
  const signed = await signStatement(signer, {
    type: 'checkpoint-file',
    as_of: isoTimestamp(moment.asOfMs),
    accounts,
    content: content.digest(),
    links: moment.links,
  })
  await write(lastLine(signed))
  return accounts
}

/** A connection without a bound for its statements. */
export async function onConnection<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, {
    ...tlsByAddress(url),
    max: 1,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { application_name: 'ledger checkpoint', timezone: 'UTC', datestyle: 'ISO, YMD', jit: 'off' },
  })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Nothing stands under the name before it is whole and on the disk; what stands there is never replaced. */
async function writeFile<T>(path: string, work: (write: Write) => Promise<T>): Promise<T> {
  const unfinished = `${path}.unfinished-${process.pid}`
  try {
    const file = await open(unfinished, 'wx', 0o600)
    let result: T
    try {
      result = await work(async (text) => file.writeFile(text, 'utf8'))
      await file.sync()
    } finally {
      await file.close()
    }
    await link(unfinished, path)
    return result
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'EEXIST')
      throw new CommandFailed(`${path} is there already: a checkpoint replaces no other`, { cause })
    throw cause
  } finally {
    await rm(unfinished, { force: true })
  }
}
