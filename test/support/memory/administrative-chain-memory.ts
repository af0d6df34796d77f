/** The administrative chain in memory: all that the port promises, for tests that want no database. */
import { type AuditEntry, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { administrativeEntry } from '../../../runtime/audit/administrative-entry.ts'
import type { AdministrativeChain } from '../../../runtime/ports/administrative-chain.ts'

/** State that all chains made from it share. */
export interface MemoryAdministrativeState {
  readonly ledgerId: string
  readonly entries: (Omit<AuditEntry, 'txnId'> & { readonly accountId: string | null })[]
}

/** `now`: milliseconds since 1970. */
export function createMemoryAdministrativeChain(
  { ledgerId, entries }: MemoryAdministrativeState,
  now: () => number,
): AdministrativeChain {
  return {
    async record({ accountId, ...recorded }) {
      const sequence = entries.length
      const entry = administrativeEntry({
        ...recorded,
        ledgerId,
        sequence,
        previousHash: entries.at(-1)?.auditHash ?? GENESIS,
        accountRef: accountId === null ? null : sha256Hex(accountId),
        atMs: now(),
        salt: sha256Hex(String(sequence)).slice(0, 32),
      })
      entries.push({ ...entry, accountId })
      return sequence
    },
    async entries({ after, limit, accountId }) {
      const found = entries.filter((one) => one.sequence > after && (accountId === null || one.accountId === accountId))
      const shown = found
        .slice(0, limit)
        .map(({ sequence, previousHash, auditHash, payload }) => ({ sequence, previousHash, auditHash, payload }))
      return {
        entries: shown,
        next: found.length > limit ? (shown.at(-1)?.sequence ?? null) : null,
        total: entries.length,
      }
    },
  }
}
