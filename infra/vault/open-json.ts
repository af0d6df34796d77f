import type { KeyName } from './key-name.ts'
import type { Place } from './place.ts'
import type { RowVault } from './row-vault.ts'
import { UnreadableRow } from './unreadable-row.ts'

/** What a sealed JSON text says; its shape is what this program wrote. Throws UnreadableRow. */
export function openJson<T>(vault: RowVault, name: KeyName, place: Place, bytes: Uint8Array): T {
  return jsonIn(vault.open(name, place, bytes), place)
}

/** The same of a text that is open. */
export function jsonIn<T>(text: string, place: Place): T {
  try {
    return JSON.parse(text) as T
  } catch {
    // The error quotes the text.
    throw new UnreadableRow(place, 'it is not JSON')
  }
}

const FIRST_STRING_AT = '["'.length

/** The first member of a JSON array, without reading the rest: a string in which nothing is escaped; undefined: it is none. */
export function firstStringIn(text: string): string | undefined {
  const end = text.startsWith('["') ? text.indexOf('"', FIRST_STRING_AT) : -1
  return end === -1 ? undefined : text.slice(FIRST_STRING_AT, end)
}
