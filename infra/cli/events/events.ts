import type { CommandSetup } from '../common/command.ts'
import { tailCommand } from './tail.ts'

export const eventsCommand: CommandSetup = (command, io) => {
  command.description('Follows the event log of the ledger.')
  tailCommand(command.command('tail').summary('print events as JSON lines'), io)
}
