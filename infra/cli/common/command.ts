/** A command of `ledger`. Exit codes: 0 done, 1 failed, 2 called in a wrong way. */
import { parseArgs, type ParseArgsConfig } from 'node:util'

export const EXIT_OK = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

export interface Command {
  readonly summary: string
  readonly help: string
  /** Throws UsageError when it is called in a wrong way, any other error when it fails. */
  readonly run: (args: readonly string[], io: CommandIo) => Promise<number>
}

/** What a command may touch of the process. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly readInput: () => Promise<Buffer>
  /** To standard output: what the command was asked for, nothing else. */
  readonly out: (text: string) => void
  /** To standard error: progress, warnings, problems. */
  readonly err: (text: string) => void
}

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command failed for a reason that its message tells in full: no stack is shown. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true; strict: true }>
>

/** Options and the rest. Throws UsageError on an unknown option, and on arguments beyond `positionals`. */
export function readArgs<const O extends Options>(
  args: readonly string[],
  options: O,
  positionals: { readonly least: number; readonly most: number; readonly what: string } = {
    least: 0,
    most: 0,
    what: '',
  },
): Parsed<O> {
  const parsed = parsedOrRefused(args, options)
  const count = parsed.positionals.length
  if (count > positionals.most)
    throw new UsageError(`unexpected argument ${parsed.positionals[positionals.most] ?? ''}`)
  if (count < positionals.least) throw new UsageError(`${positionals.what} is missing`)
  return parsed
}

function parsedOrRefused<const O extends Options>(args: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(parseProblemOf(error), { cause: error })
  }
}

/** Of an unknown option Node adds how one would write an argument that looks like it, which nobody meant. */
function parseProblemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isUnknown = 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
  const [option] = /(?<=')-[^']*(?=')/.exec(error.message) ?? []
  return isUnknown && option !== undefined ? `there is no option ${option}` : error.message
}

/** A required option. */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing`)
  return value
}

export function wholeNumber(
  value: string | undefined,
  name: string,
  least: number,
  most: number,
  fallback: number,
): number {
  if (value === undefined) return fallback
  const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= least && number <= most)) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`)
  }
  return number
}
