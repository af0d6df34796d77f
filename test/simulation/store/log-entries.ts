/** The committed chain entries of the simulated database, as its log has them. */
import { hash } from 'node:crypto'
import type { EventPlace } from '../../../infra/postgres/reads/event-places.ts'
import type { CommittedEntries, LogPosition } from '../../../runtime/ports/log-store.ts'
import type { SimDatabase } from './database.ts'

/** 48 bytes; opaque to the log. `auditHash`: of the chain entry. */
export function logEntryOf(accountId: string, sequence: number, auditHash: string): Buffer {
  return hash('sha384', `${accountId} ${sequence} ${auditHash}`, 'buffer')
}

/** `most`: a read ends with the commit with which it has so many. Positions stay valid after a failover. */
export function committedIn({ rows }: SimDatabase, position: LogPosition, most: number): CommittedEntries {
  const from = position === '' ? 0 : Number(position)
  const { places, next, hasMore, isHeldBack } = rows.events.chainEntries(from, most)
  const auditHashOf = ({ kind, shard_id: at, id, number, txn_id: txnId }: EventPlace): string | undefined => {
    const shardId = at ?? 0
    if (kind === 'transaction')
      return rows.transactionTable.row({ shardId, txnId: txnId ?? '' })?.transaction.auditHash ?? undefined
    const entries = rows.entries.get(`${shardId} ${id}`) ?? []
    return entries.find(({ sequence }) => sequence === Number(number))?.auditHash
  }
  const entries = places.map((place) => {
    const auditHash = auditHashOf(place)
    if (auditHash === undefined) throw new Error(`${place.id} has no entry ${place.number}`)
    return logEntryOf(place.id, Number(place.number), auditHash)
  })
  const sorted = entries.toSorted((left, right) => Buffer.compare(left, right))
  return { entries: sorted, position: String(next), hasMore, isHeldBack }
}
