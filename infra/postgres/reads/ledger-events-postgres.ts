/** The event log (D23), read from the rows of the commits. Invariants V1 to V4 of the port. */
import {
  EventPositionForeign,
  EventsUnavailable,
  type EventPage,
  type LedgerEvent,
  type LedgerEvents,
} from '../../../runtime/ports/ledger-events.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { createQueryPool } from '../connection/query-pool.ts'
import { erasedName } from '../rows/erased-accounts.ts'
import { createNames } from './erased-names.ts'
import { actorFacts, openActors, renamedActors } from './event-contents-actors.ts'
import { readChainFacts } from './event-contents.ts'
import { type EventPlace, findEnd, findPlaces, positionText, readPosition } from './event-places.ts'
import { READ_SETTINGS } from './ledger-reads-postgres.ts'

export interface PostgresLedgerEvents extends LedgerEvents {
  readonly close: () => Promise<void>
}

export interface LedgerEventsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly vault: RowVault
  readonly poolSize?: number
}

const MAX_WAITING = 256

export function createLedgerEvents({ url, ledgerId, vault, poolSize = 4 }: LedgerEventsOptions): PostgresLedgerEvents {
  const pool = createQueryPool({
    url,
    name: 'ledger events',
    readsOnly: true,
    size: poolSize,
    maxWaiting: MAX_WAITING,
    settings: READ_SETTINGS,
    unavailable: (message, options) =>
      options.cause instanceof EventPositionForeign ? options.cause : new EventsUnavailable(message, options),
  })
  const names = createNames(pool, vault)

  async function read(after: string | null, limit: number): Promise<EventPage> {
    const from = after === null ? null : readPosition(after)
    const page = await pool.run(async (sql) => {
      const found = await findPlaces(sql, from, limit)
      const places = found.places.map(({ place }) => place)
      const chains = await readChainFacts(sql, places, { vault, ledgerId })
      return { ...found, chains, opened: await openActors(sql, places, vault) }
    })
    const { places, next, atEnd, acceptance, chains } = page
    const actors = actorFacts(await renamedActors(names, page.opened))
    const events = places.map(({ place, xid, offset }): LedgerEvent => {
      const facts = place.kind === 'transaction' || place.kind === 'entry' ? chains(place) : actors(place)
      return { ...facts, id: eventId(place, facts, vault), position: positionText({ acceptance, xid, offset }) }
    })
    return { events, next: positionText({ acceptance, ...next }), atEnd }
  }

  return {
    read,
    end: () =>
      pool.run(async (sql) => {
        const { settled, acceptance } = await findEnd(sql)
        return positionText({ acceptance, xid: settled, offset: 0 })
      }),
    isAfter: (one, other) => {
      const [a, b] = [readPosition(one), readPosition(other)]
      return a.xid === b.xid ? a.offset > b.offset : BigInt(a.xid) > BigInt(b.xid)
    },
    erasedNameOf: (accountId) => erasedName(vault.accountRef(accountId), vault),
    close: pool.close,
  }
}

/**
 * A keyed hash of the place's name, so that a reader cannot derive a reference of an account from it, and of what differs if
 * a restore has lost the fact and another one took its place. Nothing of it changes with an erasure.
 */
function eventId(
  { kind, shard_id: shardId, id, number, txn_id: txnId }: EventPlace,
  facts: Pick<LedgerEvent, 'name' | 'content'>,
  vault: RowVault,
): string {
  const name = kind === 'transaction' ? [kind, txnId] : [kind, shardId, id, number, differenceOf(facts)]
  const digits = Buffer.from(vault.keyRef('\u00a7event', name.join(' ')), 'base64url').toString('hex')
  return `evt_${digits}`
}

function differenceOf({ name, content }: Pick<LedgerEvent, 'name' | 'content'>): string {
  switch (content.kind) {
    case 'entry':
      return content.entry.auditHash
    case 'nft':
      return content.event.eventHash
    default:
      return name
  }
}
