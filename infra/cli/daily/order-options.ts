/** Options that the commands for signed orders share. */
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import { integerBetween } from '../common/command.ts'
import { addSessionOptions, type Session, type SessionOptions } from '../profile/session.ts'

export interface SigningOptions extends SessionOptions {
  readonly key?: string
  readonly idempotencyKey?: string
}

export interface OrderOptions extends SigningOptions {
  readonly metadata?: Readonly<Record<string, string>>
  readonly wait: boolean
  readonly timeout: number
  readonly dryRun?: boolean
}

const DEFAULT_TIMEOUT_S = 60
const MAX_TIMEOUT_S = 86_400
const KEY = /^[\u0021-\u007E](?:[\u0020-\u007E]{0,253}[\u0021-\u007E])?$/

export function addSigningOptions(command: Command): Command {
  return addSessionOptions(
    command
      .option('--key <file>', "private key that signs (PEM); by default the account's key of ledger account create")
      .option(
        '--idempotency-key <key>',
        'of the order, random by default; an order with the same key takes effect at most once',
        idempotencyKeyOf,
      ),
  )
}

export function addOrderOptions(command: Command): Command {
  return addWaitOptions(
    addSigningOptions(command)
      .option('--metadata <name=value>', 'attach data to the transaction; repeat it for several', addMetadata)
      .option('--dry-run', 'print the outcome that the order would have now, and submit nothing'),
  ).option('--no-wait', 'end once the order is durable, before its outcome')
}

export function addWaitOptions(command: Command): Command {
  return command.option(
    '--timeout <seconds>',
    'longest wait for the outcome',
    integerBetween(1, MAX_TIMEOUT_S),
    DEFAULT_TIMEOUT_S,
  )
}

/**
 * The given idempotency key, or a new one, which is printed before anything is sent: after a lost reply or a crash the user can
 * repeat the command with it.
 */
export function idempotencyKey(
  { idempotencyKey: given }: SigningOptions,
  { output, adviseIfUnknown }: Session,
): string {
  const key = given ?? randomUUID()
  const again = `--idempotency-key ${/^[\w.:-]+$/.test(key) ? key : `'${key}'`}`
  if (given === undefined) output.note(`idempotency key ${key}`)
  adviseIfUnknown(`Run the same command with ${again}: the order takes effect at most once.`)
  return key
}

function idempotencyKeyOf(text: string): string {
  if (KEY.test(text)) return text
  throw new InvalidArgumentError('It must be 1 to 255 printable ASCII characters.')
}

/** Collects `name=value`. Throws InvalidArgumentError. */
export function addMetadata(
  text: string,
  found: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const separator = text.indexOf('=')
  if (separator < 1) throw new InvalidArgumentError('It must be a name and a value, such as order=7.')
  return { ...found, [text.slice(0, separator)]: text.slice(separator + 1) }
}
