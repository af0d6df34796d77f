/** The event log over the simulated database: each call takes effect at once. IDs and pages are as in production. */
import { hash } from 'node:crypto'
import {
  BEGINNING,
  type EventPlace,
  pageOf,
  positionText,
  readPosition,
  type StoredPosition,
} from '../../../infra/postgres/reads/event-places.ts'
import {
  type EventPosition,
  EventsUnavailable,
  type LedgerEvent,
  type LedgerEvents,
} from '../../../runtime/ports/ledger-events.ts'
import type { SimDatabase } from './database.ts'
import { erasedNameOf, factsAt } from './event-facts.ts'

export function createSimLedgerEvents(database: SimDatabase, ledgerId: string): LedgerEvents {
  /** Readers read most events several times. Those of chains change only with the erasure of their account. */
  const known = new Map<string, Omit<LedgerEvent, 'position'>>()
  const eventAt = (place: EventPlace): Omit<LedgerEvent, 'position'> => {
    const { kind, shard_id: shardId, id } = place
    const name = eventName(place)
    const isOfChain = kind === 'transaction' || kind === 'entry'
    const key = isOfChain ? `${database.rows.isErased({ shardId: shardId ?? 0, accountId: id })} ${name}` : undefined
    const found = key === undefined ? undefined : known.get(key)
    if (found !== undefined) return found
    const event = { ...factsAt(place, { database, ledgerId }), id: `evt_${hash('sha256', name).slice(0, 32)}` }
    if (key !== undefined) known.set(key, event)
    return event
  }
  return {
    async read(after, limit) {
      const { rows, acceptance } = database
      const from = after === null ? null : readPosition(after)
      const { xid, offset } = from ?? BEGINNING
      const found = pageOf(rows.events.query(xid, offset + limit, acceptance), from, limit)
      const events = found.places.map(({ place, ...at }) => ({
        ...eventAt(place),
        position: positionText({ acceptance: found.acceptance, ...at }),
      }))
      return { events, next: positionText({ acceptance: found.acceptance, ...found.next }), atEnd: found.atEnd }
    },
    end: async () => positionIn(database, { xid: String(database.rows.events.settled()), offset: 0 }),
    isAfter(one, other) {
      const [left, right] = [readPosition(one), readPosition(other)]
      return left.xid === right.xid ? left.offset > right.offset : Number(left.xid) > Number(right.xid)
    },
    erasedNameOf,
  }
}

export function positionIn({ acceptance }: SimDatabase, at: Omit<StoredPosition, 'acceptance'>): EventPosition {
  if (acceptance === null) throw new EventsUnavailable('the server is not accepted')
  return positionText({ ...at, acceptance })
}

function eventName({ kind, shard_id: shardId, id, number, txn_id: txnId }: EventPlace): string {
  return (kind === 'transaction' ? [kind, txnId] : [kind, shardId, id, number]).join(' ')
}
