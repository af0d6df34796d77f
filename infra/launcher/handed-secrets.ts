/**
 * `ledger up` passes secrets to its parts by a pipe that only the two processes can read. The environment of a process is
 * readable by every program of the same user, inherited by every child, and included in crash reports.
 */
import * as v from 'valibot'
import type { CommandIo } from '../cli/common/command.ts'

/** Environment variables by name. */
export type HandedSecrets = Readonly<Record<string, string>>

const VARIABLE = 'LEDGER_HANDED_SECRETS'
const BY_INPUT = 'stdin'
const secretsSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.record(v.pipe(v.string(), v.regex(/^(LEDGER|OTEL)_[A-Z_]+$/)), v.string()),
)

/** The environment of a process that gets secrets by its standard input. */
export const HANDED_BY_INPUT = { [VARIABLE]: BY_INPUT }

export function textOfSecrets(secrets: HandedSecrets): string {
  return JSON.stringify(secrets)
}

/** Adds the secrets from the pipe to the command's variables, which no child process inherits. */
export async function withHandedSecrets(io: CommandIo): Promise<CommandIo> {
  const { [VARIABLE]: handed, ...env } = io.env
  if (handed !== BY_INPUT) return io
  return { ...io, env: { ...env, ...readSecrets((await io.readInput()).toString('utf8')) } }
}

/** The error has no details: they could quote a secret. */
function readSecrets(text: string): HandedSecrets {
  const read = v.safeParse(secretsSchema, text)
  if (read.success) return read.output
  throw new Error(`${VARIABLE} announces secrets on standard input, but the input is not a set of secrets`)
}
