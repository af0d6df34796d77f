/** The receiving ledger of an export: its ID and public key. */
import type { Json } from '../../actors/canonical-json.ts'
import { CommandFailed, UsageError, type CommandIo } from './common/command.ts'
import { jsonObjectOf, readGivenText } from './common/given-file.ts'
import { problemText } from './common/problem-text.ts'

export interface Recipient {
  readonly audience: string
  readonly recipient_public_key: Json
}

const REPLY = 'response of GET /v1/imports/key'

/** The file may name the ledger; `audience`, if given, must be the same. Throws CommandFailed and UsageError. */
export async function readRecipient(name: string, audience: string | undefined, io: CommandIo): Promise<Recipient> {
  const text = (await readGivenText(name, io)).trim()
  if (text === '') throw new CommandFailed(`${name} is empty; it must be the ${REPLY}`)
  if (text.startsWith('-----BEGIN')) return { audience: audienceOf(audience), recipient_public_key: text }
  const body = jsonObjectOf(text) ?? {}
  const { ledger_id: ledgerId, public_key: publicKey, kty, status, title } = body
  if (typeof status === 'number' && typeof title === 'string') {
    throw new CommandFailed(`${name} is not a ${REPLY}, but an error: ${problemText(status, body)}`)
  }
  if (publicKey === undefined && kty === undefined) {
    throw new CommandFailed(`${name} must be a ${REPLY}, a JWK or a PEM key`)
  }
  if (typeof ledgerId === 'string' && audience !== undefined && audience.toLowerCase() !== ledgerId) {
    throw new UsageError(`--audience differs from the ledger in ${name}, ${ledgerId}`)
  }
  return {
    audience: typeof ledgerId === 'string' ? ledgerId : audienceOf(audience),
    recipient_public_key: publicKey ?? body,
  }
}

function audienceOf(given: string | undefined): string {
  if (given === undefined || given === '') throw new UsageError('--audience is missing: the key file names no ledger')
  return given
}
