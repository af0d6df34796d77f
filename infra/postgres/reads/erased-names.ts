/**
 * The name of an erased account in groups, tokens, NFTs and attestations: the same pseudonym everywhere. A counterparty's
 * own transactions keep the account ID.
 *   N1. One query after a page was read finds its erased accounts: an erasure is final.
 */
import type { GroupView } from '../../../actors/group/state.ts'
import type { HoldView } from '../../../actors/hold/state.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { ProvenanceEntry } from '../../../runtime/ports/attestation-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { erasedAmong, erasedName } from '../rows/erased-accounts.ts'
import type { QueryPool } from '../connection/query-pool.ts'

/** How accounts are called. */
type NameOf = (accountId: string) => string

/** Finds the names of these accounts; null IDs are skipped. Rejects with UnreadableRow. */
export type FindNames = (accountIds: Iterable<string | null>) => Promise<NameOf>

const ITSELF: NameOf = (accountId) => accountId

export function createNames(pool: QueryPool, vault: RowVault): FindNames {
  return async (accountIds) => {
    const known = new Set(accountIds)
    known.delete(null)
    if (known.size === 0) return ITSELF
    const refs = new Map([...known].map((accountId) => [accountId, vault.accountRef(accountId ?? '')]))
    const erased = await pool.run((sql) => erasedAmong(sql, [...refs.values()], vault))
    if (erased.size === 0) return ITSELF
    return (accountId) => {
      const ref = refs.get(accountId) ?? ''
      return erased.has(ref) ? erasedName(ref, vault) : accountId
    }
  }
}

/** All rows of a page at once (N1). */
type Renaming<Shown> = <Row extends Shown>(names: FindNames, rows: readonly Row[]) => Promise<readonly Row[]>

/** `renamed`: the members of a row that change. */
function renaming<Shown>(
  accountsOf: (row: Shown) => readonly (string | null)[],
  renamed: (row: Shown, nameOf: NameOf) => Partial<Shown>,
): Renaming<Shown> {
  return async (names, rows) => {
    const nameOf = await names(rows.flatMap(accountsOf))
    return nameOf === ITSELF ? rows : rows.map((row) => ({ ...row, ...renamed(row, nameOf) }))
  }
}

export const renameIssuers = renaming<{ readonly issuer: string }>(
  ({ issuer }) => [issuer],
  ({ issuer }, nameOf) => ({ issuer: nameOf(issuer) }),
)

export const renameOwners = renaming<{ readonly owner: string }>(
  ({ owner }) => [owner],
  ({ owner }, nameOf) => ({ owner: nameOf(owner) }),
)

export const renameAttesters = renaming<{ readonly attester: string }>(
  ({ attester }) => [attester],
  ({ attester }, nameOf) => ({ attester: nameOf(attester) }),
)

export const renameParties = renaming<Pick<GroupView, 'legs'>>(
  ({ legs }) => legs.flatMap(({ accountId, toAccountId }) => [accountId, toAccountId]),
  ({ legs }, nameOf) => ({
    legs: legs.map((leg) => ({
      ...leg,
      accountId: nameOf(leg.accountId),
      toAccountId: leg.toAccountId === null ? null : nameOf(leg.toAccountId),
    })),
  }),
)

export const renamePayments = renaming<Pick<HoldView, 'accountId' | 'toAccountId'>>(
  ({ accountId, toAccountId }) => [accountId, toAccountId],
  ({ accountId, toAccountId }, nameOf) => ({ accountId: nameOf(accountId), toAccountId: nameOf(toAccountId) }),
)

export const renameHolders = renaming<Pick<NftEvent, 'from' | 'to'>>(
  ({ from, to }) => [from, to],
  ({ from, to }, nameOf) => ({ from: from === null ? null : nameOf(from), to: nameOf(to) }),
)

export const renameActors = renaming<ProvenanceEntry>(
  (entry) => ['attestation' in entry ? entry.attestation.attester : entry.actor],
  (entry, nameOf) => {
    if (!('attestation' in entry)) return { actor: nameOf(entry.actor) }
    return { attestation: { ...entry.attestation, attester: nameOf(entry.attestation.attester) } }
  },
)
