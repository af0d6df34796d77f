import { acceptServer, readServer } from '../postgres/connection/accepted-servers.ts'
import { connect } from '../postgres/connection/connection.ts'
import { EXIT_FAILED, EXIT_OK, readArgs, type Command } from './common/command.ts'
import { configurationOf, withDatabase } from './common/configured.ts'
import { refuseEarlierSchema } from '../postgres/migrations/migrate.ts'

export const acceptServerCommand: Command = {
  summary: 'let the ledger run on a PostgreSQL that was restored or promoted',
  help: `Usage: ledger accept-server [--yes]

Nodes run only on the PostgreSQL server and timeline on which the ledger was created, or that an administrator accepted. A
restored server and a promoted standby may lack changes that clients saw confirmed. So may an older copy of the data
directory: nodes store the latest position of the database in NATS, and refuse a database without it. Make sure that no
commits are missing (a promoted synchronous standby has all of them), stop all nodes, and run this command with --yes.
Without --yes it prints what it would accept. Nodes then start again with larger epochs.
`,
  run: async (args, io) => {
    const { values } = readArgs(args, { yes: { type: 'boolean' } })
    return withDatabase(configurationOf(io), io, async (url) => {
      const connection = await connect({ url, applicationName: 'ledger accept-server' })
      try {
        await refuseEarlierSchema(connection.sql)
        const { systemIdentifier, timeline, acceptance, wentBack } = await readServer(connection.sql)
        const name = `server ${systemIdentifier}, timeline ${timeline}`
        if (acceptance !== null && !wentBack) {
          io.err(`${name} is accepted already\n`)
          return EXIT_OK
        }
        if (values.yes !== true) {
          const fault = wentBack ? 'lacks commits that a node saw' : 'is not accepted'
          io.err(`${name} ${fault}: if it lacks no commits that you need, run ledger accept-server --yes\n`)
          return EXIT_FAILED
        }
        await acceptServer(connection.sql)
        io.err(`${name} is accepted\n`)
        return EXIT_OK
      } finally {
        await connection.end()
      }
    })
  },
}
