/** The program `ledger`. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 outcome unknown. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import { withHandedSecrets } from '../launcher/handed-secrets.ts'
import {
  CommandFailed,
  type CommandIo,
  type CommandSetup,
  OutcomeUnknown,
  ReportedFailure,
  UsageError,
} from '../cli/common/command.ts'
import { shownLines } from '../cli/common/shown-text.ts'
import { processIo } from './process-io.ts'

const [EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_UNKNOWN] = [0, 1, 2, 3]
const HELP_WIDTH = 110

/** Only the module of the command that runs is loaded: signing in a shell must not wait for the database driver. */
const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<CommandSetup>])[] = [
  [
    'login',
    'store the address and credentials of a client',
    async () => (await import('../cli/daily/login.ts')).loginCommand,
  ],
  [
    'logout',
    'remove the stored address and credentials of a client',
    async () => (await import('../cli/daily/logout.ts')).logoutCommand,
  ],
  [
    'account',
    'register, show and freeze accounts; rotate keys',
    async () => (await import('../cli/daily/account.ts')).accountCommand,
  ],
  ['balance', 'show the balances of an account', async () => (await import('../cli/daily/balance.ts')).balanceCommand],
  ['transfer', 'send value to another account', async () => (await import('../cli/daily/orders.ts')).transferCommand],
  ['credit', 'bring value in from outside', async () => (await import('../cli/daily/orders.ts')).creditCommand],
  ['debit', 'take value out of the ledger', async () => (await import('../cli/daily/orders.ts')).debitCommand],
  ['mint', 'issue more of a token', async () => (await import('../cli/daily/orders.ts')).mintCommand],
  ['burn', 'destroy part of a token', async () => (await import('../cli/daily/orders.ts')).burnCommand],
  ['token', 'register and show tokens', async () => (await import('../cli/daily/token.ts')).tokenCommand],
  ['nft', 'mint, show, transfer and burn NFTs', async () => (await import('../cli/daily/nft.ts')).nftCommand],
  [
    'group',
    'settle legs of several accounts together',
    async () => (await import('../cli/daily/group.ts')).groupCommand,
  ],
  ['hold', 'reserve value, and capture or release it', async () => (await import('../cli/daily/hold.ts')).holdCommand],
  [
    'statement',
    'show and verify the movements of a balance',
    async () => (await import('../cli/daily/statement.ts')).statementCommand,
  ],
  ['tx', 'show, list, follow and await transactions', async () => (await import('../cli/daily/tx.ts')).txCommand],
  ['up', 'run a whole ledger (npm start does this)', async () => (await import('../cli/up.ts')).upCommand],
  ['node', 'run one shard node', async () => (await import('../cli/process-commands.ts')).nodeCommand],
  ['edge', 'run one HTTP edge', async () => (await import('../cli/process-commands.ts')).edgeCommand],
  ['auditor', 'run the auditor', async () => (await import('../cli/process-commands.ts')).auditorCommand],
  [
    'migrate',
    'migrate the database to the schema of this release',
    async () => (await import('../cli/migrate.ts')).migrateCommand,
  ],
  ['actors', 'show the state machines of actors', async () => (await import('../cli/actors.ts')).actorsCommand],
  ['shards', 'show the owner and health of each shard', async () => (await import('../cli/shards.ts')).shardsCommand],
  [
    'accept-server',
    'let the ledger run on a restored or promoted PostgreSQL',
    async () => (await import('../cli/accept-server.ts')).acceptServerCommand,
  ],
  [
    'backup',
    'back up the ledger, encrypted to a key',
    async () => (await import('../cli/backup/backup.ts')).backupCommand,
  ],
  [
    'restore',
    'restore a backup, and verify the ledger in it',
    async () => (await import('../cli/backup/restore.ts')).restoreCommand,
  ],
  ['drain', 'move all shards away from a node', async () => (await import('../cli/drain.ts')).drainCommand],
  ['export', 'export accounts for another ledger', async () => (await import('../cli/export.ts')).exportCommand],
  ['client', 'add, list and revoke clients', async () => (await import('../cli/client.ts')).clientCommand],
  ['webhooks', 'list, test and replay webhooks', async () => (await import('../cli/webhooks.ts')).webhooksCommand],
  ['events', 'follow and publish the event log', async () => (await import('../cli/events/events.ts')).eventsCommand],
  [
    'keys',
    'rotate and revoke signing keys, rotate the master key, derive part keys',
    async () => (await import('../cli/keys.ts')).keysCommand,
  ],
  ['keygen', 'generate a key pair for an account', async () => (await import('../cli/keygen.ts')).keygenCommand],
  ['sign', 'sign a submission', async () => (await import('../cli/sign.ts')).signCommand],
  ['import', 'import the export of another ledger', async () => (await import('../cli/import.ts')).importCommand],
  [
    'checkpoint',
    'write a signed checkpoint of all accounts to a file',
    async () => (await import('../cli/checkpoint/checkpoint.ts')).checkpointCommand,
  ],
  ['witness', 'sign the heads of a log', async () => (await import('../cli/log/witness.ts')).witnessCommand],
  [
    'monitor',
    'follow a log, and verify that it has one history',
    async () => (await import('../cli/log/monitor.ts')).monitorCommand,
  ],
  [
    'completion',
    'print a completion script for a shell',
    async () => (await import('../cli/completion/completion.ts')).completionCommand,
  ],
  [
    'verify',
    'verify accounts, receipts, statements, exports and checkpoints',
    async () => (await import('../cli/verify.ts')).verifyCommand,
  ],
]

/** Returns the exit code. */
export async function main(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const program = await createProgram(args, io)
  let running: Command = program
  program.hook('preAction', (_, command) => {
    running = command
    for (const [name, value] of Object.entries(command.opts())) {
      if (value === '') throw new UsageError(`--${name} must not be empty.`)
    }
  })
  try {
    // Without its name first, no command is loaded.
    if (args[0] === '--') throw new UsageError('The first argument must be a command.')
    await program.parseAsync(upToUnknownCommand(program, args), { from: 'user' })
    return EXIT_OK
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE
    if (error instanceof ReportedFailure) return EXIT_FAILED
    const path = pathOf(running)
    if (error instanceof UsageError) {
      io.err(`${path}: ${shownLines(error.message)}\n${seeHelp(path)}\n`)
      return EXIT_USAGE
    }
    const shown = error instanceof CommandFailed || !(error instanceof Error) ? messageOf(error) : messagesOf(error)
    io.err(`${path}: ${shownLines(shown)}\n`)
    return error instanceof OutcomeUnknown ? EXIT_UNKNOWN : EXIT_FAILED
  }
}

async function createProgram(args: readonly string[], io: CommandIo): Promise<Command> {
  const program = new Command('ledger')
    .description('A sharded, privacy-preserving digital-asset ledger.')
    .version(version())
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 outcome unknown or pending.')
  const called = args[0] === 'help' ? args[1] : args[0]
  for (const [name, summary, load] of COMMANDS) {
    const command = program.command(name).summary(summary)
    // The completion script has the words of all commands.
    if (name === called || called === 'completion') (await load())(command, io)
  }
  configure(program, io)
  return program
}

/** Without what follows an unknown command: with --help, commander would print the help of its parent. */
function upToUnknownCommand(program: Command, args: readonly string[]): readonly string[] {
  let command = program
  const path: string[] = []
  for (const name of args) {
    if (name === 'help') continue
    if (name.startsWith('-') || command.commands.length === 0) return args
    path.push(name)
    const child = command.commands.find((candidate) => candidate.name() === name)
    if (child === undefined) return path
    command = child
  }
  return args
}

/** Applies the conventions for output and errors to the command and its subcommands. */
function configure(command: Command, io: CommandIo): void {
  const path = pathOf(command)
  command
    .exitOverride()
    .showHelpAfterError(seeHelp(path))
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
      outputError: (text, write) => write(text.replace(/^error: /, `${path}: `)),
    })
  for (const child of command.commands) configure(child, io)
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function seeHelp(path: string): string {
  return `Run ${path} --help for its usage.`
}

/** The path of `package.json` differs between the sources and the build. */
function version(): string {
  const paths = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url))
  const path = paths.find((candidate) => existsSync(candidate))
  if (path === undefined) return 'unknown'
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The message and the causes that it does not quote, without stacks: the log has them where they matter. */
function messagesOf(error: Error): string {
  if (!(error.cause instanceof Error)) return error.message
  const cause = messagesOf(error.cause)
  return error.message.includes(cause) ? error.message : `${error.message}\n  because: ${cause}`
}

/** Whether this file is the program, and not imported by one. */
function isProgram(): boolean {
  const [, program] = process.argv
  return program !== undefined && realpathSync(program) === fileURLToPath(import.meta.url)
}

if (isProgram()) process.exitCode = await main(process.argv.slice(2), await withHandedSecrets(processIo()))
