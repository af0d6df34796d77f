import { acceptServer, readServer } from '../postgres/accepted-servers.ts'
import { connect } from '../postgres/connection.ts'
import { EXIT_FAILED, EXIT_OK, readArgs, type Command } from './command.ts'
import { configurationOf, withDatabase } from './configured.ts'

export const acceptServerCommand: Command = {
  summary: 'let the ledger run on a PostgreSQL that was restored or promoted',
  help: `Usage: ledger accept-server [--yes]

Nodes run only on the PostgreSQL server, and the timeline of it, that the ledger was made on or that was accepted since: one
that was restored from a backup, or a standby that was promoted, may lack what clients were told is done. Make sure
that nothing is missing (a synchronous standby that was promoted has everything), stop all nodes, and run this with --yes.
Without it, it says what it would accept. Nodes start over with larger epochs then.
`,
  run: async (args, io) => {
    const { values } = readArgs(args, { yes: { type: 'boolean' } })
    return withDatabase(configurationOf(io), io, async (url) => {
      const connection = await connect({ url, applicationName: 'ledger accept-server' })
      try {
        const { systemIdentifier, timeline, accepted } = await readServer(connection.sql)
        const name = `server ${systemIdentifier}, timeline ${timeline}`
        if (accepted) {
          io.err(`${name} is accepted already\n`)
          return EXIT_OK
        }
        if (values.yes !== true) {
          io.err(`${name} is not accepted: if nothing is missing there, run ledger accept-server --yes\n`)
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
