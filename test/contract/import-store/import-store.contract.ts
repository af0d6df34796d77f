/** Contract: ImportStore, S1 to S4. Run over PostgreSQL and over memory. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ImportHead, StagedPart } from '../../../infra/portability/import-documents.ts'
import { type ImportStore, MAX_STAGED, type NewPart } from '../../../infra/portability/import-store.ts'

export interface ImportStoreSubject {
  readonly store: ImportStore
  readonly close: () => Promise<void>
}

export const HEAD: ImportHead = {
  importId: '6b1c2f0a-3d47-4e58-8a69-0b1c2d3e4f50',
  status: 'staging',
  nextPart: 1,
  position: 0,
  total: 0,
  source: { ledgerId: 'the-other-ledger', partial: false, keySalt: 'ab'.repeat(16) },
  end: { lines: 2, tip: `sha256:${'cd'.repeat(32)}`, rank: 5, account: { accountId: 'alice', usedParts: 1 } },
  caller: { clientId: 'operations', role: 'admin', boundary: ['GOLD'] },
  summary: null,
  refusal: null,
  brought: null,
}

export const STAGED: StagedPart = {
  firstLine: 0,
  text: '{"record":"account","statement":"NEEDLE-é"}\n',
  balances: new Map([
    [
      1,
      new Map([
        ['GOLD', '777.5'],
        ['constructor', '1'],
        ['prototype', '2'],
        ['toString', '3'],
        ['hasOwnProperty', '4'],
      ]),
    ],
  ]),
}

export function aPart(part: number, text = STAGED.text): NewPart {
  return { part, content: `content of ${part} ${text}`, staged: { ...STAGED, text } }
}

function another(number: number): ImportHead {
  return { ...HEAD, importId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}` }
}

export function importStoreContract(name: string, open: () => Promise<ImportStoreSubject>): void {
  describe(`ImportStore: ${name}`, () => {
    let subject: ImportStoreSubject
    let store: ImportStore
    beforeEach(async () => {
      subject = await open()
      store = subject.store
    })
    afterEach(() => subject.close())

    test('a staged import is read as it was written, with its part', async () => {
      expect(await store.head(HEAD.importId)).toBeUndefined()
      expect(await store.begin(HEAD, aPart(0))).toBe('begun')
      expect(await store.head(HEAD.importId)).toEqual(HEAD)
      expect(await store.part(HEAD.importId, 0)).toEqual(STAGED)
      expect(await store.contentOf(HEAD.importId, 0)).toBe(aPart(0).content)
      expect(await store.contentOf(HEAD.importId, 1)).toBeUndefined()
      expect(await store.part(HEAD.importId, 1)).toBeUndefined()
      expect(await store.present(HEAD.importId, 0)).toBeUndefined()
    })

    test('concurrent calls begin an import once', async () => {
      const begun = await Promise.all([0, 1, 2, 3].map((one) => store.begin(HEAD, aPart(0, `text ${one}`))))
      expect(begun.filter((one) => one === 'begun')).toHaveLength(1)
      expect(begun.filter((one) => one === 'taken')).toHaveLength(3)
    })

    test('concurrent calls stage no more imports than the limit', async () => {
      const begun = await Promise.all(
        Array.from({ length: MAX_STAGED + 4 }, (_, at) => store.begin(another(at), aPart(0))),
      )
      expect(begun.filter((one) => one === 'begun')).toHaveLength(MAX_STAGED)
      expect(begun.filter((one) => one === 'full')).toHaveLength(4)
      const first = another(begun.indexOf('begun'))
      await store.change(first, { ...first, status: 'checking' })
      expect(await store.begin(another(99), aPart(0))).toBe('begun')
    })

    test('S2: one of several concurrent appends of a part succeeds, and only its content is there', async () => {
      await store.begin(HEAD, aPart(0))
      const after = { ...HEAD, nextPart: 2 }
      const appended = await Promise.all(
        ['a', 'b', 'c'].map((text) => store.change(HEAD, after, { next: aPart(1, text) })),
      )
      expect(appended.filter(Boolean)).toHaveLength(1)
      const text = ['a', 'b', 'c'][appended.indexOf(true)] ?? ''
      expect((await store.part(HEAD.importId, 1))?.text).toBe(text)
      expect(await store.contentOf(HEAD.importId, 1)).toBe(aPart(1, text).content)
    })

    test('S1: one of several concurrent changes of a head succeeds', async () => {
      await store.begin(HEAD, aPart(0))
      const applying: ImportHead = { ...HEAD, status: 'applying', total: 7 }
      expect(await store.change(HEAD, applying)).toBe(true)
      expect(await store.change(HEAD, { ...HEAD, status: 'checking' })).toBe(false)
      const both = await Promise.all([
        store.change(applying, { ...applying, status: 'taking' }),
        store.change(applying, { ...applying, status: 'refusing' }),
      ])
      expect(both.filter(Boolean)).toHaveLength(1)
      expect((await store.head(HEAD.importId))?.status).toBe(both[0] ? 'taking' : 'refusing')
    })

    test('S1: a step counts once, and the findings of a part stay', async () => {
      await store.begin(HEAD, aPart(0))
      const next = { ...HEAD, position: 1 }
      const found = { part: 0, present: { records: [3, 5], issuers: [1] } }
      const nothing = { part: 0, present: { records: [], issuers: [] } }
      expect(await store.change(HEAD, next, { found })).toBe(true)
      expect(await store.change(HEAD, next, { found: nothing })).toBe(false)
      expect(await store.change(next, { ...next, position: 2 }, { found: nothing })).toBe(true)
      expect(await store.present(HEAD.importId, 0)).toEqual(found.present)
    })

    test('S4: a decision sees the earlier decisions about the same ledger, and no others', async () => {
      const heads = [0, 1, 2].map((number) => ({ ...another(number), status: 'applying' as const }))
      const stranger = { ...another(3), source: { ...HEAD.source, ledgerId: 'a third ledger' } }
      for (const head of [...heads.map((one) => ({ ...one, status: 'staging' as const })), stranger]) {
        await store.begin(head, aPart(0))
      }
      for (const head of heads) await store.change({ ...head, status: 'staging' }, head)
      await store.change(stranger, { ...stranger, status: 'taking' })
      const brought = [{ tokenId: 'constructor', quantity: '7.5', supply: '10' }]
      const seen: (readonly string[])[] = []
      const decisions = await Promise.all(
        heads.map((head) =>
          store.decide(head, (taken) => {
            seen.push(taken.map(({ importId }) => importId).sort())
            expect(taken.map((one) => one.brought)).toEqual(taken.map(() => brought))
            return { ...head, status: 'taking', brought }
          }),
        ),
      )
      expect(decisions).toEqual([true, true, true])
      expect(seen.map((ids) => ids.length).toSorted((one, other) => one - other)).toEqual([0, 1, 2])
      const [first] = heads
      if (first === undefined) throw new Error('there is none')
      expect(await store.decide(first, () => ({ ...first, status: 'refusing' }))).toBe(false)
      expect((await store.head(first.importId))?.status).toBe('taking')
    })

    test('S3: an ended import keeps its result and none of its records', async () => {
      await store.begin(HEAD, aPart(0))
      const summary = { accounts: 1, tokens: 0, nftClasses: 0, nftInstances: 0, attestations: 0, present: 0 }
      const done: ImportHead = { ...HEAD, status: 'done', summary }
      expect(await store.change(HEAD, done, { ends: true })).toBe(true)
      expect(await store.head(HEAD.importId)).toEqual(done)
      expect(await store.part(HEAD.importId, 0)).toBeUndefined()
      expect(await store.contentOf(HEAD.importId, 0)).toBe(aPart(0).content)
      expect(await store.begin(HEAD, aPart(0))).toBe('taken')
    })

    test('a refused import frees its place once it has settled', async () => {
      await store.begin(HEAD, aPart(0))
      const refusal = { kind: 'invalid', faults: [{ code: 'balance', field: 'lines[3]', message: 'no' }] } as const
      const refused: ImportHead = { ...HEAD, status: 'refused', refusal }
      await store.change(HEAD, refused)
      expect(await store.head(HEAD.importId)).toEqual(refused)
      expect(await store.begin(HEAD, aPart(0, 'anew'))).toBe('taken')
      expect(await store.part(HEAD.importId, 0)).toEqual(STAGED)
      await store.settle(HEAD.importId)
      expect(await store.part(HEAD.importId, 0)).toBeUndefined()
      expect(await store.begin(HEAD, aPart(0, 'anew'))).toBe('begun')
      expect((await store.part(HEAD.importId, 0))?.text).toBe('anew')
      await store.settle(HEAD.importId)
      expect((await store.part(HEAD.importId, 0))?.text).toBe('anew')
    })

    test('discarding deletes an import unless it has progressed', async () => {
      await store.begin(HEAD, aPart(0))
      await store.change(HEAD, { ...HEAD, nextPart: 2 }, { next: aPart(1) })
      await store.discard(HEAD)
      expect(await store.head(HEAD.importId)).toBeDefined()
      await store.discard({ ...HEAD, nextPart: 2 })
      expect(await store.head(HEAD.importId)).toBeUndefined()
      expect(await store.contentOf(HEAD.importId, 0)).toBeUndefined()
    })

    test('unfinished imports without a driver are handed to one caller each', async () => {
      const [driven, staged, done, refused] = [another(1), another(2), another(3), another(4)]
      for (const head of [driven, staged, done, refused]) await store.begin(head, aPart(0))
      await store.change(driven, { ...driven, status: 'applying' })
      await store.change(done, { ...done, status: 'done' }, { ends: true })
      await store.change(refused, { ...refused, status: 'refused' })
      expect(await store.takeOver('unfinished', 60_000)).toEqual([])
      expect(await store.takeOver('unfinished', 0)).toEqual([driven.importId])
      expect(await store.takeOver('unsettled', 60_000)).toEqual([])
      expect(await store.takeOver('unsettled', 0)).toEqual([refused.importId])
      expect(await store.dropStale(60_000)).toBe(0)
      expect(await store.dropStale(0)).toBe(1)
      expect(await store.head(staged.importId)).toBeUndefined()
      expect(await store.contentOf(staged.importId, 0)).toBeUndefined()
      expect(await store.touch(driven.importId)).toBe('applying')
      expect(await store.touch(staged.importId)).toBeUndefined()
    })
  })
}
