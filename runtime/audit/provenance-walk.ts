/**
 * Verifies the history of one NFT from its mint to its owner.
 *   N1. Entries are in order and complete, each contains the hash of the one before, and each matches its columns.
 *   N2. The first entry is the mint, by the issuer of the class. Each entry transfers from the owner. A burn is the last.
 *   N3. Each entry names a transaction of the giver and of this NFT, with a valid receipt. A pending transaction has not
 *       been notified of its outcome yet. The transaction of a mint may still be in transit. Entries of a former ledger
 *       have their transactions there.
 *   N4. Owner and number of entries are those at the end of the history.
 */
import { chainHash, GENESIS, type Hash } from '../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import {
  type InstanceState,
  NFT_EVENT_FORMAT,
  type NftEvent,
  type NftEventType,
} from '../../actors/nft-instance/state.ts'
import { nftNameOf } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { Finding } from './finding.ts'
import { storedObject } from './stored-json.ts'

export interface WalkedEvent extends NftEvent {
  /** Named transaction; null: it does not exist and is not in transit. */
  readonly transaction: NamedTransaction | 'on_its_way' | null
}

export interface NamedTransaction {
  readonly accountId: string
  readonly tokenId: string
  readonly status: string
  readonly type: string
  /** Problem of its receipt; undefined for a valid receipt or a pending transaction. */
  readonly receiptProblem: string | undefined
}

/** An instance's row as it was at one moment. */
export interface InstanceHead {
  /** undefined: the document cannot be read. */
  readonly state: InstanceState | undefined
  /** Columns of the row. */
  readonly status: string
  readonly owner: string | null
  readonly classId: string | null
  /** Number of the last stored entry; null: there is none. */
  readonly lastEvent: number | null
  /** undefined: the class does not exist. */
  readonly classIssuer: string | undefined
}

/** Position of an interrupted walk: plain JSON. */
export interface StoredProvenance {
  readonly number: number
  readonly tip: Hash
  /** undefined: the last entry could not be read. */
  readonly owner?: string | null | undefined
  readonly burned: boolean
}

/** Types of transactions that cause each event. */
const TYPES: Readonly<Record<NftEventType, readonly string[]>> = {
  mint: ['mint'],
  transfer: ['transfer', 'exchange'],
  burn: ['burn'],
}

const START: StoredProvenance = { number: -1, tip: GENESIS, owner: null, burned: false }

export class ProvenanceWalk {
  private readonly nftId: string
  private readonly issuer: string | undefined
  private at: StoredProvenance

  private readonly cameWith: number

  /** `issuer`: of its class; `cameWith`: number of entries from a former ledger. */
  constructor(nftId: string, issuer: string | undefined, stored: StoredProvenance = START, cameWith = 0) {
    this.nftId = nftId
    this.issuer = issuer
    this.cameWith = cameWith
    this.at = stored
  }

  next(): number {
    return this.at.number + 1
  }

  stored(): StoredProvenance {
    return this.at
  }

  take(event: WalkedEvent): Finding | undefined {
    return this.step(event, event.to, () => this.readable(event))
  }

  /** Skips an entry whose payload cannot be read. */
  takeUnread(event: Pick<WalkedEvent, 'number' | 'type' | 'eventHash'>, problem: string): Finding | undefined {
    return this.step(event, undefined, () => problem)
  }

  private step(
    event: Pick<WalkedEvent, 'number' | 'type' | 'eventHash'>,
    owner: string | undefined,
    problemOf: () => string | undefined,
  ): Finding | undefined {
    const expected = this.next()
    const problem = event.number === expected ? problemOf() : 'it is missing'
    this.at = { number: event.number, tip: event.eventHash, owner, burned: event.type === 'burn' }
    if (problem === undefined) return undefined
    return { subject: 'provenance', place: `NFT ${this.nftId}, entry ${expected}`, problem }
  }

  /** Errors are findings, too: a tampered row may contain anything. */
  private readable(event: WalkedEvent): string | undefined {
    try {
      return this.judge(event)
    } catch {
      return 'it cannot be read'
    }
  }

  private judge(event: WalkedEvent): string | undefined {
    const { previousHash, eventHash, payload } = event
    if (previousHash !== this.at.tip) return 'its previous_hash is not the hash of the entry before'
    if (chainHash(previousHash, payload) !== eventHash) return 'its hash does not follow from its payload'
    return payloadProblem(this.nftId, event) ?? this.orderProblem(event) ?? this.transactionProblem(event)
  }

  /** N2. */
  private orderProblem({ number, type, from, to }: WalkedEvent): string | undefined {
    if (this.at.burned) return 'it comes after the burn'
    if ((type === 'mint') !== (number === 0)) return 'only the first entry is the mint'
    if (this.at.owner !== undefined && from !== this.at.owner) return 'it does not pass on from the owner before it'
    return type === 'burn' && to !== from ? 'it is a burn that passes it on' : undefined
  }

  /** N3. */
  private transactionProblem({ number, type, from, transaction }: WalkedEvent): string | undefined {
    if (number < this.cameWith) return undefined
    if (transaction === null) return 'its transaction is not there'
    if (transaction === 'on_its_way') return type === 'mint' ? undefined : 'its transaction is not there'
    const giver = from ?? this.issuer
    if (transaction.accountId !== giver) return 'its transaction is not of who gave it away'
    if (transaction.tokenId !== this.nftId) return 'its transaction is of something else'
    if (transaction.status === 'failed') return 'its transaction failed'
    if (!TYPES[type].includes(transaction.type)) return 'its transaction is of another type'
    return transaction.receiptProblem
  }

  /** N4. Call after the last entry. */
  finish(head: InstanceHead): readonly Finding[] {
    const problem = this.endProblem(head)
    return problem === undefined ? [] : [{ subject: 'provenance', place: `NFT ${this.nftId}`, problem }]
  }

  private endProblem({ state, status, owner, classId, lastEvent, classIssuer }: InstanceHead): string | undefined {
    if (state === undefined) return 'its document cannot be read'
    const { number, tip, owner: last, burned } = this.at
    if (state.id !== this.nftId || state.status !== status) return 'its document says something else than its row'
    if (classId !== (nftNameOf(this.nftId)?.classId ?? null)) return 'its row names another class'
    if (classIssuer === undefined || state.issuer !== classIssuer) return 'its issuer is not the issuer of its class'
    if (state.events !== number + 1 || (lastEvent ?? -1) !== number) return 'its history has another length'
    if (state.tip !== tip) return 'its tip is not the hash of its last entry'
    if (status === 'minting')
      return number === -1 && owner === null ? undefined : 'it is being minted and has a history'
    if (last === null || (last !== undefined && state.owner !== last))
      return 'its owner is not the one that its history ends with'
    if (burned !== (status === 'burned')) return 'its status is not the one that its history ends with'
    return owner === (burned ? null : state.owner) ? undefined : 'its row names another owner'
  }
}

/** N1: the payload must be the canonical JSON of the columns and a salt. */
function payloadProblem(nftId: string, event: WalkedEvent): string | undefined {
  const members = storedObject(event.payload)
  if (members === undefined) return 'its payload is no JSON object'
  const { salt, ...others } = members
  if (typeof salt !== 'string') return 'its payload has no salt'
  return canonicalJson(others) === canonicalJson(columnsOf(nftId, event))
    ? undefined
    : 'its payload says something else than its columns'
}

function columnsOf(nftId: string, { number, type, from, to, txnId, atMs }: WalkedEvent): JsonObject {
  const name = nftNameOf(nftId)
  return {
    class_id: name?.classId ?? '',
    format: NFT_EVENT_FORMAT,
    from,
    instance_id: name?.instanceId ?? '',
    number,
    timestamp: isoTimestamp(atMs),
    to,
    txn_id: txnId,
    type,
  }
}
