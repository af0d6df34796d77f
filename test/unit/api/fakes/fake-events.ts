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
      const start = Number(after ?? '0')
      if (start > log.length) throw new EventPositionForeign('The position belongs to another database.')
      const events = log.slice(start, start + limit)
      const next = start + events.length
      return { events, next: String(next), atEnd: next === log.length }
    },
    end: async () => String(log.length),
    isAfter: (one, other) => Number(one) > Number(other),
    erasedNameOf: (accountId) => `erased:${accountId}`,
  }
  return fake
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
