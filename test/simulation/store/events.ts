/**
 * The event log of the simulated database: the query of infra/postgres/reads/event-places.ts, over the rows of the commits.
 *   E1. A commit takes its number when it starts, and its rows are visible once it takes effect. So commits overtake each
 *       other, and a page ends below the oldest running one.
 *   E2. Events of one commit are in the order of the query: those of chains first.
 */
import type { EventPlace, PlaceRow } from '../../../infra/postgres/reads/event-places.ts'
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { StoreRule } from './faults.ts'

interface EventRow {
  readonly commit: number
  readonly place: EventPlace
}

/** Of the query. */
const RANKS: Readonly<Record<EventPlace['kind'], number>> = {
  transaction: 1,
  entry: 1,
  nft: 2,
  group: 3,
  attestation: 4,
  revocation: 5,
}

const ENDS: ReadonlySet<string> = new Set(['settled', 'reverted'])

export class EventTable {
  private readonly broken: StoreRule | undefined
  private nextCommit = 1
  private readonly running = new Set<number>()
  /** In the order of the log. */
  private readonly rows: EventRow[] = []
  /** Number of chain entries. */
  chainLength = 0

  constructor(broken?: StoreRule) {
    this.broken = broken
  }

  size(onlyTransactions: boolean): number {
    return this.rows.filter(({ place }) => !onlyTransactions || place.kind === 'transaction').length
  }

  /** The number of a commit that starts. */
  begin(): number {
    const commit = this.nextCommit
    this.nextCommit += 1
    this.running.add(commit)
    return commit
  }

  /** The commit has taken effect, or never will. */
  end(commit: number): void {
    this.running.delete(commit)
  }

  write(commit: number, shards: readonly ShardBatch[]): void {
    this.add(
      commit,
      shards.flatMap((batch) => placesOf(commit, batch)),
    )
  }

  writeAttestation(commit: number, kind: 'attestation' | 'revocation', attestationId: string): void {
    this.add(commit, [placeOf(commit, kind, null, attestationId, null)])
  }

  private add(commit: number, places: readonly EventPlace[]): void {
    const rows = places.toSorted(inOrder).map((place) => ({ commit, place }))
    this.chainLength += places.filter(isOfChain).length
    this.rows.splice(this.rows.findLastIndex((row) => row.commit < commit) + 1, 0, ...rows)
  }

  /** The first commit that may still be running. */
  settled(): number {
    return this.broken === 'pagesWait' ? this.nextCommit : Math.min(this.nextCommit, ...this.running)
  }

  /** The chain entries of whole commits from `from` on, about `most` of them, and the first commit that was not read. */
  chainEntries(from: number, most: number) {
    const settled = this.broken === 'logWaits' ? this.nextCommit : this.settled()
    const found = this.rows
      .slice(this.rows.findLastIndex(({ commit }) => commit < from) + 1)
      .filter(({ commit, place }) => commit < settled && isOfChain(place))
    const last = found[most - 1]?.commit ?? settled
    const places = found.filter(({ commit }) => commit <= last).map(({ place }) => place)
    return {
      places,
      next: Math.max(from, Math.min(last + 1, settled)),
      hasMore: places.length < found.length,
      isHeldBack: (this.rows.at(-1)?.commit ?? 0) >= settled,
    }
  }

  isWaiting(): boolean {
    return this.running.size > 0
  }

  /** The rows of the query. */
  query(from: string, most: number, acceptance: string | null): readonly PlaceRow[] {
    const settled = this.settled()
    const found = this.rows
      .slice(this.rows.findLastIndex(({ commit }) => commit < Number(from)) + 1)
      .filter(({ commit }) => commit < settled)
    const last = found[most]?.commit ?? settled
    const frame = { settled: String(settled), last: String(last), acceptance, ahead: false }
    const rows = found.slice(0, most + 1).map(({ place }) => ({ ...frame, ...place }))
    return rows.length === 0 ? [{ ...frame, kind: null }] : rows
  }

  copy(): EventTable {
    const copy = new EventTable(this.broken)
    copy.nextCommit = this.nextCommit
    copy.rows.push(...this.rows)
    copy.chainLength = this.chainLength
    return copy
  }
}

function isOfChain({ kind, number }: EventPlace): boolean {
  return (kind === 'transaction' || kind === 'entry') && number !== null
}

function placesOf(commit: number, batch: ShardBatch): readonly EventPlace[] {
  const { token, entries, transactions, transactionChanges, actors, nftEvents } = batch
  const finished = transactionChanges.flatMap((change) => (change.finished === null ? [] : [change.finished]))
  const ended = [...transactions, ...finished].filter(({ transaction }) => transaction.status !== 'pending')
  // A final state is written once.
  const groups = actors.filter(({ state }) => state?.kind === 'group' && ENDS.has(state.status))
  return [
    ...ended.map(({ transaction: { accountId, sequence, txnId } }) =>
      placeOf(commit, 'transaction', token.shardId, accountId, sequence, txnId),
    ),
    ...entries
      .filter(({ txnId }) => txnId === null)
      .map(({ accountId, sequence }) => placeOf(commit, 'entry', token.shardId, accountId, sequence)),
    ...nftEvents.map(({ nftId, event: { number, txnId } }) =>
      placeOf(commit, 'nft', token.shardId, nftId, number, txnId),
    ),
    ...groups.map(({ address }) => placeOf(commit, 'group', token.shardId, address.id, null)),
  ]
}

function placeOf(
  commit: number,
  kind: EventPlace['kind'],
  shardId: number | null,
  id: string,
  sequence: number | null,
  txnId: string | null = null,
): EventPlace {
  const number = sequence === null ? null : String(sequence)
  return { kind, commit_xid: String(commit), shard_id: shardId, id, number, txn_id: txnId }
}

function inOrder(one: EventPlace, other: EventPlace): number {
  return (
    RANKS[one.kind] - RANKS[other.kind] ||
    (one.shard_id ?? 0) - (other.shard_id ?? 0) ||
    compared(one.id, other.id) ||
    Number(one.number ?? Number.MAX_VALUE) - Number(other.number ?? Number.MAX_VALUE) ||
    compared(one.txn_id ?? '', other.txn_id ?? '')
  )
}

function compared(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
