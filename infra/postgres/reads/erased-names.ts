/**
 * The name of an erased account in groups, tokens, NFTs and attestations: the same pseudonym everywhere. A counterparty's
 * own transactions keep the account ID.
 *   N1. One query after a page was read finds its erased accounts: an erasure is final.
 */
import type { GroupView } from '../../../actors/group/state.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { AttestationStore, Attestation, ProvenanceEntry } from '../../../runtime/ports/attestation-store.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { erasedAmong, erasedName } from '../rows/erased-accounts.ts'
import type { QueryPool } from '../connection/query-pool.ts'

/** How accounts are called. */
export type NameOf = (accountId: string) => string

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

type Naming = Pick<
  LedgerReads,
  'token' | 'tokens' | 'group' | 'nftClass' | 'nftClasses' | 'instance' | 'instances' | 'nftHistory'
>

/** The reads that show accounts to others. */
export function namingReads(reads: Naming, names: FindNames): Naming {
  const issued = async <T extends { readonly issuer: string }>(rows: readonly T[]): Promise<readonly T[]> => {
    const nameOf = await names(rows.map(({ issuer }) => issuer))
    return nameOf === ITSELF ? rows : rows.map((row) => ({ ...row, issuer: nameOf(row.issuer) }))
  }
  const owned = async <T extends { readonly owner: string }>(rows: readonly T[]): Promise<readonly T[]> => {
    const nameOf = await names(rows.map(({ owner }) => owner))
    return nameOf === ITSELF ? rows : rows.map((row) => ({ ...row, owner: nameOf(row.owner) }))
  }
  return {
    token: async (tokenId) => one(await reads.token(tokenId), issued),
    tokens: async (after, limit) => {
      const page = await reads.tokens(after, limit)
      return { ...page, tokens: await issued(page.tokens) }
    },
    group: async (groupId) => {
      const group = await reads.group(groupId)
      return group === undefined ? undefined : namedGroup(group, names)
    },
    nftClass: async (classId) => one(await reads.nftClass(classId), issued),
    nftClasses: async (after, limit) => {
      const page = await reads.nftClasses(after, limit)
      return { ...page, classes: await issued(page.classes) }
    },
    instance: async (classId, instanceId) => one(await reads.instance(classId, instanceId), owned),
    instances: async (classId, after, limit) => {
      const page = await reads.instances(classId, after, limit)
      return page === undefined ? undefined : { ...page, instances: await owned(page.instances) }
    },
    nftHistory: async (classId, instanceId, afterNumber, limit) => {
      const page = await reads.nftHistory(classId, instanceId, afterNumber, limit)
      return page === undefined ? undefined : { ...page, events: await namedEvents(page.events, names) }
    },
  }
}

async function one<T>(
  row: T | undefined,
  named: (rows: readonly T[]) => Promise<readonly T[]>,
): Promise<T | undefined> {
  return row === undefined ? undefined : (await named([row]))[0]
}

async function namedGroup(group: GroupView, names: FindNames): Promise<GroupView> {
  const nameOf = await names(group.legs.flatMap(({ accountId, toAccountId }) => [accountId, toAccountId]))
  if (nameOf === ITSELF) return group
  const legs = group.legs.map((leg) => ({
    ...leg,
    accountId: nameOf(leg.accountId),
    toAccountId: leg.toAccountId === null ? null : nameOf(leg.toAccountId),
  }))
  return { ...group, legs }
}

async function namedEvents(events: readonly NftEvent[], names: FindNames): Promise<readonly NftEvent[]> {
  const nameOf = await names(events.flatMap(({ from, to }) => [from, to]))
  if (nameOf === ITSELF) return events
  return events.map((event) => ({
    ...event,
    from: event.from === null ? null : nameOf(event.from),
    to: nameOf(event.to),
  }))
}

type StatingReads = Pick<AttestationStore, 'submitted' | 'attestation' | 'attestations' | 'provenance' | 'revoke'>

/** Those that show who states, and who did something with an NFT. */
export function namingAttestations(store: StatingReads, names: FindNames): StatingReads {
  const named = async (attestations: readonly Attestation[]): Promise<readonly Attestation[]> => {
    const nameOf = await names(attestations.map(({ attester }) => attester))
    return attestations.map((stated) => ({ ...stated, attester: nameOf(stated.attester) }))
  }
  return {
    submitted: async (clientId, idempotencyKey) => {
      const found = await store.submitted(clientId, idempotencyKey)
      const attestation = await one(found?.attestation, named)
      return found === undefined || attestation === undefined ? undefined : { ...found, attestation }
    },
    attestation: async (attestationId) => one(await store.attestation(attestationId), named),
    revoke: async (attestationId, revocation) => one(await store.revoke(attestationId, revocation), named),
    attestations: async (query) => {
      const page = await store.attestations(query)
      return { ...page, attestations: await named(page.attestations) }
    },
    provenance: async (query) => {
      const page = await store.provenance(query)
      return page === undefined ? undefined : { ...page, entries: await namedEntries(page.entries, names) }
    },
  }
}

async function namedEntries(
  entries: readonly ProvenanceEntry[],
  names: FindNames,
): Promise<readonly ProvenanceEntry[]> {
  const nameOf = await names(
    entries.map((entry) => ('attestation' in entry ? entry.attestation.attester : entry.actor)),
  )
  return entries.map((entry): ProvenanceEntry => {
    if (!('attestation' in entry)) return { ...entry, actor: nameOf(entry.actor) }
    const { attestation } = entry
    return { ...entry, attestation: { ...attestation, attester: nameOf(attestation.attester) } }
  })
}
