import { isoTimestamp } from '../../../actors/timestamp.ts'
import { type Moment, readAccounts } from '../../checkpoints/checkpoint-accounts.ts'
import { contentHash, FIRST_LINE, lastLine, lineOf } from '../../checkpoints/checkpoint-file.ts'
import { signStatement } from '../../checkpoints/checkpoint-statement.ts'
import { existingPartKeys, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { connect, type Sql } from '../../postgres/connection/connection.ts'
import { readLedgerAt } from '../../postgres/migrations/migrate.ts'
import { PLAN_SETTINGS } from '../../postgres/connection/plan-settings.ts'
import { createServiceKeys } from '../../postgres/access/service-keys-postgres.ts'
import { openStoreClock } from '../../postgres/store/store-clock.ts'
import { CommandFailed, EXIT_OK, readArgs, type Command, type CommandIo } from '../common/command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from '../common/configured.ts'
import { withNewFile } from '../common/new-file.ts'

export const checkpointCommand: Command = {
  summary: 'write down where each account is, signed, to be kept elsewhere',
  help: `Usage: ledger checkpoint [FILE]

Writes where the chain of each account ends, of one moment and signed by the ledger, to FILE (a new one) or to standard
output: some 85 bytes an account, by reference; no account ID, no balance. Keep it where nobody can write who can write to
the database: ledger verify --checkpoint FILE then names every account that was put back since.

Needs the database, and the part key of edges or the master key. The rights of the role ledger_edge are sufficient.
`,
  run: async (args, io) => {
    const { positionals } = readArgs(args, {}, { least: 0, most: 1, what: 'FILE' })
    const configuration = configurationOf(io)
    refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
    const [name] = positionals
    const written = await withDatabase(configuration, io, async (url) => {
      const ring = await existingPartKeys(configuration, 'edge')
      const ledger = await readLedgerAt(url)
      if (ledger === undefined)
        throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
      const { serviceKeys: seals } = openLedgerSecrets(ring, ledger)
      const clock = await openStoreClock(url)
      const keys = await createServiceKeys({ url, seals, clock })
      try {
        const signer = { ledgerId: ledger.ledgerId, keys, nowMs: clock.now }
        if (name === undefined) return await writeCheckpoint(url, signer, (text) => Promise.resolve(io.out(text)), io)
        return await withNewFile(name, io, async (file) => {
          const whole = await writeCheckpoint(url, signer, file.write, io)
          await file.finish()
          return whole
        })
      } finally {
        await keys.close()
      }
    })
    const what = `${written.accounts} accounts as of ${written.asOf}`
    io.err(name === undefined ? `${what}\n` : `wrote ${name}: ${what}\n`)
    return EXIT_OK
  },
}

type Write = (text: string) => Promise<void>

const PROGRESS_ACCOUNTS = 100_000

interface Written {
  readonly accounts: number
  /** ISO 8601. */
  readonly asOf: string
}

async function writeCheckpoint(
  url: string,
  signer: Parameters<typeof signStatement>[0],
  write: Write,
  io: CommandIo,
): Promise<Written> {
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
  const asOf = isoTimestamp(moment.asOfMs)
  const signed = await signStatement(signer, {
    type: 'checkpoint-file',
    as_of: asOf,
    accounts,
    content: content.digest(),
    links: moment.links,
  })
  await write(lastLine(signed))
  return { accounts, asOf }
}

/** A connection without a bound for its statements, which read all accounts, or entries, in the order of an index. */
export async function onConnection<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const connection = await connect({ url, applicationName: 'ledger checkpoint', settings: PLAN_SETTINGS })
  try {
    return await work(connection.sql)
  } finally {
    await connection.end()
  }
}
