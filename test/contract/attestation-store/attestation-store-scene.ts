/** Attestations and the NFTs that they are about, as values, for every attestation store. */
import { GENESIS } from '../../../actors/audit-chain.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import type { NftName } from '../../../actors/nft-id.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type {
  Attestation,
  AttestationQuery,
  AttestationStore,
  Revocation,
} from '../../../runtime/ports/attestation-store.ts'

export interface SeededInstance extends NftName {
  readonly issuer: string
  readonly events: readonly NftEvent[]
}

export interface AttestationStoreSubject {
  readonly store: AttestationStore
  /** Another process's store on the same data. */
  readonly other: AttestationStore
  readonly seedClass: (classId: string, name: string) => Promise<void>
  /** `minting`: its owner has not accepted it yet. */
  readonly seedInstance: (instance: SeededInstance, status?: 'active' | 'minting') => Promise<void>
  readonly close: () => Promise<void>
}

export const START_MS = 1_790_000_000_000

let serial = 0

export function nextSerial(): number {
  serial += 1
  return serial
}

export function newClassId(): string {
  return `cls_${encodeUlid({ timeMs: START_MS, counter: 0, shardId: 0, random: nextSerial() })}`
}

/** The IDs of one millisecond grow in the order in which they are made. */
export function attestationIdAt(timeMs: number): string {
  return `att_${encodeUlid({ timeMs, counter: 0, shardId: 0, random: nextSerial() })}`
}

export function anAttestation(changes: Partial<Attestation> = {}): Attestation {
  const createdAtMs = changes.createdAtMs ?? START_MS + nextSerial()
  return {
    attestationId: attestationIdAt(createdAtMs),
    attester: 'assay-office@london',
    subjectClass: newClassId(),
    subjectInstance: 'bar:0001',
    attestationType: 'assay',
    statement: 'Fine gold, 999.9.\n"Weighed" on 3 May — 12,441.2 g \u{1f947}',
    evidenceUrl: 'https://assay.example/reports/1?lang=en#page=2',
    submittedBy: 'client',
    attesterVerified: true,
    createdAtMs,
    seal: { keyId: 'key-1', signature: 'c2lnbmF0dXJl' },
    revocation: null,
    ...changes,
  }
}

export function aRevocation(changes: Partial<Revocation> = {}): Revocation {
  return {
    atMs: START_MS + 1_000_000,
    by: 'admin',
    reason: 'weighed again',
    seal: { keyId: 'key-2', signature: 'cmV2b2tlZA==' },
    ...changes,
  }
}

export function aSearch(changes: Partial<AttestationQuery> = {}): AttestationQuery {
  return {
    subjectClass: null,
    subjectInstance: null,
    assetClass: null,
    attester: null,
    status: null,
    limit: 1_000,
    after: null,
    ...changes,
  }
}

/** A mint, and a transfer for each further time; the last is a burn if asked for. */
export function eventsAt(times: readonly number[], burned = false): readonly NftEvent[] {
  return times.map((atMs, number) => {
    const type = number === 0 ? 'mint' : burned && number === times.length - 1 ? 'burn' : 'transfer'
    const from = number === 0 ? null : `owner-${number}`
    const to = type === 'burn' ? `owner-${number}` : `owner-${number + 1}`
    const txnId = `txn_${encodeUlid({ timeMs: atMs, counter: number, shardId: 0, random: nextSerial() })}`
    const payload = canonicalJson({ from, number, to, txn_id: txnId, type })
    return { number, type, from, to, txnId, atMs, previousHash: GENESIS, eventHash: GENESIS, payload }
  })
}

/** Page by page, as a client does it, to the end. */
export async function listed(store: AttestationStore, query: AttestationQuery): Promise<readonly Attestation[][]> {
  const pages: Attestation[][] = []
  let { after } = query
  do {
    const page = await store.attestations({ ...query, after })
    pages.push([...page.attestations])
    after = page.next
  } while (after !== null)
  return pages
}
