/** The ledger that an export is for: its ID, and the key that is encrypted to. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { parseStrictJson } from '../../api/http/json-text.ts'
import { CommandFailed, required, UsageError, type CommandIo } from './common/command.ts'
import { problemText } from './common/http-client.ts'

export interface Recipient {
  readonly audience: string
  readonly recipient_public_key: Json
}

const ANSWER = 'answer of GET /v1/imports/key'

/** Whose key it is, where the file says it, and `audience` must be the same. Throws CommandFailed and UsageError. */
export function readRecipient(name: string, audience: string | undefined, io: CommandIo): Recipient {
  const text = readText(name, io).trim()
  if (text === '') throw new CommandFailed(`${name} is empty, and no ${ANSWER}`)
  if (text.startsWith('-----BEGIN')) {
    return { audience: required(audience, 'audience'), recipient_public_key: text }
  }
  const parsed = parseStrictJson(text)
  if (!parsed.ok || !isObject(parsed.value)) throw new CommandFailed(`${name} is no ${ANSWER}, no JWK and no PEM`)
  const { ledger_id: ledgerId, public_key: publicKey, kty, status, title } = parsed.value
  if (typeof status === 'number' && typeof title === 'string') {
    const said = problemText({ status, body: parsed.value, retryAfterS: null })
    throw new CommandFailed(`${name} is no ${ANSWER} but an error: ${said}`)
  }
  if (publicKey === undefined && kty === undefined) {
    throw new CommandFailed(`${name} is no ${ANSWER}, no JWK and no PEM`)
  }
  if (typeof ledgerId === 'string' && audience !== undefined && audience.toLowerCase() !== ledgerId) {
    throw new UsageError(`--audience is not the ledger of ${name}, ${ledgerId}`)
  }
  return {
    audience: typeof ledgerId === 'string' ? ledgerId : required(audience, 'audience'),
    recipient_public_key: publicKey ?? parsed.value,
  }
}

function readText(name: string, io: CommandIo): string {
  try {
    return readFileSync(resolve(io.cwd, name), 'utf8')
  } catch (cause) {
    throw new CommandFailed(`${name} cannot be read`, { cause })
  }
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
