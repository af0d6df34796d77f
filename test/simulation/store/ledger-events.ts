/** The event log over the simulated database: each call takes effect at once. IDs and pages are as in production. */
import { hash } from 'node:crypto'
import { receiptPayload } from '../../../actors/account/receipt.ts'
import { groupViewOf } from '../../../actors/group/state.ts'
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
import type { Rows } from './rows.ts'

type EventFacts = Omit<LedgerEvent, 'id' | 'position'>

export function createSimLedgerEvents(database: SimDatabase, ledgerId: string): LedgerEvents {
  /** Readers read most events several times. By whether the account was erased, and the name of the event. */
  const known = new Map<string, Omit<LedgerEvent, 'position'>>()
  const eventAt = (place: EventPlace, rows: Rows): Omit<LedgerEvent, 'position'> => {
    const name = eventName(place)
    const isErased = rows.isErased({ shardId: place.shard_id ?? 0, accountId: place.id })
    const found = known.get(`${isErased} ${name}`)
    if (found !== undefined) return found
    const facts = place.kind === 'group' ? groupFacts(place, rows) : chainFacts(place, rows, { ledgerId, isErased })
    const event = { ...facts, id: `evt_${hash('sha256', name).slice(0, 32)}` }
    known.set(`${isErased} ${name}`, event)
    return event
  }
  return {
    async read(after, limit) {
      const { rows, acceptance } = database
      const from = after === null ? null : readPosition(after)
      const { xid, offset } = from ?? BEGINNING
      const found = pageOf(rows.events.query(xid, offset + limit, acceptance), from, limit)
      const events = found.places.map(({ place, ...at }) => ({
        ...eventAt(place, rows),
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

function erasedNameOf(accountId: string): string {
  return `erased:${hash('sha256', accountId).slice(0, 16)}`
}

function chainFacts(
  { kind, shard_id: at, id, number, txn_id: txnId }: EventPlace,
  rows: Rows,
  { ledgerId, isErased }: { readonly ledgerId: string; readonly isErased: boolean },
): EventFacts {
  const shardId = at ?? 0
  const accountId = isErased ? erasedNameOf(id) : id
  const facts = { subject: accountId, timeMs: null, accountIds: [accountId], tokenIds: [] }
  if (kind === 'entry') {
    const found = rows.entries.get(`${shardId} ${id}`) ?? []
    const entry = found.find(({ sequence }) => sequence === Number(number))
    if (entry === undefined) throw new Error(`${id} has no entry ${number}`)
    const { sequence, previousHash, auditHash, payload } = entry
    const isLast = entry === found.at(-1)
    const name = sequence === 0 ? 'account.registered' : isErased && isLast ? 'account.erased' : 'account.changed'
    const shown = { sequence, previousHash, auditHash, payload: isErased ? null : payload }
    return { ...facts, name, content: { kind, accountId, entry: shown } }
  }
  const row = rows.transactionTable.row({ shardId, txnId: txnId ?? '' })
  const receipt = row?.receipt ?? null
  if (row === undefined || receipt === null) throw new Error(`${txnId} is not final`)
  const { transaction } = row
  const { auditHash, processedAtMs: timeMs, tokenId } = transaction
  const name = transaction.status === 'completed' ? 'transaction.completed' : 'transaction.failed'
  if (isErased) {
    const shown = { txnId: transaction.txnId, auditHash }
    return { ...facts, name, timeMs, content: { kind: 'erased_transaction', accountId, transaction: shown } }
  }
  const signed = { payload: receiptPayload(transaction, ledgerId, receipt.keyId), signature: receipt.signature }
  const view = { ...transaction, compensatedBy: null, refunded: null }
  const content = { kind: 'transaction', transaction: view, receipt: signed } as const
  return { ...facts, name, timeMs, tokenIds: [tokenId], content }
}

function groupFacts({ shard_id: shardId, id }: EventPlace, rows: Rows): EventFacts {
  const state = rows.actors.state({ shardId: shardId ?? 0, address: { kind: 'group', id } })
  const group = state?.kind === 'group' ? groupViewOf(state) : undefined
  if (group === undefined) throw new Error(`${id} is no registered group`)
  const name = group.status === 'settled' ? 'group.settled' : 'group.reverted'
  return {
    name,
    subject: id,
    timeMs: group.finishedAtMs,
    accountIds: [],
    tokenIds: [],
    content: { kind: 'group', group },
  }
}
