/** The tail of the event log (T1 to T4 of event-tail.ts). Its use by pages and streams: routes/events.test.ts. */
import { expect, test } from 'vitest'
import { createEventTail } from '../../../../api/endpoint/event-tail.ts'
import { accountEvent, createFakeEvents } from '../fakes/fake-events.ts'
import { createManualClock } from './waiting-clock.ts'

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
