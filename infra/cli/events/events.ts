import type { CommandSetup } from '../common/command.ts'
import { publishCommand } from './publish.ts'
import { tailCommand } from './tail.ts'

export const eventsCommand: CommandSetup = (command, io) => {
  command.description('Follows and publishes the event log of the ledger.')
  tailCommand(command.command('tail').summary('print events as JSON lines'), io)
  publishCommand(command.command('publish').summary('publish events to JetStream'), io)
}
