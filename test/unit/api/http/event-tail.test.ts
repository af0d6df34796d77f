/** The tail of the event log (T1 to T5 of event-tail.ts). Its use by pages and streams: routes/events.test.ts. */
import { expect, test } from 'vitest'
import { createEventTail } from '../../../../api/endpoint/event-tail.ts'
import { EventsUnavailable } from '../../../../runtime/ports/ledger-events.ts'
import { accountEvent, createFakeEvents } from '../fakes/fake-events.ts'
import { WHOLE_SCOPE } from '../../../../actors/account-scope.ts'
import { selectsEvent } from '../../../../api/endpoint/event-filter.ts'
import { createManualClock } from './waiting-clock.ts'

const WHOLE = { scope: WHOLE_SCOPE, clientId: 'client' }

test('T5: an event wakes those that select it, and the others learn how far the log has gone', async () => {
  const events = createFakeEvents()
  const clock = createManualClock(0)
  const tail = createEventTail({ events, clock })
  const leave = tail.listen()
  await clock.advance(60)
  const examined: string[] = []
  const resumed: Record<string, string> = {}
  const waitFor = (name: string, accountId: string | null, ms: number): void => {
    const selection = selectsEvent({ types: null, accountId, tokenId: null }, WHOLE, events)
    const selects: typeof selection.selects = (event) => {
      examined.push(name)
      return selection.selects(event)
    }
    void tail.changed('0', ms, { ...selection, selects }).then((position) => (resumed[name] = position))
  }
  waitFor('alice', 'alice', 1_000)
  waitFor('bob', 'bob', 1_000)
  waitFor('any', null, 1_000)
  waitFor('erased', 'carol', 1_000)
  events.log.push(accountEvent(events.log, 'dave'), accountEvent(events.log, 'alice'))
  await clock.advance(60)
  // The one that selects any account was woken by the first event.
  expect([resumed, examined]).toEqual([{ alice: '0', any: '0' }, ['any', 'alice']])
  events.log.push(accountEvent(events.log, 'erased:carol'))
  await clock.advance(60)
  expect(resumed).toEqual({ alice: '0', any: '0', erased: '2' })
  await clock.advance(1_000)
  expect(resumed).toEqual({ alice: '0', any: '0', erased: '2', bob: '3' })
  leave()
})

test('T3: if the log cannot be read, all that wait are woken, at the position that was reached', async () => {
  const events = createFakeEvents()
  const clock = createManualClock(0)
  const tail = createEventTail({ events, clock })
  const leave = tail.listen()
  await clock.advance(60)
  const selection = selectsEvent({ types: null, accountId: 'alice', tokenId: null }, WHOLE, events)
  const waiting = tail.changed('0', 60_000, selection)
  events.log.push(accountEvent(events.log, 'bob'))
  await clock.advance(60)
  events.failure = new EventsUnavailable('away')
  await clock.advance(60)
  expect(await waiting).toBe('1')
  leave()
})

test('T4: a read that ends after the last listener has left is forgotten', async () => {
  const fake = createFakeEvents()
  const clock = createManualClock(0)
  let letThrough: (() => void) | undefined
  let isHeld = false
  const held = async (): Promise<void> => {
    if (isHeld) await new Promise<void>((resolve) => (letThrough = resolve))
  }
  const events = { ...fake, read: (...asked: Parameters<typeof fake.read>) => held().then(() => fake.read(...asked)) }
  const tail = createEventTail({ events, clock })
  const leave = tail.listen()
  await clock.advance(60)
  fake.log.push(accountEvent(fake.log, 'alice'))
  isHeld = true
  await clock.advance(60)
  leave()
  isHeld = false
  letThrough?.()
  await clock.advance(60)
  // The account is erased while nothing follows the log.
  fake.log[0] = accountEvent([], 'erased:alice')
  const leaveAgain = tail.listen()
  expect((await tail.read('0', 10)).events.map(({ subject }) => subject)).toEqual(['erased:alice'])
  leaveAgain()
})
