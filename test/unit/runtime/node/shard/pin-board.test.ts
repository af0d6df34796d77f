/** P1, P2: an actor stays in memory while an open look-up might miss its last change. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPinBoard } from '../../../../../runtime/node/shard/pin-board.ts'

let nowMs = 0

describe('the pin board', () => {
  test('the age is that of the oldest look-up in flight', () => {
    const board = createPinBoard({ monotonic: () => nowMs })
    expect(board.oldestAgeMs()).toBe(0)
    const first = board.open()
    nowMs += 40
    const second = board.open()
    nowMs += 2
    expect(board.oldestAgeMs()).toBe(42)
    board.close(first)
    expect(board.oldestAgeMs()).toBe(2)
    board.close(second)
    expect(board.oldestAgeMs()).toBe(0)
  })

  test('P1 holds for any order of opening, pinning and closing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('open', 'close', 'pin'), { maxLength: 200 }),
        fc.infiniteStream(fc.nat()),
        (verbs, picks) => {
          const board = createPinBoard({ monotonic: () => nowMs })
          const open: number[] = []
          const held: { waitsFor: Set<number>; free: boolean }[] = []
          for (const verb of verbs) {
            if (verb === 'open') open.push(board.open())
            if (verb === 'close' && open.length > 0) {
              const [closed] = open.splice((picks.next().value ?? 0) % open.length, 1)
              for (const pin of held) pin.waitsFor.delete(closed ?? 0)
              board.close(closed ?? 0)
            }
            if (verb === 'pin') {
              const pin = { waitsFor: new Set(open), free: false }
              held.push(pin)
              board.pin(() => (pin.free = true))
            }
            for (const pin of held) expect(pin.free).toBe(pin.waitsFor.size === 0)
          }
        },
      ),
    )
  })
})
