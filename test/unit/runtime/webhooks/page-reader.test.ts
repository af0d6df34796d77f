/** Reading ahead: when the next page is read, and when it is read again. */
import { describe, expect, test } from 'vitest'
import { EventsUnavailable } from '../../../../runtime/ports/ledger-events.ts'
import { FRESH_MS, type TimedPage } from '../../../../runtime/webhooks/event-feed.ts'
import { createPageReader } from '../../../../runtime/webhooks/page-reader.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

function createScene() {
  const clock = createManualClock(0)
  const reads: string[] = []
  const state = { failure: null as Error | null }
  const read = async (after: string): Promise<TimedPage> => {
    reads.push(after)
    if (state.failure !== null) throw state.failure
    return { events: [], next: `${after} read ${reads.length}`, atEnd: true, readAtMs: clock.monotonic() }
  }
  return { clock, reads, state, pages: createPageReader({ read }, clock) }
}

describe('page reader', () => {
  test('a page that was read ahead is returned without another read', async () => {
    const { clock, reads, pages } = createScene()
    pages.readAhead('5', Promise.resolve())
    await clock.pass(FRESH_MS - 1)
    expect(reads).toEqual(['5'])
    expect(await pages.read('5')).toMatchObject({ next: '5 read 1', readAtMs: 0 })
    expect(await pages.read('5')).toMatchObject({ next: '5 read 2', readAtMs: FRESH_MS - 1 })
  })

  test('P1: a page that was read ahead too early is read again', async () => {
    const { clock, pages } = createScene()
    pages.readAhead('5', Promise.resolve())
    await clock.pass(FRESH_MS)
    expect(await pages.read('5')).toMatchObject({ next: '5 read 2', readAtMs: FRESH_MS })
  })

  test('the read ahead begins only after its pause', async () => {
    const { clock, reads, pages } = createScene()
    pages.readAhead('5', new Promise((resolve) => clock.after(100, resolve)))
    await clock.pass(99)
    expect(reads).toEqual([])
    await clock.pass(1)
    expect(reads).toEqual(['5'])
  })

  test('a page for another position is not returned', async () => {
    const { clock, pages } = createScene()
    pages.readAhead('5', Promise.resolve())
    await clock.pass(0)
    expect(await pages.read('4')).toMatchObject({ next: '4 read 2' })
  })

  test('after a failed read ahead the page is read again, and that failure is the result', async () => {
    const { clock, reads, state, pages } = createScene()
    state.failure = new EventsUnavailable('away')
    pages.readAhead('5', Promise.resolve())
    await clock.pass(0)
    await expect(pages.read('5')).rejects.toThrow('away')
    state.failure = null
    expect(await pages.read('5')).toMatchObject({ next: '5 read 3' })
    expect(reads).toEqual(['5', '5', '5'])
  })
})
