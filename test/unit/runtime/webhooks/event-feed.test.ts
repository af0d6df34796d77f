/** Reads that webhooks share, and how old their pages are. */
import { expect, test } from 'vitest'
import { delay } from '../../../../runtime/ports/clock.ts'
import type { EventPage } from '../../../../runtime/ports/ledger-events.ts'
import { createEventFeed, FRESH_MS } from '../../../../runtime/webhooks/event-feed.ts'
import { createPageReader } from '../../../../runtime/webhooks/page-reader.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const SLOW_MS = 1_500

function createScene() {
  const clock = createManualClock(0)
  let reads = 0
  const read = async (): Promise<EventPage> => {
    reads += 1
    const next = `read ${reads}`
    await delay(clock, SLOW_MS)
    return { events: [], next, atEnd: true }
  }
  const feed = createEventFeed({ read }, clock)
  const readAfter = (ms: number) => delay(clock, ms).then(() => feed.read('5', 100))
  return { clock, feed, readAfter }
}

test('F2: a webhook that joins a read gets the time at which that read began', async () => {
  const { clock, feed, readAfter } = createScene()
  const first = feed.read('5', 100)
  const joined = readAfter(FRESH_MS - 1)
  await clock.pass(SLOW_MS)
  const page = { events: [], next: 'read 1', atEnd: true, readAtMs: 0 }
  expect(await Promise.all([first, joined])).toEqual([page, page])
})

test('F2: no webhook joins a read that began a second ago', async () => {
  const { clock, feed, readAfter } = createScene()
  const first = feed.read('5', 100)
  const second = readAfter(FRESH_MS)
  await clock.pass(SLOW_MS)
  const third = feed.read('5', 100)
  await clock.pass(SLOW_MS)
  expect(await first).toMatchObject({ next: 'read 1', readAtMs: 0 })
  expect(await second).toMatchObject({ next: 'read 2', readAtMs: FRESH_MS })
  expect(await third).toMatchObject({ next: 'read 2', readAtMs: FRESH_MS })
})

test('P1: a page that is read again is not that of the read ahead, which is still under way', async () => {
  const { clock, feed } = createScene()
  const pages = createPageReader(feed, clock)
  pages.readAhead('5', Promise.resolve())
  await clock.pass(FRESH_MS)
  const page = pages.read('5')
  await clock.pass(10 * SLOW_MS)
  expect((await page).readAtMs).toBeGreaterThanOrEqual(FRESH_MS)
  expect((await page).next).toBe('read 2')
})
