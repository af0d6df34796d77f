/**
 * The accounts that a client may see and act for (D17): all, or the listed IDs and the IDs with a listed prefix.
 *   S1. An account that no entry matches is out of scope; an ill-formed entry matches nothing.
 *   S2. A name that is no account ID is out of scope, such as the name shown for an erased account (D19).
 */
import { isAccountId } from './identifiers.ts'

export interface AccountScope {
  /** The client is not scoped: it includes every ID. */
  readonly whole: boolean
  readonly includes: (accountId: string) => boolean
  /** The sorted IDs; null where a prefix is among the entries, since the IDs cannot then be listed. */
  readonly ids: readonly string[] | null
  /** The entries as sorted JSON: equal scopes have equal texts. */
  readonly text: string
}

/** An account ID, or a prefix followed by `*`. */
export type ScopeEntry = string

export const MAX_SCOPE_ENTRIES = 100
export const SCOPE_RULE = `must be 1 to ${MAX_SCOPE_ENTRIES} account IDs, or prefixes of them that end in *`

const ANY = '*'

export const WHOLE_SCOPE: AccountScope = { whole: true, includes: () => true, ids: null, text: '' }

/** A prefix has at least one character: a client that may see every account has no scope. */
export function areScopeEntries(entries: readonly string[]): boolean {
  if (entries.length === 0 || entries.length > MAX_SCOPE_ENTRIES) return false
  return entries.every((entry) => isAccountId(entry) || prefixOf(entry) !== undefined)
}

/** `.` and `..` are no IDs, but IDs may begin with them. */
function prefixOf(entry: string): string | undefined {
  if (!entry.endsWith(ANY)) return undefined
  const prefix = entry.slice(0, -ANY.length)
  return isAccountId(`${prefix}x`) && prefix !== '' ? prefix : undefined
}

/** `entries`: null for an unscoped client. */
export function accountScopeOf(entries: readonly ScopeEntry[] | null): AccountScope {
  if (entries === null) return WHOLE_SCOPE
  const ids = new Set(entries.filter(isAccountId))
  const prefixes = new Set(entries.flatMap((entry) => prefixOf(entry) ?? []))
  const lengths = [...new Set([...prefixes].map(({ length }) => length))]
  return {
    whole: false,
    includes: (accountId) =>
      ids.has(accountId) ||
      (lengths.some((length) => prefixes.has(accountId.slice(0, length))) && isAccountId(accountId)),
    ids: prefixes.size > 0 ? null : [...ids].sort(),
    text: JSON.stringify([...new Set(entries)].sort()),
  }
}
