/** The contract of every IdempotencyStore: H1 to H5 of the port. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AnsweredRequest,
  type IdempotencyStore,
  KEPT_FOR_MS,
  type RequestKey,
} from '../../../runtime/ports/idempotency-store.ts'

export interface IdempotencyStoreSubject {
  readonly store: IdempotencyStore
  /** Of another edge. */
  readonly other: IdempotencyStore
  /** Makes the row of the key older by this time. */
  readonly age: (key: RequestKey, byMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)]

let serial = 0
function aKey(changes: Partial<RequestKey> = {}): RequestKey {
  serial += 1
  return { clientId: 'client', path: '/v1/nft-classes', idempotencyKey: `key ${serial}`, ...changes }
}

function anAnswer(text: string, payloadHash: string = ONE): AnsweredRequest {
  const headers = { location: '/v1/nft-classes/cls_1' }
  return {
    payloadHash,
    answer: { status: 201, contentType: 'application/json', headers, content: { kind: 'text', text } },
  }
}

export function idempotencyStoreContract(title: string, create: () => Promise<IdempotencyStoreSubject>): void {
  describe(`IdempotencyStore: ${title}`, () => {
    let subject: IdempotencyStoreSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    test('H1: the same request begins any number of times, another payload never beside it', async () => {
      const { store, other } = subject
      const key = aKey()
      expect(await store.begin(key, ONE)).toEqual({ kind: 'begun' })
      expect(await other.begin(key, ONE)).toEqual({ kind: 'begun' })
      expect(await other.begin(key, TWO)).toEqual({ kind: 'taken' })
    })

    test('H1: concurrent requests that begin under one key all have one payload', async () => {
      const { store, other } = subject
      for (let round = 0; round < 10; round += 1) {
        const key = aKey()
        const hashes = Array.from({ length: 12 }, (_, index) => String(index % 3).repeat(64))
        const begun = await Promise.all(hashes.map((hash, index) => (index % 2 === 0 ? store : other).begin(key, hash)))
        const winners = hashes.filter((_, index) => begun[index]?.kind === 'begun')
        expect(new Set(winners).size).toBe(1)
        expect(winners).toHaveLength(4)
      }
    })

    test('H1: clients, paths and keys each separate the scopes', async () => {
      const { store } = subject
      const key = aKey()
      const others = [{ clientId: 'x' }, { path: '/v1/accounts' }, { idempotencyKey: 'x' }].map((change) => ({
        ...key,
        ...change,
      }))
      for (const one of [key, ...others])
        expect(await store.begin(one, String(others.indexOf(one) + 2))).toEqual({ kind: 'begun' })
      await store.finish(key, anAnswer('mine'))
      for (const one of others) expect(await store.begin(one, 'z')).toEqual({ kind: 'taken' })
    })

    test('H2: the first reply stays, and every call returns it', async () => {
      const { store, other } = subject
      const key = aKey()
      await store.begin(key, ONE)
      await other.begin(key, ONE)
      const first = anAnswer('{"name":"é \\u0000 \\ud83d\\ude00"}  ')
      expect(await store.finish(key, first)).toEqual({ first: true, request: first })
      expect(await other.finish(key, anAnswer('second'))).toEqual({ first: false, request: first })
      for (const hash of [ONE, TWO]) {
        expect(await other.begin(key, hash)).toEqual({ kind: 'answered', request: first })
      }
    })

    test('H2: concurrent calls that finish all return one reply', async () => {
      const { store, other } = subject
      const key = aKey()
      await store.begin(key, ONE)
      const told = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? store : other).finish(key, anAnswer(String(index))),
        ),
      )
      expect(new Set(told.map(({ request }) => JSON.stringify(request))).size).toBe(1)
      expect(told.filter(({ first }) => first)).toHaveLength(1)
    })

    test('H3: a refusal frees the key if no other attempt is open', async () => {
      const { store, other } = subject
      const key = aKey()
      await store.begin(key, ONE)
      await store.refuse(key)
      expect(await other.begin(key, TWO)).toEqual({ kind: 'begun' })
      await other.refuse(key)
      await other.refuse(key)
      expect(await other.begin(key, ONE)).toEqual({ kind: 'begun' })
    })

    test('H3: it does not while another attempt is open', async () => {
      const { store, other } = subject
      const key = aKey()
      await store.begin(key, ONE)
      await other.begin(key, ONE)
      await other.refuse(key)
      expect(await other.begin(key, TWO)).toEqual({ kind: 'taken' })
      expect(await other.begin(key, ONE)).toEqual({ kind: 'begun' })
      await other.refuse(key)
      await store.refuse(key)
      expect(await other.begin(key, TWO)).toEqual({ kind: 'begun' })
    })

    test('H3: two concurrent refusals free the key, and a refusal after a reply changes nothing', async () => {
      const { store, other } = subject
      for (let round = 0; round < 10; round += 1) {
        const key = aKey()
        await Promise.all([store.begin(key, ONE), other.begin(key, ONE)])
        await Promise.all([store.refuse(key), other.refuse(key)])
        expect(await store.begin(key, TWO)).toEqual({ kind: 'begun' })
        await store.finish(key, anAnswer('done', TWO))
        await other.refuse(key)
        expect(await other.begin(key, ONE)).toMatchObject({ kind: 'answered' })
      }
    })

    test('H2: a reply whose row was freed before is still stored', async () => {
      const { store } = subject
      const key = aKey()
      await store.begin(key, ONE)
      await store.refuse(key)
      await store.finish(key, anAnswer('late'))
      expect(await store.begin(key, TWO)).toMatchObject({ kind: 'answered' })
    })

    test('H5: a key older than a day is free, with a reply or without', async () => {
      const { store, age } = subject
      for (const answered of [true, false]) {
        const key = aKey()
        await store.begin(key, ONE)
        if (answered) await store.finish(key, anAnswer('old'))
        await age(key, KEPT_FOR_MS - 60_000)
        expect(await store.begin(key, TWO)).toMatchObject({ kind: answered ? 'answered' : 'taken' })
        await age(key, 120_000)
        expect(await store.begin(key, TWO)).toEqual({ kind: 'begun' })
      }
    })

    test('parts are stored byte for byte, separately for each attempt', async () => {
      const { store, other } = subject
      const key = aKey()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)
      await store.keepPart(key, 'a', 0, bytes)
      await store.keepPart(key, 'a', 1, new Uint8Array())
      await store.keepPart(key, 'b', 0, bytes.subarray(1))
      expect(Buffer.from((await other.part(key, 'a', 0)) ?? []).equals(bytes)).toBe(true)
      expect((await other.part(key, 'a', 1))?.length).toBe(0)
      expect((await other.part(key, 'b', 0))?.length).toBe(69_999)
      expect(await other.part(key, 'b', 1)).toBeUndefined()
    })
  })
}
