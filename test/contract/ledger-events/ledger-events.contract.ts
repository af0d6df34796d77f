/** The contract of every event log: V2 to V4 of the port, and its positions. V1 and V3 need rows and running commits. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  EventPositionForeign,
  type EventPosition,
  type LedgerEvent,
  type LedgerEvents,
} from '../../../runtime/ports/ledger-events.ts'

export interface LedgerEventsSubject {
  readonly events: LedgerEvents
  /** Commits one fact about each account, one after the other. Resolves once the log has their events. */
  readonly commit: (...accountIds: readonly string[]) => Promise<void>
  /** Erases the account. Resolves once the log has the event of it. */
  readonly erase: (accountId: string) => Promise<void>
  /** A position of another database. Earlier positions of this one may be foreign, too, from then on. */
  readonly foreignPosition: () => Promise<EventPosition>
  readonly close: () => Promise<void>
}

const ALL = 1_000

export function ledgerEventsContract(title: string, create: () => Promise<LedgerEventsSubject>): void {
  describe(`LedgerEvents: ${title}`, () => {
    let subject: LedgerEventsSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    async function readAll(after: EventPosition | null, limit = ALL): Promise<readonly LedgerEvent[]> {
      const all: LedgerEvent[] = []
      for (let next = after; ;) {
        const page = await subject.events.read(next, limit)
        expect(page.events.length).toBeLessThanOrEqual(limit)
        all.push(...page.events)
        if (page.atEnd) return all
        next = page.next
      }
    }

    const subjectsOf = (of: readonly LedgerEvent[]): readonly string[] => of.map((event) => event.subject)

    test('a page of an empty log is at the end, and the first event follows its position', async () => {
      const { events, commit } = subject
      const page = await events.read(null, 10)
      expect([page.events, page.atEnd]).toEqual([[], true])
      await commit('first')
      expect(subjectsOf(await readAll(page.next))).toEqual(['first'])
      expect(subjectsOf(await readAll(null))).toEqual(['first'])
    })

    test('V2: pages of every size give each event once, in the order of the commits', async () => {
      const { events, commit } = subject
      const start = await events.end()
      const accountIds = Array.from({ length: 7 }, (_, index) => `ordered-${index}`)
      await commit(...accountIds)
      const all = await readAll(start)
      expect(subjectsOf(all)).toEqual(accountIds)
      for (const limit of [1, 2, 3, 7]) expect(await readAll(start, limit)).toEqual(all)
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    })

    test('a read continues behind the position of each event, of each page, and of the end', async () => {
      const { events, commit } = subject
      await commit('resumed-1', 'resumed-2', 'resumed-3')
      const all = await readAll(null)
      for (const [index, { position }] of all.entries()) expect(await readAll(position)).toEqual(all.slice(index + 1))
      const page = await events.read(null, 2)
      expect(await readAll(page.next)).toEqual(all.slice(2))
      const end = await events.end()
      expect(await readAll(end)).toEqual([])
      await commit('resumed-4')
      expect(subjectsOf(await readAll(end))).toEqual(['resumed-4'])
    })

    test('isAfter orders positions as the log orders events', async () => {
      const { events, commit } = subject
      await commit('compared-1', 'compared-2')
      const positions = (await readAll(null)).map(({ position }) => position)
      for (const [index, one] of positions.entries()) {
        const isAfter = positions.map((other) => events.isAfter(one, other))
        expect(isAfter).toEqual(positions.map((_, other) => other < index))
      }
      const [last, end] = [positions.at(-1) ?? '', await events.end()]
      expect([events.isAfter(last, end), events.isAfter(end, positions[0] ?? '')]).toEqual([false, true])
    })

    test('IDs and positions have the form of the port', async () => {
      for (const { id, position } of await readAll(null)) {
        expect(id).toMatch(/^evt_[0-9a-f]{32}$/)
        expect(position).toMatch(/^[\x20-\x7e]{1,100}$/)
      }
    })

    test('V4: an erasure leaves IDs, places and the pseudonym, and removes the content', async () => {
      const { events, commit, erase } = subject
      await commit('kept-by-all', 'erased-by-law')
      const before = await readAll(null)
      await erase('erased-by-law')
      const after = await readAll(null)
      const placesOf = (of: readonly LedgerEvent[]) => of.map(({ id, position }) => [id, position])
      expect(placesOf(after.slice(0, before.length))).toEqual(placesOf(before))
      const pseudonym = events.erasedNameOf('erased-by-law')
      const erased = after.filter(({ accountIds }) => accountIds.includes(pseudonym))
      expect(erased.length).toBeGreaterThanOrEqual(2)
      expect(erased.at(-1)?.name).toBe('account.erased')
      for (const event of erased) {
        expect(event).toMatchObject({ subject: pseudonym, content: { kind: 'entry', entry: { payload: null } } })
      }
      expect(subjectsOf(after)).toContain('kept-by-all')
      expect(JSON.stringify(after).replaceAll(pseudonym, '')).not.toContain('erased-by-law')
    })

    // Last: positions of this database can become foreign.
    test('a malformed position and one of another database are refused', async () => {
      const { events, foreignPosition } = subject
      for (const text of ['', 'x', `${await events.end()}.`, '-1']) {
        await expect(events.read(text, 1)).rejects.toThrow(EventPositionForeign)
      }
      await expect(events.read(await foreignPosition(), 1)).rejects.toThrow(EventPositionForeign)
      expect((await readAll(null)).length).toBeGreaterThan(10)
    })
  })
}
