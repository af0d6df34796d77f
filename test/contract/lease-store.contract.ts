/** The contract of every LeaseStore, real or simulated (L1-L3 of runtime/ports/lease-store.ts). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  LeaseStoreUnavailable,
  type LeaseStore,
  type Revision,
  type SessionRecord,
  type ShardHint,
} from '../../runtime/ports/lease-store.ts'

export interface LeaseStoreHarness {
  /** A separate client, like another process's. */
  readonly connect: () => Promise<LeaseStore>
  /** Runs until the promise settles. */
  readonly finish: <T>(promise: Promise<T>) => Promise<T>
  /** Runs until the condition holds; fails if it does not. */
  readonly until: (condition: () => boolean) => Promise<void>
  /** Runs until no operation is under way. */
  readonly settle: () => Promise<void>
  /** Until `run` settles, writes take effect in the store and their answers are lost. */
  readonly losingAnswers: (run: () => Promise<void>) => Promise<void>
  readonly loseStore: () => Promise<void>
  /** The store is back, unchanged. */
  readonly regainStore: () => Promise<void>
  /** The store loses all data, and comes back empty. */
  readonly emptyStore: () => Promise<void>
  readonly close: () => Promise<void>
}

const MAX_LOOKS = 10_000

export function leaseStoreContract(name: string, createHarness: () => Promise<LeaseStoreHarness>): void {
  describe(`LeaseStore contract: ${name}`, () => {
    let harness: LeaseStoreHarness
    let store: LeaseStore
    let other: LeaseStore
    beforeEach(async () => {
      harness = await createHarness()
      store = await harness.connect()
      other = await harness.connect()
    })
    afterEach(() => harness.close())

    const renew = (by: LeaseStore, session: SessionRecord, seen: Revision): Promise<Revision | 'conflict'> =>
      harness.finish(by.renew(session, seen))
    const create = async (session: SessionRecord): Promise<Revision> => {
      const revision = await renew(store, session, 0)
      if (revision === 'conflict') throw new Error(`${session.nodeId} is there already`)
      return revision
    }
    const sessions = async (by: LeaseStore): Promise<unknown> =>
      [...(await harness.finish(by.list()))].sort((a, b) => a.nodeId.localeCompare(b.nodeId))
    const refusal = async (promise: Promise<unknown>): Promise<unknown> =>
      harness.finish(
        promise.then(
          () => 'did not fail',
          (error: unknown) => error,
        ),
      )

    /** A write whose answer was lost may take effect a little later. */
    const written = async (beyond: Revision): Promise<Revision> => {
      for (let look = 0; look < MAX_LOOKS; look += 1) {
        const [there] = await harness.finish(other.list())
        if (there !== undefined && there.revision > beyond) return there.revision
      }
      throw new Error('the write took no effect')
    }

    test('an empty store lists nothing', async () => {
      expect(await sessions(store)).toEqual([])
    })

    test('every client lists every session as it was last written, with its revision', async () => {
      const first = await create(sessionOf('a', { ready: false }))
      const second = await create(sessionOf('b', { draining: true, refusedShards: [3, 250] }))
      const third = await renew(store, sessionOf('a'), first)
      expect(await sessions(other)).toEqual([
        { ...sessionOf('a'), revision: third },
        { ...sessionOf('b', { draining: true, refusedShards: [3, 250] }), revision: second },
      ])
    })

    test('L1: revision 0 creates what is not there, and only that', async () => {
      const revision = await create(sessionOf('a'))
      expect(revision).toBeGreaterThan(0)
      expect(await renew(other, sessionOf('a', { session: 'b'.repeat(32) }), 0)).toBe('conflict')
      expect(await sessions(other)).toEqual([{ ...sessionOf('a'), revision }])
    })

    test('L1: a renewal succeeds on the last revision, which grows, and on no earlier one', async () => {
      const first = await create(sessionOf('a'))
      const second = await renew(store, sessionOf('a'), first)
      expect(second).toBeGreaterThan(first)
      expect(await renew(store, sessionOf('a'), first)).toBe('conflict')
      expect(await renew(other, sessionOf('a', { session: 'b'.repeat(32) }), first)).toBe('conflict')
      expect(await sessions(store)).toEqual([{ ...sessionOf('a'), revision: second }])
    })

    test('L1: a renewal of a key that is not there is a conflict', async () => {
      expect(await renew(store, sessionOf('a'), 7)).toBe('conflict')
      expect(await sessions(store)).toEqual([])
    })

    test('L1: of many that renew on one revision at once, exactly one succeeds', async () => {
      const racers = await Promise.all(Array.from({ length: 8 }, () => harness.connect()))
      let revision = await create(sessionOf('a'))
      for (let round = 0; round < 5; round += 1) {
        const seen = revision
        const outcomes = await harness.finish(
          Promise.all(
            racers.map((racer, index) => racer.renew(sessionOf('a', { session: racerSession(index) }), seen)),
          ),
        )
        const won = outcomes.filter((outcome) => outcome !== 'conflict')
        expect(won.length).toBe(1)
        revision = won[0] ?? 0
        const winner = outcomes.findIndex((outcome) => outcome !== 'conflict')
        expect(await sessions(store)).toEqual([{ ...sessionOf('a', { session: racerSession(winner) }), revision }])
      }
    })

    test('sessions of different nodes do not disturb each other', async () => {
      const revisions = await harness.finish(
        Promise.all(Array.from({ length: 40 }, (_, index) => store.renew(sessionOf(`node-${index}`), 0))),
      )
      expect(new Set(revisions).size).toBe(40)
      expect(revisions).not.toContain('conflict')
      expect(await harness.finish(other.list())).toHaveLength(40)
    })

    test('an ended session is gone, and its node can come back', async () => {
      await create(sessionOf('a'))
      const stays = await create(sessionOf('b'))
      await harness.finish(store.end('a'))
      expect(await sessions(other)).toEqual([{ ...sessionOf('b'), revision: stays }])
      const again = await renew(other, sessionOf('a', { session: 'c'.repeat(32) }), 0)
      expect(await sessions(store)).toEqual([
        { ...sessionOf('a', { session: 'c'.repeat(32) }), revision: again },
        { ...sessionOf('b'), revision: stays },
      ])
    })

    test('ending does not delete a key that another session has written since', async () => {
      const first = await create(sessionOf('a'))
      const next = sessionOf('a', { session: 'd'.repeat(32) })
      const revision = await renew(other, next, first)
      await harness.finish(store.end('a'))
      expect(await sessions(store)).toEqual([{ ...next, revision }])
    })

    test('ending a missing session has no effect', async () => {
      await harness.finish(store.end('unknown'))
      expect(await sessions(store)).toEqual([])
    })

    test('a watcher receives present and later hints, until it stops', async () => {
      const heard: ShardHint[] = []
      await harness.finish(store.hint(hintOf(1, 1)))
      await harness.finish(store.hint(hintOf(2, 1, null)))
      const watch = other.watchHints((hint) => heard.push(hint))
      await harness.until(() => heard.length >= 2)
      expect(heard).toEqual(expect.arrayContaining([hintOf(1, 1), hintOf(2, 1, null)]))
      await harness.finish(store.hint(hintOf(1, 2)))
      await harness.until(() => heard.some(({ epoch }) => epoch === 2))
      expect(heard).toContainEqual(hintOf(1, 2))
      watch.stop()
      const before = heard.length
      await harness.finish(store.hint(hintOf(1, 3)))
      await harness.settle()
      expect(heard.length).toBe(before)
    })

    test('L2, L3: while the store is away every call fails as LeaseStoreUnavailable; afterwards everything is as it was', async () => {
      const revision = await create(sessionOf('a'))
      await harness.loseStore()
      expect(await refusal(store.list())).toBeInstanceOf(LeaseStoreUnavailable)
      expect(await refusal(store.renew(sessionOf('a'), revision))).toBeInstanceOf(LeaseStoreUnavailable)
      expect(await refusal(store.hint(hintOf(1, 1)))).toBeInstanceOf(LeaseStoreUnavailable)
      expect(await refusal(store.end('a'))).toBeInstanceOf(LeaseStoreUnavailable)
      await harness.regainStore()
      expect(await sessions(other)).toEqual([{ ...sessionOf('a'), revision }])
      expect(await renew(store, sessionOf('a'), revision)).toBeGreaterThan(revision)
    })

    test('a watcher receives hints again after the store was away', async () => {
      const heard: ShardHint[] = []
      other.watchHints((hint) => heard.push(hint))
      await harness.finish(store.hint(hintOf(1, 1)))
      await harness.until(() => heard.length > 0)
      await harness.loseStore()
      await harness.regainStore()
      await harness.finish(store.hint(hintOf(1, 2)))
      await harness.until(() => heard.some(({ epoch }) => epoch === 2))
      expect(heard).toContainEqual(hintOf(1, 2))
    })

    test('a renewal whose answer was lost is unavailable, and the next one on the old revision builds upon it', async () => {
      const revision = await create(sessionOf('a'))
      let failure: unknown
      await harness.losingAnswers(async () => {
        failure = await refusal(store.renew(sessionOf('a', { ready: false }), revision))
      })
      expect(failure).toBeInstanceOf(LeaseStoreUnavailable)
      const lost = await written(revision)
      const next = await renew(store, sessionOf('a', { draining: true }), revision)
      expect(next).toBeGreaterThan(lost)
      expect(await sessions(other)).toEqual([{ ...sessionOf('a', { draining: true }), revision: next }])
    })

    test('a creation whose answer was lost is built upon as well, by its own session only', async () => {
      await sessions(store)
      await harness.losingAnswers(async () => {
        expect(await refusal(store.renew(sessionOf('a'), 0))).toBeInstanceOf(LeaseStoreUnavailable)
      })
      const lost = await written(0)
      expect(await renew(other, sessionOf('a', { session: 'e'.repeat(32) }), 0)).toBe('conflict')
      expect(await renew(store, sessionOf('a'), 0)).toBeGreaterThan(lost)
    })

    test('L1: a renewal in doubt that another session overtook is a conflict', async () => {
      const revision = await create(sessionOf('a'))
      await harness.losingAnswers(async () => {
        await refusal(store.renew(sessionOf('a'), revision))
      })
      const usurper = sessionOf('a', { session: 'f'.repeat(32) })
      expect(await renew(other, usurper, await written(revision))).not.toBe('conflict')
      expect(await renew(store, sessionOf('a'), revision)).toBe('conflict')
    })

    test('an emptied store takes a creation or a hint as its first call', async () => {
      await create(sessionOf('a'))
      await harness.finish(store.hint(hintOf(1, 1)))
      await harness.emptyStore()
      expect(await renew(store, sessionOf('a', { draining: true }), 0)).not.toBe('conflict')
      await harness.finish(store.hint(hintOf(2, 1)))
      const heard: ShardHint[] = []
      other.watchHints((hint) => heard.push(hint))
      await harness.until(() => heard.length > 0)
      expect(heard).toEqual([hintOf(2, 1)])
    })

    test('an emptied store lists nothing, knows no old revision, and is made anew by a creation', async () => {
      const revision = await create(sessionOf('a'))
      await harness.finish(store.hint(hintOf(1, 1)))
      await sessions(other)
      await harness.emptyStore()
      expect(await sessions(other)).toEqual([])
      expect(await renew(store, sessionOf('a'), revision)).toBe('conflict')
      const again = await create(sessionOf('a'))
      expect(await sessions(other)).toEqual([{ ...sessionOf('a'), revision: again }])
      await harness.finish(other.hint(hintOf(1, 2)))
      const heard: ShardHint[] = []
      store.watchHints((hint) => heard.push(hint))
      await harness.until(() => heard.length > 0)
      expect(heard).toEqual([hintOf(1, 2)])
    })
  })
}

function sessionOf(nodeId: string, fields: Partial<SessionRecord> = {}): SessionRecord {
  return { nodeId, session: 'a'.repeat(32), ready: true, draining: false, refusedShards: [], ...fields }
}

function racerSession(index: number): string {
  return String(index).repeat(32)
}

function hintOf(shardId: number, epoch: number, nodeId: string | null = 'a'): ShardHint {
  return { shardId, nodeId, session: nodeId === null ? null : 'a'.repeat(32), epoch }
}
