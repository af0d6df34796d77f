/**
 * Which accounts a client may see and act for (D17): all, or those that are named and those whose IDs begin as is named.
 *   S1. What is not named is outside; an entry that is ill-formed names nothing.
 *   S2. What is no account ID is outside: the name that others see of an account that was erased (D19) belongs to nobody.
 */
import { isAccountId } from './identifiers.ts'

export interface AccountScope {
  /** The client is not scoped: it includes every ID. */
  readonly whole: boolean
  readonly includes: (accountId: string) => boolean
  /** The IDs, sorted, where no prefix is among the entries; null: they cannot be told one by one. */
  readonly ids: readonly string[] | null
  /** The named accounts, sorted: equal scopes have equal texts. */
  readonly text: string
}

/** An account ID, or the beginning of some with `*` behind it. */
export type ScopeEntry = string

export const MAX_SCOPE_ENTRIES = 100
export const SCOPE_RULE = `must be 1 to ${MAX_SCOPE_ENTRIES} account IDs, or prefixes of them that end in *`

const ANY = '*'

export const WHOLE_SCOPE: AccountScope = { whole: true, includes: () => true, ids: null, text: '' }

/** A prefix has at least one character: whoever may see everything is not scoped. */
export function areScopeEntries(entries: readonly string[]): boolean {
  if (entries.length === 0 || entries.length > MAX_SCOPE_ENTRIES) return false
  return entries.every((entry) => isAccountId(entry) || prefixOf(entry) !== undefined)
}

/** `.` and `..` are no IDs, but IDs may begin so. */
function prefixOf(entry: string): string | undefined {
  if (!entry.endsWith(ANY)) return undefined
  const prefix = entry.slice(0, -ANY.length)
  return isAccountId(`${prefix}x`) && prefix !== '' ? prefix : undefined
}

/** `entries`: null for a client that is not scoped. */
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
