/** Goal: P1 and P2: nothing is let go while a look-up that might miss it is open. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPinBoard } from '../../../runtime/node/pin-board.ts'

describe('the pin board', () => {
  test('P1: without an open look-up a pin is let go at once', () => {
    let free = false
    createPinBoard().pin(() => (free = true))
    expect(free).toBe(true)
  })

  test('P1: a pin waits for every look-up that was open, and for none that came later', () => {
    const board = createPinBoard()
    const first = board.open()
    const second = board.open()
    let free = false
    board.pin(() => (free = true))
    const third = board.open()
    board.close(second)
    expect(free).toBe(false)
    board.close(first)
    expect(free).toBe(true)
    board.close(third)
  })

  test('P1 holds for any order of opening, pinning and closing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('open', 'close', 'pin'), { maxLength: 200 }),
        fc.infiniteStream(fc.nat()),
        (verbs, picks) => {
          const board = createPinBoard()
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
