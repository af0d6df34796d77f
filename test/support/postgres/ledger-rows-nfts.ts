/** Rows for tests of ledger stores: NFTs as the domain would write them, without the domain. */
import { chainHash, GENESIS } from '../../../actors/audit-chain.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import type { ClassState } from '../../../actors/nft-class/state.ts'
import { nftId } from '../../../actors/nft-id.ts'
import type { InstanceState, NftEvent } from '../../../actors/nft-instance/state.ts'
import { type Rows, ROWS_START_MS, SALT } from './ledger-rows.ts'

/** Class IDs in the order of their numbers. */
export function classIdOf(number: number): string {
  return `cls_${encodeUlid({ timeMs: ROWS_START_MS + number, counter: 0, shardId: 3, random: number })}`
}

export const CLASS_ID = classIdOf(0)
export const NFT_ID = nftId({ classId: CLASS_ID, instanceId: 'no:1' })

export function classState(changes: Partial<ClassState> = {}): ClassState {
  return {
    kind: 'class',
    format: 1,
    id: 'fine arts',
    version: 1,
    status: 'preparing',
    classId: CLASS_ID,
    name: 'Fine "Arts"',
    description: 'of \\ and \u0000 and \ud800',
    issuer: 'issuer@bank',
    metadataSchema: { type: 'object', properties: { 'a "b" \\ {c}': { const: '\u001f\u001e\u0000' } } },
    clientId: 'client "one"',
    registrationKey: 'key \\ {1}',
    createdAtMs: ROWS_START_MS,
    lastTimeMs: ROWS_START_MS,
    dueAtMs: null,
    ...changes,
  }
}

export function instanceState(changes: Partial<InstanceState> = {}): InstanceState {
  return {
    kind: 'instance',
    format: 1,
    id: NFT_ID,
    version: 1,
    status: 'minting',
    issuer: 'issuer@bank',
    owner: 'alice',
    metadata: { title: 'a "b" \\ {c} é \u0000', parts: [{ weight: 1.5 }, null, true] },
    hold: { txnId: 'txn_mint', accountId: 'issuer@bank', toAccountId: 'alice', leg: null },
    events: 0,
    tip: GENESIS,
    mintedAtMs: ROWS_START_MS + 1,
    acquiredAtMs: ROWS_START_MS + 2,
    lastTimeMs: ROWS_START_MS + 3,
    dueAtMs: null,
    ...changes,
  }
}

/** The next version of an instance with an owner. */
export function ownedBy(before: InstanceState, owner: string, changes: Partial<InstanceState> = {}): InstanceState {
  return { ...before, version: before.version + 1, status: 'active', owner, hold: null, ...changes }
}

/** The history of an NFT that was minted to the first and went from each to the next; burned by the last, if so. */
export function historyOf(owners: readonly string[], burned = false): readonly NftEvent[] {
  const events: NftEvent[] = []
  const append = (type: NftEvent['type'], from: string | null, to: string): void => {
    const number = events.length
    const previousHash = events.at(-1)?.eventHash ?? GENESIS
    const txnId = `txn_of_${number}`
    const payload = canonicalJson({ format: 1, salt: SALT, number, type, from, to, txn_id: txnId, note: '"\\ \u001f' })
    const eventHash = chainHash(previousHash, payload)
    events.push({ number, type, from, to, txnId, atMs: ROWS_START_MS + number, previousHash, eventHash, payload })
  }
  owners.forEach((owner, index) => append(index === 0 ? 'mint' : 'transfer', owners[index - 1] ?? null, owner))
  const last = owners.at(-1)
  if (burned && last !== undefined) append('burn', last, last)
  return events
}

export function eventRows(nftId: string, ...events: readonly NftEvent[]): Partial<Rows> {
  return { nftEvents: events.map((event) => ({ nftId, event })) }
}
