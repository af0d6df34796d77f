/**
 * Walks the history of one NFT from its mint to its owner.
 *   N1. Entries come in order, none is missing, each covers the one before, and says what the columns beside it say.
 *   N2. The first is the mint, by the issuer of its class; each passes it on from its owner; a burn is the last.
 *   N3. Each names a transaction of who gave it away, of this NFT, whose receipt verifies. One that is still pending is
 *       decided and has not heard of it yet; of a mint the transaction may still be on its way. Those of another ledger, from
 *       which it came, are there.
 *   N4. Whose it is, and how many entries there are, is what the history ends with.
 */
import { chainHash, ENTRY_FORMAT, GENESIS, type Hash } from '../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import type { InstanceState, NftEvent, NftEventType } from '../../actors/nft-instance/state.ts'
import { nftNameOf } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { Finding } from './finding.ts'
import { storedObject } from './stored-json.ts'

export interface WalkedEvent extends NftEvent {
  /** The transaction that it names; null when there is none, and none is on its way. */
  readonly transaction: NamedTransaction | 'on_its_way' | null
}

export interface NamedTransaction {
  readonly accountId: string
  readonly tokenId: string
  readonly status: string
  readonly type: string
  /** The fault of its receipt; undefined when there is none, or while it is pending. */
  readonly receiptProblem: string | undefined
}

/** An instance's row as it was at one moment. */
export interface InstanceHead {
  /** undefined: its document cannot be read. */
  readonly state: InstanceState | undefined
  /** The columns beside the document. */
  readonly status: string
  readonly owner: string | null
  readonly classId: string | null
  /** The last entry that there is; null when there is none. */
  readonly lastEvent: number | null
  /** Of its class; undefined when there is no such class. */
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

  /** `issuer`: of its class; `cameWith`: entries of its history that are of another ledger. */
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

  /** Goes on behind an entry whose payload cannot be had. */
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

  /** A row that was tampered with may contain anything. */
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

  /** N4: after the last entry that the instance says it has. */
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

/** N1: canonical JSON again, of what the columns say and the salt. */
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
    format: ENTRY_FORMAT,
    from,
    instance_id: name?.instanceId ?? '',
    number,
    timestamp: isoTimestamp(atMs),
    to,
    txn_id: txnId,
    type,
  }
}
