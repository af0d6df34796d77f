import { acceptServer, readServer } from '../postgres/connection/accepted-servers.ts'
import { readDurability, waitsForAbsentStandby } from '../postgres/store/durability.ts'
import { CommandFailed, type CommandSetup, exitUnless } from './common/command.ts'
import { withConnection } from './common/configured.ts'
import { recorded } from './common/recorded.ts'

const ABSENT_STANDBY =
  'PostgreSQL ends no commit before a standby in synchronous_standby_names has it, and none is connected, as after a ' +
  "promotion: nothing was changed. Run ALTER SYSTEM SET synchronous_standby_names = '' and SELECT pg_reload_conf(), " +
  'or connect that standby'

export const acceptServerCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Nodes run only on the PostgreSQL server and timeline on which the ledger was created, or which an
administrator accepted. A restored server and a promoted standby may lack changes that clients saw
confirmed. So may an older copy of the data directory: nodes store the latest position of the
database in NATS, and refuse a database without it.

Make sure that no commits are missing (a promoted synchronous standby has all of them), stop all
nodes, and run this command with --yes. Without --yes it prints the server that it would accept.
Nodes then start again with larger epochs.`,
    )
    .option('--yes', 'accept the server')
    .action(async ({ yes = false }: { yes?: boolean }) => {
      exitUnless(
        await withConnection(io, 'ledger accept-server', async (sql, given) => {
          const { systemIdentifier, timeline, acceptance, wentBack } = await readServer(sql)
          const name = `server ${systemIdentifier}, timeline ${timeline}`
          if (acceptance !== null && !wentBack) {
            io.err(`${name} is already accepted\n`)
            return true
          }
          if (!yes) {
            const fault = wentBack ? 'lacks commits that a node saw' : 'is not accepted'
            io.err(`${name} ${fault}: if it lacks no commits that you need, run ledger accept-server --yes\n`)
            return false
          }
          if (waitsForAbsentStandby(await readDurability(sql))) throw new CommandFailed(ABSENT_STANDBY)
          const details = { system_identifier: systemIdentifier, timeline }
          await recorded(given, { act: 'accept-server', details }, () => acceptServer(sql))
          io.err(`${name} is accepted\n`)
          return true
        }),
      )
    })
}
