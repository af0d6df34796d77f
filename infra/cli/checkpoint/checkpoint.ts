import { isoTimestamp } from '../../../actors/timestamp.ts'
import { type Moment, readAccounts } from '../../checkpoints/checkpoint-accounts.ts'
import { contentHash, FIRST_LINE, lastLine, lineOf } from '../../checkpoints/checkpoint-file.ts'
import { hashOfStatement, signStatement } from '../../checkpoints/checkpoint-statement.ts'
import { existingPartKeys, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { connect, type Sql } from '../../postgres/connection/connection.ts'
import { PLAN_SETTINGS } from '../../postgres/connection/plan-settings.ts'
import { createServiceKeys } from '../../postgres/access/service-keys-postgres.ts'
import { openStoreClock } from '../../postgres/store/store-clock.ts'
import type { CommandIo, CommandSetup } from '../common/command.ts'
import { withLedger } from '../common/configured.ts'
import { withNewFile } from '../common/new-file.ts'

export const checkpointCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Writes the end of each account's chain at one moment, signed by the ledger: some 85 bytes an account,
by reference, without account IDs and balances. Keep the file where users of the database cannot
write: ledger verify --checkpoint FILE then names every account that was set back since. The log of
the ledger gets an entry of the file, which shows that the ledger wrote it.

Needs the database, and the part key of edges or the master key. The rights of the role ledger_edge
suffice.`,
    )
    .argument('[file]', 'new file for the checkpoint (default: standard output)')
    .action(async (name: string | undefined) => {
      const { accounts, asOf } = await withLedger(io, async ({ configuration, url, ledger }) => {
        const { serviceKeys: seals } = openLedgerSecrets(await existingPartKeys(configuration, 'edge'), ledger)
        const clock = await openStoreClock(url)
        const keys = await createServiceKeys({ url, seals, clock })
        try {
          const signer = { ledgerId: ledger.ledgerId, keys, nowMs: clock.now }
          if (name === undefined) return await writeCheckpoint(url, signer, async (text) => io.out(text), io)
          return await withNewFile(name, io, async (file) => {
            const written = await writeCheckpoint(url, signer, file.write, io)
            await file.finish()
            return written
          })
        } finally {
          await keys.close()
        }
      })
      io.err(`${name === undefined ? '' : `wrote ${name}: `}${accounts} accounts as of ${asOf}\n`)
    })
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
  const { head, published } = moment.log
  const signed = await signStatement(signer, {
    type: 'checkpoint-file',
    as_of: asOf,
    accounts,
    content: content.digest(),
    log_head: head === undefined ? null : { size: head.size, root: `sha256:${head.root.toString('hex')}` },
    log_published: published ?? null,
  })
  await onConnection(url, (sql) => sql`INSERT INTO log_statements (hash) VALUES (${hashOfStatement(signed)})`)
  await write(lastLine(signed))
  return { accounts, asOf }
}

/** A connection without a statement timeout: the statements read all accounts or entries in the order of an index. */
export async function onConnection<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const connection = await connect({ url, applicationName: 'ledger checkpoint', settings: PLAN_SETTINGS })
  try {
    return await work(connection.sql)
  } finally {
    await connection.end()
  }
}
