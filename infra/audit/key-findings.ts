/** Data keys that are missing or do not open: the rows sealed under them are unreadable. */
import type { Finding, Subject } from '../../runtime/audit/finding.ts'
import type { KeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'

export interface AskedKey {
  readonly name: KeyName
  /** As findings name what it belongs to. */
  readonly of: string
  /** Whether its row is there: a process may know a key whose row has gone since. */
  readonly isThere: boolean
}

/** It must have been fetched. */
export function keyFindings(vault: RowVault, subject: Subject, { name, of, isThere }: AskedKey): readonly Finding[] {
  const place = `data key of ${of}`
  if (!isThere) return [{ subject, place, problem: 'it is not there' }]
  return vault.keys.known(name) === undefined ? [{ subject, place, problem: 'it does not open' }] : []
}
