/** An event log in memory, which a test fills. A position is the number of events before it. */
import {
  EventPositionForeign,
  type EventPage,
  type LedgerEvent,
  type LedgerEvents,
} from '../../../../runtime/ports/ledger-events.ts'

export interface FakeEvents extends LedgerEvents {
  readonly log: LedgerEvent[]
  /** The number of events of each read. */
  readonly limits: number[]
  /** Rejects all reads. */
  failure?: Error
  /** Replaces the account by its pseudonym in all events, and adds the event of its erasure. */
  readonly erase: (accountId: string) => void
}

export function createFakeEvents(): FakeEvents {
  const log: LedgerEvent[] = []
  const limits: number[] = []
  const fake: FakeEvents = {
    log,
    limits,
    async read(after, limit): Promise<EventPage> {
      limits.push(limit)
      if (fake.failure !== undefined) throw fake.failure
      const start = /^[0-9]+$/.test(after ?? '0') ? Number(after ?? '0') : Number.NaN
      if (!(start <= log.length)) throw new EventPositionForeign('The position belongs to another database.')
      const events = log.slice(start, start + limit)
      const next = start + events.length
      return { events, next: String(next), atEnd: next === log.length }
    },
    end: async () => String(log.length),
    isAfter: (one, other) => Number(one) > Number(other),
    erasedNameOf,
    erase(accountId) {
      for (const [index, event] of log.entries()) {
        if (event.accountIds.includes(accountId)) log[index] = erasedEvent(event, accountId)
      }
      log.push(erasedEvent(accountEvent(log, accountId, { name: 'account.erased' }), accountId))
    },
  }
  return fake
}

function erasedNameOf(accountId: string): string {
  return `erased:${accountId}`
}

function erasedEvent(event: LedgerEvent, accountId: string): LedgerEvent {
  const renamed = (id: string): string => (id === accountId ? erasedNameOf(accountId) : id)
  const { content } = event
  return {
    ...event,
    subject: renamed(event.subject),
    timeMs: null,
    accountIds: event.accountIds.map(renamed),
    content:
      content.kind === 'entry' && content.accountId === accountId
        ? { kind: 'entry', accountId: renamed(accountId), entry: { ...content.entry, payload: null } }
        : content,
  }
}

/** The event of an entry of the account, with the next position. */
export function accountEvent(
  log: readonly LedgerEvent[],
  accountId: string,
  over: Partial<LedgerEvent> = {},
): LedgerEvent {
  const number = log.length + 1
  const hashes = { previousHash: '0'.repeat(64), auditHash: 'ab'.repeat(32) }
  return {
    id: `evt_${String(number).padStart(32, '0')}`,
    name: 'account.registered',
    subject: accountId,
    timeMs: 1_760_000_000_000,
    accountIds: [accountId],
    tokenIds: [],
    content: { kind: 'entry', accountId, entry: { sequence: 0, payload: '{}', ...hashes } },
    position: String(number),
    ...over,
  }
}
