/**
 * `ledger up` passes secrets to its parts by a pipe that only the two processes can read. The environment of a process is
 * readable by every program of the same user, inherited by every child, and included in crash reports.
 */
import type { CommandIo } from '../cli/common/command.ts'

/** Variables of the environment, as the configuration reads them. */
export type HandedSecrets = Readonly<Record<string, string>>

const VARIABLE = 'LEDGER_HANDED_SECRETS'
const BY_INPUT = 'stdin'
const NAME = /^LEDGER_[A-Z_]+$/

/** For the environment of a process that gets secrets by its standard input. */
export const HANDED_BY_INPUT = { [VARIABLE]: BY_INPUT }

export function textOfSecrets(secrets: HandedSecrets): string {
  return JSON.stringify(secrets)
}

/** Adds the secrets from the pipe to the variables. They are written nowhere, and no child inherits them. */
export async function withHandedSecrets(io: CommandIo): Promise<CommandIo> {
  const { [VARIABLE]: handed, ...env } = io.env
  if (handed !== BY_INPUT) return io
  return { ...io, env: { ...env, ...readSecrets((await io.readInput()).toString('utf8')) } }
}

/** Gives no details: they could quote a secret. */
function readSecrets(text: string): HandedSecrets {
  const secrets: Record<string, string> = {}
  for (const [name, value] of entriesOf(text)) {
    if (!NAME.test(name) || typeof value !== 'string') throw wrongInput()
    secrets[name] = value
  }
  return secrets
}

function entriesOf(text: string): readonly [string, unknown][] {
  try {
    return Object.entries(JSON.parse(text) as object)
  } catch {
    throw wrongInput()
  }
}

function wrongInput(): Error {
  return new Error(`${VARIABLE} announces secrets on standard input, but the input is not a set of secrets`)
}
