/** Data keys that are missing or do not open: the rows sealed under them are unreadable. */
import type { Finding, Subject } from '../../runtime/audit/finding.ts'
import type { KeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'

export interface CheckedKey {
  readonly name: KeyName
  /** Name of its owner in findings. */
  readonly of: string
  /** Whether its row exists. A process may still have a deleted key in memory. */
  readonly isThere: boolean
}

/** It must have been fetched. */
export function keyFindings(vault: RowVault, subject: Subject, { name, of, isThere }: CheckedKey): readonly Finding[] {
  const place = `data key of ${of}`
  if (!isThere) return [{ subject, place, problem: 'it is not there' }]
  return vault.keys.known(name) === undefined ? [{ subject, place, problem: 'it does not open' }] : []
}
