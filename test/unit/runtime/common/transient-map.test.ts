/** It behaves like a Map. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TransientMap } from '../../../../runtime/common/transient-map.ts'

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: fc.nat({ max: 6 }), value: fc.nat() }),
  fc.record({ kind: fc.constant('delete' as const), key: fc.nat({ max: 6 }) }),
  fc.record({ kind: fc.constant('clear' as const) }),
)

type Step =
  | { readonly kind: 'set'; readonly key: number; readonly value: number }
  | { readonly kind: 'delete'; readonly key: number }
  | { readonly kind: 'clear' }

/** The result of a deletion. */
function take(map: TransientMap<number, number> | Map<number, number>, done: Step): boolean | undefined {
  if (done.kind === 'delete') return map.delete(done.key)
  if (done.kind === 'clear') map.clear()
  else map.set(done.key, done.value)
  return undefined
}

test('whatever is done to it, it says what a Map says, in the same order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [brief, map] = [new TransientMap<number, number>(), new Map<number, number>()]
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
  const map = new TransientMap<string, number>()
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
