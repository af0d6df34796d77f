/** Failures that a sequencer must survive, and what it says of them. */
import { expect, test } from 'vitest'
import { LogSequencer, type SequencerDependencies, type TreeHead } from '../../../../runtime/log/sequencer.ts'
import { type LogStore, LogStoreUnavailable } from '../../../../runtime/ports/log-store.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryLogState, createMemoryLogStore } from '../../../support/memory/log-store-memory.ts'

const PIECE = 3

/** `stands.at`: the number of entries below a transaction that has not ended. `spent`: time that calls took. */
function fixture() {
  const clock = createManualClock(0)
  const state = createMemoryLogState()
  const committed: Buffer[] = []
  const stands: { at: number | undefined } = { at: undefined }
  const spent = { ms: 0 }
  const since: LogStore['since'] = async (position) => {
    const [from, end] = [Number(position), stands.at ?? committed.length]
    const until = Math.min(end, from + PIECE)
    return {
      entries: committed.slice(from, until),
      position: String(until),
      hasMore: until < end,
      isHeldBack: end < committed.length,
    }
  }
  const events: string[] = []
  const write = (event: string): void => void events.push(event)
  const heads: TreeHead[] = []
  const start = (holder: string, changes: Partial<SequencerDependencies['store']> = {}): LogSequencer => {
    const sequencer = new LogSequencer({
      store: { ...createMemoryLogStore({ state, clock, since }), ...changes },
      holder,
      clock: { ...clock, monotonic: () => clock.monotonic() + spent.ms },
      log: { info: write, warn: write, error: write },
      onHead: (head) => void heads.push(head),
    })
    sequencer.start()
    return sequencer
  }
  const commit = (count: number): void => {
    for (let number = 0; number < count; number += 1) committed.push(Buffer.alloc(48, `entry ${committed.length}`))
  }
  return { clock, state, stands, spent, start, commit, events, heads }
}

test('Q2: one that saw the empty log goes on after the first reply to an append was lost', async () => {
  const { clock, state, start, commit, heads } = fixture()
  let isLost = true
  const { append } = createMemoryLogStore({ state, clock, since: () => Promise.reject(new Error('unused')) })
  const sequencer = start('a', {
    append: async (...batch) => {
      const isStored = await append(...batch)
      if (isLost) throw new LogStoreUnavailable('the reply was lost')
      return isStored
    },
  })
  await clock.pass(1_000)
  commit(2)
  await clock.pass(1_000)
  isLost = false
  commit(2)
  await clock.pass(2_000)
  expect(new Set(heads.map(({ size }) => size))).toEqual(new Set([0, 4]))
  await sequencer.stop()
})

test('Q3: another one goes on when the holder of the lease fails', async () => {
  const { clock, start, commit, heads, events } = fixture()
  const broken = start('broken', { since: () => Promise.reject(new LogStoreUnavailable('it always fails')) })
  await clock.pass(100)
  const sound = start('sound')
  commit(2)
  await clock.pass(2_000)
  expect(heads.at(-1)?.size).toBe(2)
  expect(events).toContain('log_not_extended')
  await broken.stop()
  await sound.stop()
})

test('a failure that lasts is reported once, and so is its end', async () => {
  const { clock, start, commit, events, heads } = fixture()
  let isBroken = true
  const sequencer = start('a', {
    claim: () => (isBroken ? Promise.reject(new LogStoreUnavailable('it is away')) : Promise.resolve(true)),
  })
  commit(1)
  await clock.pass(5_000)
  expect(events).toEqual(['log_not_extended'])
  isBroken = false
  await clock.pass(2_000)
  expect([events, heads.at(-1)?.size]).toEqual([['log_not_extended', 'log_resumed'], 1])
  await sequencer.stop()
})

test('G1: a refused append ends the attempt', async () => {
  const { clock, start, commit } = fixture()
  let appends = 0
  const sequencer = start('a', {
    append: async () => {
      appends += 1
      return false
    },
  })
  commit(1)
  await clock.pass(2_000)
  expect(appends).toBeGreaterThan(1)
  expect(appends).toBeLessThanOrEqual(2_000 / 500)
  await sequencer.stop()
})

test('G5: a long backlog is added only while the lease is held', async () => {
  const { clock, state, spent, start, commit } = fixture()
  commit(10 * PIECE)
  const { append } = createMemoryLogStore({ state, clock, since: () => Promise.reject(new Error('unused')) })
  const sequencer = start('a', {
    append: async (...batch) => {
      // Another one has taken the lease, which was not renewed in time.
      state.lease = { holder: 'b', untilMs: Infinity }
      spent.ms += 3_000
      return append(...batch)
    },
  })
  await clock.pass(5_000)
  expect(state.entries).toHaveLength(PIECE)
  await sequencer.stop()
})

test('a transaction that does not end is reported, and so is its end', async () => {
  const { clock, stands, start, commit, events, heads } = fixture()
  const sequencer = start('a')
  commit(1)
  await clock.pass(1_000)
  stands.at = 1
  commit(1)
  await clock.pass(14_000)
  expect([sequencer.measures().stalledMs, events]).toEqual([0, []])
  await clock.pass(5_000)
  expect(sequencer.measures().stalledMs).toBeGreaterThan(15_000)
  expect(events).toEqual(['log_stalled'])
  stands.at = undefined
  await clock.pass(1_000)
  expect([sequencer.measures().stalledMs, events]).toEqual([0, ['log_stalled', 'log_resumed']])
  expect(heads.at(-1)?.size).toBe(2)
  await sequencer.stop()
})
