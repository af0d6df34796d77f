/** The key program for PKCS #11 tokens, and the creation of keys on them. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { runAgent } from '../keys/pkcs11/agent.ts'
import { type Cryptoki, CryptokiFailed, loadCryptoki } from '../keys/pkcs11/cryptoki.ts'
import { readPkcs11Uri } from '../keys/pkcs11/pkcs11-uri.ts'
import { KEY_KINDS, type KeyKind, openToken, TokenUnusable } from '../keys/pkcs11/token.ts'
import { CommandFailed, type CommandIo, integerBetween, UsageError } from './common/command.ts'
import { unreadable } from './common/given-file.ts'

interface ModuleOptions {
  readonly module: string
  readonly pinFile: string
}

const DEFAULT_SESSIONS = 8
const MAX_SESSIONS = 256

export function addPkcs11Commands(command: Command, io: CommandIo): void {
  addModuleOptions(command.command('pkcs11').summary('hold keys on PKCS #11 tokens, for LEDGER_KEY_COMMAND'))
    .description(
      `The key program for HSMs with a PKCS #11 module: LEDGER_KEY_COMMAND names this command with its
options. It reads requests from standard input and writes replies to standard output, as JSON lines,
until the input ends. Needs the optional npm package koffi.`,
    )
    .option('--sessions <number>', 'operations at once on a token', integerBetween(1, MAX_SESSIONS), DEFAULT_SESSIONS)
    .action(async ({ sessions, ...options }: ModuleOptions & { sessions: number }) => {
      const { cryptoki, pin } = await opened(options, io)
      await runAgent({ cryptoki, pin, sessions, input: process.stdin, write: io.out })
    })
  addModuleOptions(command.command('pkcs11-create').summary('create a key on a PKCS #11 token'))
    .description(
      `Creates a key that cannot leave its token: a master key (--kind mac), or a signing key (--kind sign).
Fails if the token has a key of this name.`,
    )
    .argument('<reference>', 'name of the key, such as "pkcs11:token=ledger;object=master-1"')
    .addOption(new Option('--kind <kind>', 'kind of the key').choices(KEY_KINDS).makeOptionMandatory())
    .action((reference: string, options: ModuleOptions & { kind: KeyKind }) => create(reference, options, io))
}

function addModuleOptions(command: Command): Command {
  return command
    .requiredOption('--module <path>', 'PKCS #11 module (shared library) of the HSM')
    .requiredOption('--pin-file <file>', 'file with the PIN of the token’s user')
}

async function create(
  reference: string,
  { kind, ...options }: ModuleOptions & { readonly kind: KeyKind },
  io: CommandIo,
): Promise<void> {
  const named = readPkcs11Uri(reference)
  if (named === undefined) throw new UsageError('the name must be a PKCS #11 URI: pkcs11:token=TOKEN;object=KEY')
  const { cryptoki, pin } = await opened(options, io)
  try {
    const token = openToken(cryptoki, named.token, pin, 1)
    if (token.hasKey(named.object, kind)) throw new CommandFailed(`the token already has a key ${named.object}`)
    token.createKey(named.object, kind)
  } catch (cause) {
    if (!(cause instanceof TokenUnusable) && !(cause instanceof CryptokiFailed)) throw cause
    throw new CommandFailed(cause.message, { cause })
  }
  io.out(`${JSON.stringify({ reference, kind })}\n`)
}

/** Throws CommandFailed. */
async function opened({ module, pinFile }: ModuleOptions, io: CommandIo) {
  let pin: string
  try {
    pin = readFileSync(resolve(io.cwd, pinFile), 'utf8').trim()
  } catch (cause) {
    throw unreadable(pinFile, cause)
  }
  return { cryptoki: await load(resolve(io.cwd, module)), pin }
}

async function load(path: string): Promise<Cryptoki> {
  const ffi = await import('koffi').catch((cause: unknown) => {
    throw new CommandFailed('PKCS #11 needs the optional npm package koffi, which is not installed', { cause })
  })
  try {
    return loadCryptoki(ffi, path)
  } catch (cause) {
    throw new CommandFailed(`the PKCS #11 module ${path} cannot be loaded`, { cause })
  }
}
