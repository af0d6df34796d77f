/** The command `ledger`: finds the command that is asked for and turns what it says into an exit code. */
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withHandedSecrets } from '../launcher/handed-secrets.ts'
import {
  CommandFailed,
  EXIT_FAILED,
  EXIT_OK,
  EXIT_USAGE,
  UsageError,
  type Command,
  type CommandIo,
} from '../cli/common/command.ts'

/** Loaded when asked for: signing in a shell must not wait for a database driver. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('../cli/up.ts')).upCommand,
  node: async () => (await import('../cli/node.ts')).nodeCommand,
  edge: async () => (await import('../cli/edge.ts')).edgeCommand,
  auditor: async () => (await import('../cli/auditor.ts')).auditorCommand,
  migrate: async () => (await import('../cli/migrate.ts')).migrateCommand,
  actors: async () => (await import('../cli/actors.ts')).actorsCommand,
  shards: async () => (await import('../cli/shards.ts')).shardsCommand,
  'accept-server': async () => (await import('../cli/accept-server.ts')).acceptServerCommand,
  drain: async () => (await import('../cli/drain.ts')).drainCommand,
  export: async () => (await import('../cli/export.ts')).exportCommand,
  client: async () => (await import('../cli/client.ts')).clientCommand,
  keys: async () => (await import('../cli/keys.ts')).keysCommand,
  keygen: async () => (await import('../cli/keygen.ts')).keygenCommand,
  sign: async () => (await import('../cli/sign.ts')).signCommand,
  import: async () => (await import('../cli/import.ts')).importCommand,
  checkpoint: async () => (await import('../cli/checkpoint/checkpoint.ts')).checkpointCommand,
  verify: async () => (await import('../cli/verify.ts')).verifyCommand,
}

/** The exit code: 0 done, 1 failed, 2 called in a wrong way. */
export async function main(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') {
    io.out(await usage())
    return EXIT_OK
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load === undefined) {
    // Behind the list, which would push it off the screen.
    io.err(`${await usage()}\n${name === '' ? 'A command is missing.' : `There is no command ${name}.`}\n`)
    return EXIT_USAGE
  }
  const command = await load()
  if (rest.includes('--help') || rest.includes('-h')) {
    io.out(command.help)
    return EXIT_OK
  }
  return runCommand(name, command, rest, io)
}

async function runCommand(name: string, command: Command, args: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await command.run(args, io)
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`ledger ${name}: ${error.message}\nledger ${name} --help says more\n`)
      return EXIT_USAGE
    }
    const shown = error instanceof CommandFailed || !(error instanceof Error) ? messageOf(error) : messagesOf(error)
    io.err(`ledger ${name}: ${shown}\n`)
    return EXIT_FAILED
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What went wrong and what lay behind it. No stack: it helps no operator, and the log has it where it matters. */
function messagesOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\n  because: ${messagesOf(error.cause)}` : ''
  return `${error.message}${cause}`
}

async function usage(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(8)} ${(await load()).summary}`),
  )
  return `Usage: ledger COMMAND [options]

${lines.join('\n')}

ledger COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 called in a wrong way.
`
}

function processIo(): CommandIo {
  return {
    env: process.env,
    cwd: process.cwd(),
    readInput: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
      return Buffer.concat(chunks)
    },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  }
}

/** Whether this file is the program, and not imported by one. */
function isProgram(): boolean {
  const [, program] = process.argv
  return program !== undefined && realpathSync(program) === fileURLToPath(import.meta.url)
}

if (isProgram()) process.exitCode = await main(process.argv.slice(2), await withHandedSecrets(processIo()))
