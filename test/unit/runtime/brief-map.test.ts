/** Goal: it is a Map in what it says, and what has left it is let go by the next minor collection. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BriefMap } from '../../../runtime/brief-map.ts'

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: fc.nat({ max: 6 }), value: fc.nat() }),
  fc.record({ kind: fc.constant('delete' as const), key: fc.nat({ max: 6 }) }),
  fc.record({ kind: fc.constant('clear' as const) }),
)

type Step =
  | { readonly kind: 'set'; readonly key: number; readonly value: number }
  | { readonly kind: 'delete'; readonly key: number }
  | { readonly kind: 'clear' }

/** What a deletion says. */
function take(map: BriefMap<number, number> | Map<number, number>, done: Step): boolean | undefined {
  if (done.kind === 'delete') return map.delete(done.key)
  if (done.kind === 'clear') map.clear()
  else map.set(done.key, done.value)
  return undefined
}

test('whatever is done to it, it says what a Map says, in the same order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [brief, map] = [new BriefMap<number, number>(), new Map<number, number>()]
      for (const done of steps) {
        expect(take(brief, done)).toBe(take(map, done))
        expect([...brief]).toEqual([...map])
        expect([...brief.values()]).toEqual([...map.values()])
        expect(brief.size).toBe(map.size)
        for (let key = 0; key <= 6; key += 1) {
          expect([brief.has(key), brief.get(key)]).toEqual([map.has(key), map.get(key)])
        }
      }
    }),
  )
})

test('entries may leave and come while it is gone through', () => {
  const map = new BriefMap<string, number>()
  for (const [number, key] of ['a', 'b', 'c'].entries()) map.set(key, number)
  const seen: string[] = []
  for (const [key] of map) {
    seen.push(key)
    if (key !== 'a') continue
    map.delete('a')
    map.delete('b')
    map.set('d', 3)
  }
  expect(seen).toEqual(['a', 'c', 'd'])
})

test('what has left it is not kept by its old tables', () => {
  const inMap = bytesLeftIn(new Map<number, readonly number[]>())
  const inBriefMap = bytesLeftIn(new BriefMap<number, readonly number[]>())
  // Where a Map keeps nothing either, nobody needs the other.
  expect(inMap).toBeGreaterThan(CHANGES * (VALUE_BYTES / 2))
  expect(inBriefMap).toBeLessThan(CHANGES * (VALUE_BYTES / 8))
})

const CHANGES = 20_000
const HELD_AT_ONCE = 100
const VALUE_BYTES = 8 * 128

interface Churned {
  readonly set: (key: number, value: readonly number[]) => unknown
  readonly delete: (key: number) => unknown
}

/** Bytes that minor collections leave of all that came and went. */
function bytesLeftIn(map: Churned): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void
  collect()
  const before = process.memoryUsage().heapUsed
  for (let key = 0; key < CHANGES; key += 1) {
    map.set(key, Array<number>(VALUE_BYTES / 8).fill(key))
    map.delete(key - HELD_AT_ONCE)
    if (key % 1_000 === 0) collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  return process.memoryUsage().heapUsed - before
}
