/** The contract of every LedgerReads for NFTs: classes, instances, owners and histories. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ClassState, classViewOf } from '../../../actors/nft-class/state.ts'
import { nftId } from '../../../actors/nft-id.ts'
import { type InstanceState, instanceViewOf } from '../../../actors/nft-instance/state.ts'
import type { TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import { classIdOf, classState, historyOf, instanceState, ownedBy } from '../../support/postgres/ledger-rows-nfts.ts'
import { aQuery, pagesOf, SEED_START_MS, type Seeded } from './ledger-reads-scene.ts'

const LATER_MS = SEED_START_MS + 12_000

let classes = 100

/** A class of its own for each test; later ones have larger IDs. */
function aClass(changes: Partial<ClassState> = {}): ClassState {
  classes += 1
  const name = `Class ${classes}`
  return classState({ id: name.toLowerCase(), name, classId: classIdOf(classes), status: 'active', ...changes })
}

function anInstance({ classId }: ClassState, instanceId: string, changes: Partial<InstanceState> = {}): InstanceState {
  return instanceState({ id: nftId({ classId, instanceId }), status: 'active', hold: null, ...changes })
}

export function nftTests(seeded: () => Seeded): void {
  classTests(seeded)
  instanceTests(seeded)
  ownedTests(seeded)
  historyTests(seeded)

  test('lists of transactions tell NFTs from tokens, and the count of a class is the count of a filter', async () => {
    const { reads, book, write } = seeded()
    const groupId = randomUUID()
    const { classId } = aClass()
    await write([
      book.decide('bob', { atMs: LATER_MS, groupId, tokenId: `${classId}/1`, type: 'burn' }),
      book.decide('bob', { atMs: LATER_MS + 1, groupId }),
      book.pend('bob', { atMs: LATER_MS + 2, groupId, tokenId: `${classId}/2`, type: 'transfer' }),
      book.pend('bob', { atMs: LATER_MS + 3, groupId, tokenId: 'EUR', type: 'transfer' }),
    ])
    const found = async (changes: Partial<TransactionQuery>) => {
      const { transactions, count } = await reads.transactions(aQuery({ groupId, ...changes }))
      return [transactions.map(({ tokenId }) => tokenId), count?.total]
    }
    expect(await found({ tokenClass: 'nft' })).toEqual([[`${classId}/2`, `${classId}/1`], 2])
    expect(await found({ tokenClass: 'fungible' })).toEqual([['EUR', 'BASE'], 2])
    expect(await found({ tokenClass: 'nft', order: 'asc' })).toEqual([[`${classId}/1`, `${classId}/2`], 2])
    expect(await found({ tokenClass: 'nft', tokenId: `${classId}/1` })).toEqual([[`${classId}/1`], 1])
    expect(await found({ tokenClass: 'fungible', tokenId: `${classId}/1` })).toEqual([[], 0])
    for (const tokenClass of ['NFT', '', 'nft ', 'fungible\0']) expect(await found({ tokenClass })).toEqual([[], 0])
    const all = book.transactions.filter(({ tokenId }) => tokenId.startsWith('cls_')).length
    const whole = await reads.transactions(aQuery({ tokenClass: 'nft', limit: 1 }))
    expect(whole.count).toEqual({ total: all, exact: true })
  })
}

function classTests(seeded: () => Seeded): void {
  test('a class is found by its ID, and only once its registration is final', async () => {
    const { reads, book, write } = seeded()
    const registered = aClass()
    const { classId } = registered
    await write([book.put({ ...registered, status: 'preparing' })])
    expect(await reads.nftClass(classId)).toBeUndefined()
    expect(await reads.instances(classId, null, 10)).toBeUndefined()
    await write([book.put({ ...registered, version: 2 })])
    expect(await reads.nftClass(classId)).toEqual(classViewOf(registered))
    expect(await reads.instances(classId, null, 10)).toEqual({ instances: [], next: null })
    const others = [
      '',
      'cls_',
      classId.toLowerCase(),
      `${classId}0`,
      registered.name,
      `${classId}\0`,
      classIdOf(99_999),
    ]
    for (const other of others) {
      expect(await reads.nftClass(other)).toBeUndefined()
      expect(await reads.instances(other, null, 10)).toBeUndefined()
    }
  })

  test('a removed class is not shown, nor counted', async () => {
    const { reads, book, write } = seeded()
    const removed = aClass()
    const total = (await reads.nftClasses(null, 1)).count?.total ?? 0
    await write([book.put(removed)])
    expect((await reads.nftClasses(null, 1)).count).toEqual({ total: total + 1, exact: true })
    await write([book.end(removed)])
    expect(await reads.nftClass(removed.classId)).toBeUndefined()
    expect((await reads.nftClasses(null, 1)).count).toEqual({ total, exact: true })
  })

  test('classes come by ID, each once, counted with the first page', async () => {
    const { reads, book, write } = seeded()
    const before = (await reads.nftClasses(null, 1_000)).classes
    const added = Array.from({ length: 7 }, () => aClass())
    const unfinished = aClass({ status: 'preparing' })
    await write([...added, unfinished].toReversed().map((state) => book.put(state)))
    const all = [...before, ...added.map(classViewOf)]
    for (const limit of [1, 2, all.length - 1, all.length, 1_000]) {
      const pages = await pagesOf((after: string | null) => reads.nftClasses(after, limit))
      expect(pages.flatMap((page) => page.classes)).toEqual(all)
      expect(pages).toHaveLength(Math.ceil(all.length / limit))
      const [first, ...others] = pages.map(({ count }) => count)
      expect(first).toEqual({ total: all.length, exact: true })
      expect(others).toEqual(others.map(() => null))
    }
    expect(await reads.nftClasses('cls_Z', 10)).toEqual({ classes: [], next: null, count: null })
  })
}

function instanceTests(seeded: () => Seeded): void {
  test('an instance is shown from its mint on, in every later state, and by exactly its ID', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const { classId } = ofClass
    const minting = anInstance(ofClass, 'No.1', { status: 'minting' })
    const active = ownedBy(minting, 'alice@bank')
    const held = ownedBy(active, 'alice@bank', { status: 'held' })
    const moved = ownedBy(held, 'bob')
    await write([book.put(ofClass), book.put(minting)])
    expect(await reads.instance(classId, 'No.1')).toBeUndefined()
    expect(await reads.instances(classId, null, 10)).toEqual({ instances: [], next: null })
    for (const state of [active, held, moved, ownedBy(moved, 'bob', { status: 'burned' })]) {
      await write([book.put(state)])
      expect(await reads.instance(classId, 'No.1')).toEqual(instanceViewOf(state))
      expect(await reads.instances(classId, null, 10)).toEqual({ instances: [instanceViewOf(state)], next: null })
    }
    const other = aClass()
    await write([book.put(other)])
    for (const instanceId of ['no.1', 'No.1 ', 'No', '', '.', 'No.1/', 'No.1\0']) {
      expect(await reads.instance(classId, instanceId)).toBeUndefined()
    }
    for (const id of [other.classId, classId.toLowerCase(), '', `${classId}/`]) {
      expect(await reads.instance(id, 'No.1')).toBeUndefined()
    }
  })

  test('a removed instance is not shown', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const { classId } = ofClass
    const removed = anInstance(ofClass, '1', { owner: 'Zoe' })
    const shown = async () => [
      (await reads.instance(classId, '1'))?.owner,
      (await reads.instances(classId, null, 10))?.instances.length,
      (await reads.ownedNfts('Zoe', `${classId}/`, 10))?.nfts.length,
      (await reads.nftHistory(classId, '1', -1, 10))?.events.length,
    ]
    await write([book.put(ofClass), book.put(removed, ...historyOf(['Zoe']))])
    expect(await shown()).toEqual(['Zoe', 1, 1, 1])
    await write([book.end(removed)])
    expect(await shown()).toEqual([undefined, 0, 0, undefined])
  })

  test('instances of a class come by ID in code-unit order, each once, and no other class has any among them', async () => {
    const { reads, book, write } = seeded()
    const [before, ofClass, behind] = [aClass(), aClass(), aClass()]
    const { classId } = ofClass
    const names = ['-', '.a', '0', '1', '10', '2', ':', '@', 'A', 'Z', '_', 'a', 'ab', 'b', 'z'.repeat(128)]
    const statuses = ['active', 'held', 'burned'] as const
    const instances = names.map((name, index) =>
      anInstance(ofClass, name, { status: statuses[index % 3] ?? 'active', metadata: { name } }),
    )
    const unfinished = ['0a', 'zz'].map((name) => anInstance(ofClass, name, { status: 'minting' }))
    const foreign = [before, behind].flatMap((other) => ['-', 'm', 'zz'].map((name) => anInstance(other, name)))
    const states = [
      ...[before, ofClass, behind].toReversed(),
      ...[...instances, ...unfinished, ...foreign].toReversed(),
    ]
    await write(states.map((state) => book.put(state)))
    const all = instances.map(instanceViewOf)
    for (const limit of [1, 2, 7, names.length - 1, names.length, 1_000]) {
      const pages = await pagesOf((after: string | null) => reads.instances(classId, after, limit))
      expect(pages.flatMap((page) => page.instances)).toEqual(all)
      expect(pages).toHaveLength(Math.ceil(all.length / limit))
    }
    expect((await reads.instances(classId, '10', 1))?.instances).toEqual([all[5]])
    expect((await reads.instances(classId, '1a', 1))?.instances).toEqual([all[5]])
    const last = 'z'.repeat(128)
    expect(await reads.instances(classId, last, 10)).toEqual({ instances: [], next: null })
  })
}

function ownedTests(seeded: () => Seeded): void {
  test('what an account owns comes by class and instance, each once, with the name of its class', async () => {
    const { reads, book, write } = seeded()
    const [first, second] = [aClass({ name: 'First "class" é' }), aClass()]
    await write([book.open('collector', LATER_MS), book.open('collector.2', LATER_MS)])
    expect(await reads.ownedNfts('collector', null, 10)).toEqual({ nfts: [], next: null })
    const mine = [
      anInstance(first, 'b', { owner: 'collector', acquiredAtMs: LATER_MS + 1 }),
      anInstance(first, 'ba', { owner: 'collector', status: 'held', acquiredAtMs: LATER_MS + 2 }),
      anInstance(second, '10', { owner: 'collector', acquiredAtMs: LATER_MS + 3 }),
      anInstance(second, '9', { owner: 'collector', acquiredAtMs: LATER_MS + 4 }),
      anInstance(second, 'B', { owner: 'collector', acquiredAtMs: LATER_MS + 5 }),
    ]
    const others = [
      anInstance(first, 'a', { owner: 'collector.2' }),
      anInstance(first, 'bb', { owner: 'collector', status: 'minting' }),
      anInstance(second, 'A', { owner: 'collector', status: 'burned' }),
      anInstance(second, 'C', { owner: 'Collector' }),
    ]
    await write([first, second, ...others, ...mine.toReversed()].map((state) => book.put(state)))
    const all = mine.map((state, index) => ({
      ...instanceViewOf(state),
      className: index < 2 ? first.name : second.name,
      acquiredAtMs: LATER_MS + 1 + index,
    }))
    for (const limit of [1, 2, 4, 5, 1_000]) {
      const pages = await pagesOf((after: string | null) => reads.ownedNfts('collector', after, limit))
      expect(pages.flatMap((page) => page.nfts)).toEqual(all)
      expect(pages).toHaveLength(Math.ceil(all.length / limit))
    }
    expect((await reads.ownedNfts('collector', mine[1]?.id ?? '', 1))?.nfts).toEqual([all[2]])
    for (const accountId of ['unknown', 'Collector', '', 'a\0b']) {
      expect(await reads.ownedNfts(accountId, null, 10)).toBeUndefined()
    }
  })

  test('an NFT that changes hands leaves one list for the other, and one that is burned leaves all', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const start = anInstance(ofClass, '1', { owner: 'dave.x' })
    const owners = async () => {
      const lists = await Promise.all(['dave.x', 'erin-y'].map((accountId) => reads.ownedNfts(accountId, null, 100)))
      return lists.map((list) => list?.nfts.filter(({ classId }) => classId === ofClass.classId).length)
    }
    await write([book.put(ofClass), book.put(start)])
    expect(await owners()).toEqual([1, 0])
    const held = ownedBy(start, 'dave.x', { status: 'held' })
    const given = ownedBy(held, 'erin-y', { acquiredAtMs: LATER_MS })
    await write([book.put(held)])
    expect(await owners()).toEqual([1, 0])
    await write([book.put(given)])
    expect(await owners()).toEqual([0, 1])
    await write([book.put(ownedBy(given, 'erin-y', { status: 'burned' }))])
    expect(await owners()).toEqual([0, 0])
  })
}

function historyTests(seeded: () => Seeded): void {
  test('a history comes oldest first, page by page, as it was written, and stays when the NFT is burned', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const { classId } = ofClass
    const [instance, other] = [anInstance(ofClass, '1'), anInstance(ofClass, '10')]
    const events = historyOf(['alice', 'bob', 'carol', 'bob', 'alice', 'bob', 'dave'], true)
    await write([
      book.put(ofClass),
      book.put(instance, ...events.slice(0, 1)),
      book.put(ownedBy(instance, 'dave', { status: 'burned' }), ...events.slice(1).toReversed()),
      book.put(other, ...historyOf(['erin'])),
    ])
    for (const limit of [1, 3, 7, 8, 1_000]) {
      const pages = await pagesOf((after: number | null) => reads.nftHistory(classId, '1', after ?? -1, limit))
      expect(pages.flatMap((page) => page.events)).toEqual(events)
      expect(pages).toHaveLength(Math.ceil(events.length / limit))
    }
    expect(await reads.nftHistory(classId, '1', 7, 10)).toEqual({ events: [], next: null })
    expect(await reads.nftHistory(classId, '1', 2 ** 40, 10)).toEqual({ events: [], next: null })
    expect(await reads.nftHistory(classId, '10', -1, 10)).toEqual({ events: historyOf(['erin']), next: null })
    for (const [id, instanceId] of [
      [classId, '2'],
      [classId, '1\0'],
      [aClass().classId, '1'],
      ['', '1'],
    ] as const) {
      expect(await reads.nftHistory(id, instanceId, -1, 10)).toBeUndefined()
    }
  })

  test('an NFT that is being minted has no history, though an earlier mint of it was refused', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const minting = anInstance(ofClass, '1', { status: 'minting' })
    await write([book.put(ofClass), book.put(minting), book.end(minting), book.put(minting)])
    expect(await reads.nftHistory(ofClass.classId, '1', -1, 10)).toBeUndefined()
    await write([book.put(ownedBy(minting, 'bob'), ...historyOf(['bob']))])
    expect((await reads.nftHistory(ofClass.classId, '1', -1, 10))?.events).toEqual(historyOf(['bob']))
  })

  test('D8: once an NFT is seen to have changed hands, reads that begin then show all of it', async () => {
    const { reads, book, write } = seeded()
    const ofClass = aClass()
    const { classId } = ofClass
    const start = anInstance(ofClass, '1', { owner: 'dave.x' })
    const events = historyOf(['dave.x', 'Zoe'])
    await write([book.put(ofClass), book.put(start, ...events.slice(0, 1))])
    const writing = write([book.put(ownedBy(start, 'Zoe', { events: 2 }), ...events.slice(1))])
    let seen = await reads.instance(classId, '1')
    while (seen?.owner === 'dave.x') seen = await reads.instance(classId, '1')
    const [history, owned] = await Promise.all([
      reads.nftHistory(classId, '1', -1, 10),
      reads.ownedNfts('Zoe', null, 9),
    ])
    await writing
    expect(seen?.owner).toBe('Zoe')
    expect(history?.events).toEqual(events)
    expect(owned?.nfts.map((nft) => nftId(nft))).toEqual([`${classId}/1`])
  })
}
