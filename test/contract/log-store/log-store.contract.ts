/** The contract of every LogStore: G1 to G6 of the port. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LogSequencer, type TreeHead } from '../../../runtime/log/sequencer.ts'
import { HASH_BYTES, leafHash, rootOf } from '../../../runtime/log/tree.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'
import { LogPaused, type LogStore } from '../../../runtime/ports/log-store.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { added, batchOn, type LogStoreSubject, readOn, someEntries, sorted } from './log-store-scene.ts'

const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }

export function logStoreContract(name: string, create: () => Promise<LogStoreSubject>): void {
  describe(`LogStore: ${name}`, () => {
    let subject: LogStoreSubject
    beforeEach(async () => {
      subject = await create()
    })
    afterEach(() => subject.close())

    appendTests(() => subject)
    sequencerTests(() => subject)
    sinceTests(() => subject)
    publishTests(() => subject)
    tileTests(() => subject)
    leaseTests(() => subject)
    acceptanceTests(() => subject)
  })
}

function appendTests(subject: () => LogStoreSubject): void {
  test('G1: a new log is empty, and has what was appended, through every store', async () => {
    const { store, other } = subject()
    const empty = await store.head()
    expect(empty.edge.size).toBe(0)
    const entries = someEntries(3)
    const batch = batchOn(empty, entries, empty.position)
    expect(await store.append(empty, batch)).toBe(true)
    expect(await other.head()).toEqual({ edge: batch.edge, position: batch.position })
    expect(await other.entries(0, 3)).toEqual(Buffer.concat(entries))
  })

  test('G1: of appends to one head at the same time one is stored, and the others change nothing', async () => {
    const { store, other } = subject()
    await added(store, 5)
    const head = await store.head()
    const batches = Array.from({ length: 6 }, (_, index) => batchOn(head, someEntries(1 + index)))
    const stored = await Promise.all(
      batches.map((batch, index) => (index % 2 === 0 ? store : other).append(head, batch)),
    )
    expect(stored.filter(Boolean)).toEqual([true])
    const winner = batches[stored.indexOf(true)]
    if (winner === undefined) throw new Error('one is stored')
    const { edge } = await other.head()
    expect(edge).toEqual(winner.edge)
    expect(await rootIn(other, edge.size)).toEqual(rootOf(winner.edge))
    expect(await other.entries(0, edge.size + 1)).toBeUndefined()
  })

  test('G1: a batch that was computed from an earlier head changes nothing, of whatever size it is', async () => {
    const { store, other } = subject()
    const empty = await store.head()
    const paused = [batchOn(empty, someEntries(2)), batchOn(empty, someEntries(9))]
    const first = await added(other, 2)
    const later = [batchOn(first, someEntries(2)), batchOn(first, someEntries(9))]
    const second = await added(other, 2)
    for (const batch of paused) expect(await store.append(empty, batch)).toBe(false)
    for (const batch of later) expect(await store.append(first, batch)).toBe(false)
    expect(await store.head()).toEqual(second)
    expect(await rootIn(store, 4)).toEqual(rootOf(second.edge))
    expect(await store.entries(0, 5)).toBeUndefined()
  })

  test('G1: a batch that was computed from another head of the same size changes nothing', async () => {
    const { store } = subject()
    const empty = await store.head()
    const { edge, position } = batchOn(empty, someEntries(2))
    const head = await added(store, 2)
    expect(await store.append({ edge, position }, batchOn({ edge, position }, someEntries(1)))).toBe(false)
    expect(await store.head()).toEqual(head)
  })
}

function sequencerTests(subject: () => LogStoreSubject): void {
  test('G1: a sequencer that was paused before it appended, and lost its lease, adds no entry twice', async () => {
    const { store, other, commit, expireLease } = subject()
    const committed = [...(await commit(3)), ...(await commit(2))]
    const [computed, resumed] = [aMoment(), aMoment()]
    const first = startSequencer('first', {
      ...store,
      append: async (...appended) => {
        computed.comes()
        await resumed.came
        return store.append(...appended)
      },
    })
    const resting = first.clock.pass(1_000)
    await computed.came
    await expireLease()
    const second = startSequencer('second', other)
    await until(second, () => (second.heads.at(-1)?.size ?? 0) === committed.length)
    committed.push(...(await commit(4)))
    resumed.comes()
    await resting
    await until(second, () => (second.heads.at(-1)?.size ?? 0) === committed.length)
    await first.sequencer.stop()
    await second.sequencer.stop()
    expect(first.heads).toEqual([])
    const entries = (await store.entries(0, committed.length)) ?? Buffer.alloc(0)
    expect(sorted(committed.map((_, place) => entries.subarray(48 * place, 48 * place + 48)))).toEqual(
      sorted(committed),
    )
    expect(await store.entries(0, committed.length + 1)).toBeUndefined()
  })
}

function sinceTests(subject: () => LogStoreSubject): void {
  test('G2: each committed entry is read once, from the position of an earlier read or of the head on', async () => {
    const { store, other, commit } = subject()
    const { position } = await store.head()
    const first = [...(await commit(2)), ...(await commit(1))]
    const read = await readOn(store, position, 3)
    expect(sorted(read.entries)).toEqual(sorted(first))
    const second = await commit(3)
    const next = await readOn(other, read.position, 3)
    expect(sorted(next.entries)).toEqual(sorted(second))
    const head = await store.head()
    await store.append(head, batchOn(head, read.entries, read.position))
    expect((await store.head()).position).toBe(read.position)
    const again = await readOn(other, (await other.head()).position, 3)
    expect(sorted(again.entries)).toEqual(sorted(second))
    expect((await store.since(again.position)).entries).toEqual([])
  })

  test('G2: a commit in flight holds back those that start later, and is in a later read', async () => {
    const { store, commit, begin } = subject()
    const before = await commit(1)
    const inFlight = await begin(2)
    const after = await commit(1)
    const read = await readOn(store, (await store.head()).position, 1)
    expect(sorted(read.entries)).toEqual(sorted(before))
    const still = await store.since(read.position)
    expect([still.entries, still.hasMore, still.isHeldBack]).toEqual([[], false, true])
    await inFlight.commit()
    const next = await readOn(store, still.position, 3)
    expect(sorted(next.entries)).toEqual(sorted([...inFlight.entries, ...after]))
    expect((await store.since(next.position)).isHeldBack).toBe(false)
  })

  test('G2: a commit that failed has no entries, and holds nothing back any more', async () => {
    const { store, commit, begin } = subject()
    const failing = await begin(2)
    const after = await commit(1)
    const { position } = await store.since((await store.head()).position)
    await failing.rollBack()
    expect(sorted((await readOn(store, position, 1)).entries)).toEqual(sorted(after))
  })

  test('G2: a read ends with a whole commit, and the next one begins behind it', async () => {
    const { store, commit, pieceEntries } = subject()
    const count = Math.ceil(0.6 * pieceEntries)
    const commits = [await commit(count), await commit(count), await commit(count), await commit(1)]
    const first = await readOn(store, (await store.head()).position, 2 * count)
    expect(first.entries.length).toBe(2 * count)
    const second = await readOn(store, first.position, count + 1)
    expect((await store.since((await store.head()).position)).hasMore).toBe(true)
    expect((await store.since(first.position)).hasMore).toBe(false)
    // A difference of so many would take long to print.
    expect(sorted(first.entries).join() === sorted(commits.slice(0, 2).flat()).join()).toBe(true)
    expect(sorted(second.entries).join() === sorted(commits.slice(2).flat()).join()).toBe(true)
  })
}

function publishTests(subject: () => LogStoreSubject): void {
  test('G3: a published head is replaced by one that is as large or larger, through every store', async () => {
    const { store, other } = subject()
    expect(await store.published()).toBeUndefined()
    expect(await store.publish({ size: 5, note: 'five' })).toBe(true)
    expect(await other.publish({ size: 5, note: 'another five' })).toBe(true)
    expect(await other.publish({ size: 4, note: 'four' })).toBe(false)
    expect(await store.published()).toEqual({ size: 5, note: 'another five' })
    expect(await other.publish({ size: 6, note: 'six' })).toBe(true)
    expect(await store.published()).toEqual({ size: 6, note: 'six' })
  })

  test('G3: of heads that are published at the same time the largest stays', async () => {
    const { store, other } = subject()
    const sizes = [3, 9, 4, 8, 1, 7, 2]
    await Promise.all(
      sizes.map((size, index) => (index % 2 === 0 ? store : other).publish({ size, note: `note ${size}` })),
    )
    expect(await store.published()).toEqual({ size: 9, note: 'note 9' })
  })
}

function tileTests(subject: () => LogStoreSubject): void {
  test('G4: hashes and entries of a tile stay, and become more, and are those of the tree', async () => {
    const { store, other } = subject()
    const seen = new Map<string, Buffer>()
    const note = async (what: string, found: Promise<Buffer | undefined>): Promise<void> => {
      const content = await found
      if (content === undefined) throw new Error(`the log has ${what}`)
      expect([what, (seen.get(what) ?? content).equals(content)]).toEqual([what, true])
      seen.set(what, content)
    }
    for (const count of [1, 2, 252, 1, 1, 256, 300, 1]) {
      const { edge } = await added(store, count)
      const { size } = edge
      for (let number = 0; number * 256 < size; number += 1) {
        for (const width of [1, 2, 255, 256].filter((one) => number * 256 + one <= size)) {
          await note(`${width} entries of ${number}`, other.entries(number, width))
          await note(`${width} hashes of ${number}`, other.hashes(0, number, width))
        }
      }
      for (let width = 1; width <= Math.floor(size / 256); width += 1) {
        await note(`${width} hashes of level 1`, other.hashes(1, 0, width))
      }
      expect(await rootIn(other, size)).toEqual(rootOf(edge))
    }
    const entries = seen.get('256 entries of 1') ?? Buffer.alloc(0)
    const hashes = Array.from({ length: 256 }, (_, place) => leafHash(entries.subarray(48 * place, 48 * place + 48)))
    expect(seen.get('256 hashes of 1')).toEqual(Buffer.concat(hashes))
  })

  test('G4: what the tree does not have yet is not found', async () => {
    const { store } = subject()
    expect(await store.hashes(0, 0, 1)).toBeUndefined()
    await added(store, 300)
    expect((await store.hashes(0, 1, 44))?.length).toBe(44 * HASH_BYTES)
    expect((await store.hashes(1, 0, 1))?.length).toBe(HASH_BYTES)
    for (const found of [
      store.hashes(0, 1, 45),
      store.entries(1, 45),
      store.hashes(1, 0, 2),
      store.hashes(2, 0, 1),
      store.entries(2, 1),
    ]) {
      expect(await found).toBeUndefined()
    }
  })
}

function leaseTests(subject: () => LogStoreSubject): void {
  test('G5: of holders that claim at the same time one has the lease, and keeps it', async () => {
    const { store, other } = subject()
    const holders = ['a', 'b', 'c', 'd', 'e', 'f']
    const claims = await Promise.all(holders.map((holder, index) => (index % 2 === 0 ? store : other).claim(holder)))
    expect(claims.filter(Boolean)).toEqual([true])
    const holder = holders[claims.indexOf(true)] ?? ''
    expect(await other.claim(holder)).toBe(true)
    expect(await other.claim('another')).toBe(false)
  })

  test('G5: a lease that ended or was released goes to another holder, and others cannot release it', async () => {
    const { store, other, expireLease } = subject()
    expect(await store.claim('a')).toBe(true)
    await other.release('b')
    expect(await other.claim('b')).toBe(false)
    await expireLease()
    expect(await other.claim('b')).toBe(true)
    expect(await store.claim('a')).toBe(false)
    await store.release('a')
    expect(await store.claim('a')).toBe(false)
    await other.release('b')
    expect(await store.claim('a')).toBe(true)
  })

  test('G5: a holder whose lease ended while it worked has its batch stored as long as no other was', async () => {
    const { store, other, expireLease } = subject()
    expect(await store.claim('a')).toBe(true)
    const head = await store.head()
    const [first, second] = [batchOn(head, someEntries(1)), batchOn(head, someEntries(2))]
    await expireLease()
    expect(await other.claim('b')).toBe(true)
    expect(await store.append(head, first)).toBe(true)
    expect(await other.append(head, second)).toBe(false)
    expect((await other.head()).edge).toEqual(first.edge)
  })
}

function acceptanceTests(subject: () => LogStoreSubject): void {
  test('G6: a database that is not accepted is not read and not extended', async () => {
    const { store, commit, loseAcceptance } = subject()
    await commit(1)
    const head = await store.head()
    const batch = batchOn(head, someEntries(1))
    await loseAcceptance()
    for (const call of [
      () => store.head(),
      () => store.since(head.position),
      () => store.append(head, batch),
      () => store.publish({ size: 1, note: 'one' }),
    ]) {
      await expect(call()).rejects.toThrow(LogPaused)
    }
    expect(await store.entries(0, 1)).toBeUndefined()
    expect(await store.published()).toBeUndefined()
  })
}

function rootIn(store: LogStore, size: number): Promise<Buffer> {
  return new TreeProofs(async (...tile) => (await store.hashes(...tile)) ?? Buffer.alloc(0), size).root()
}

function aMoment() {
  let comes = (): void => undefined
  const came = new Promise<void>((resolve) => {
    comes = resolve
  })
  return { came, comes }
}

function startSequencer(holder: string, store: LogStore) {
  const heads: TreeHead[] = []
  const clock = createManualClock(0)
  const sequencer = new LogSequencer({ store, holder, clock, log: NO_LOG, onHead: (head) => void heads.push(head) })
  sequencer.start()
  return { sequencer, clock, heads }
}

async function until({ clock }: ReturnType<typeof startSequencer>, holds: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      await clock.pass(500)
      return holds()
    })
    .toBe(true)
}
