/** The frame of every command of `ledger`. */
import { type Command, InvalidArgumentError } from 'commander'

/** Adds the description, options, subcommands and action of a command. */
export type CommandSetup = (command: Command, io: CommandIo) => void

/** The parts of the process that a command may use. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly readInput: () => Promise<Buffer>
  /** Reads a line from the terminal without showing it. `prompt` goes to standard error. Throws CommandFailed on Ctrl-C. */
  readonly readHidden: (prompt: string) => Promise<string>
  /** Which streams are terminals. */
  readonly terminal: { readonly input: boolean; readonly output: boolean; readonly error: boolean }
  /** Writes the result of the command to standard output. */
  readonly out: (text: string) => void
  /** Writes progress, warnings and errors to standard error. */
  readonly err: (text: string) => void
  /**
   * Aborts on Ctrl-C, SIGTERM and SIGHUP, and with the error when standard output fails. For commands that run until then:
   * from the call on, signals no longer end the process.
   */
  readonly stopSignal: () => AbortSignal
}

/** The command line is wrong. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command failed and the message is complete: its causes are not shown. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name: string = 'CommandFailed'
}

/** The command may have taken effect, or its outcome is still pending. The message says how to find out. Exit code 3. */
export class OutcomeUnknown extends CommandFailed {
  override readonly name = 'OutcomeUnknown'
}

/** The command failed and has already printed the reason. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure'
}

/** Throws ReportedFailure if a check that has printed its result failed. */
export function exitUnless(succeeded: boolean): void {
  if (!succeeded) throw new ReportedFailure('the command failed')
}

/** Parser of an option that takes an integer. */
export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`)
  }
}
