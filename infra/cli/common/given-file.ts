/** Files that the command line names. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'
import { CommandFailed, type CommandIo } from './command.ts'

/** Throws CommandFailed. */
export function readGivenFile(name: string, io: CommandIo): Buffer {
  try {
    return readFileSync(resolve(io.cwd, name))
  } catch (cause) {
    throw unreadable(name, cause)
  }
}

/** The content as text; `-` is standard input. Throws CommandFailed if it cannot be read or is not UTF-8. */
export async function readGivenText(name: string, io: CommandIo): Promise<string> {
  const bytes = name === '-' ? await io.readInput() : readGivenFile(name, io)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw unreadable(name, cause)
  }
}

export function unreadable(name: string, cause: unknown): CommandFailed {
  return new CommandFailed(`${name} cannot be read: ${reasonOf(cause)}`, { cause })
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a directory'
    case 'EACCES':
    case 'EPERM':
      return 'permission is denied'
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'it is not UTF-8'
    default:
      return cause.message
  }
}

/** The object that the text is, as strict JSON; undefined if it is another value or malformed. */
export function jsonObjectOf(text: string): JsonObject | undefined {
  const parsed = parseStrictJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
}

export function isJsonObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
