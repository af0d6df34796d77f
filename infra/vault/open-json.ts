import type { KeyName } from './key-name.ts'
import type { WrappedKey } from './key-wrapping.ts'
import type { Place } from './place.ts'
import type { RowVault } from './row-vault.ts'
import { UnreadableRow } from './unreadable-row.ts'

/**
 * Opens and parses a sealed JSON text. Its shape is not checked: this program wrote it. `own`: the key that the row carries.
 * Throws UnreadableRow.
 */
export function openJson<T>(vault: RowVault, name: KeyName, place: Place, bytes: Uint8Array, own?: WrappedKey): T {
  return jsonIn(vault.open(name, place, bytes, own), place)
}

/** Parses an opened JSON text. Throws UnreadableRow. */
export function jsonIn<T>(text: string, place: Place): T {
  try {
    return JSON.parse(text) as T
  } catch {
    // The original error would quote the text.
    throw new UnreadableRow(place, 'it is not JSON')
  }
}

const FIRST_STRING_AT = '["'.length

/** The first item of a JSON array if it is a string without escapes, without parsing the rest. */
export function firstStringIn(text: string): string | undefined {
  const end = text.startsWith('["') ? text.indexOf('"', FIRST_STRING_AT) : -1
  return end === -1 ? undefined : text.slice(FIRST_STRING_AT, end)
}
