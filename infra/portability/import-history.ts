/**
 * Checks the history of an exported NFT.
 *   H1. It leads from the mint to the current owner without a gap. Each entry contains the hash of the one before, matches
 *       its columns, and transfers the NFT from its owner.
 * The exporting ledger vouches for the transactions that the history names.
 */
import { ProvenanceWalk, type WalkedEvent } from '../../runtime/audit/provenance-walk.ts'
import { nftId } from '../../actors/nft-id.ts'
import type { NftEvent, NftEventType } from '../../actors/nft-instance/state.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import type { EventRecord, InstanceRecord } from '../../api/schemas/requests/export-records.ts'

const HASH_PREFIX = 'sha256:'

/** Type of transaction behind each event. */
const TRANSACTION_TYPES: Readonly<Record<NftEventType, string>> = { mint: 'mint', transfer: 'transfer', burn: 'burn' }
/** Stands for the unknown minter: an export does not name it. */
const MINTER = ''

export function eventsOf({ history }: InstanceRecord): readonly NftEvent[] {
  return history.map(eventOf)
}

/** Milliseconds since 1970 of a valid timestamp. */
export function timeMsOf(text: string): number {
  return Math.floor(parseTimestamp(text) ?? 0)
}

export function hashOf(shown: string): string {
  return shown.slice(HASH_PREFIX.length)
}

function eventOf(event: EventRecord, number: number): NftEvent {
  return {
    number,
    type: event.type,
    from: event.from,
    to: event.to,
    txnId: event.txn_id,
    atMs: timeMsOf(event.timestamp),
    previousHash: hashOf(event.previous_hash),
    eventHash: hashOf(event.event_hash),
    payload: event.payload,
  }
}

/** The first field that violates H1; undefined when none does. */
export function historyFault(record: InstanceRecord): { readonly field: string; readonly message: string } | undefined {
  const id = nftId({ classId: record.class_id, instanceId: record.instance_id })
  const walk = new ProvenanceWalk(id, MINTER)
  const events = eventsOf(record)
  for (const event of events) {
    const finding = walk.take(withTransaction(event, id))
    if (finding !== undefined) return { field: `history[${event.number}]`, message: finding.problem }
  }
  const last = events.at(-1)
  if (last?.to !== record.owner) return { field: 'owner', message: 'its history ends with another owner' }
  if ((last.type === 'burn') !== (record.status === 'burned')) {
    return { field: 'status', message: 'its history ends with another status' }
  }
  return undefined
}

function withTransaction(event: NftEvent, tokenId: string): WalkedEvent {
  const { type, from } = event
  const accountId = from ?? MINTER
  return {
    ...event,
    transaction: { accountId, tokenId, status: 'completed', type: TRANSACTION_TYPES[type], receiptProblem: undefined },
  }
}
