/** F1 to F6: shares of the clients of an edge. */
import { describe, expect, test } from 'vitest'
import { createClientTurns, createSearchTurns, TURN_DEFAULTS } from '../../../../runtime/edge/client-turns.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const { least } = TURN_DEFAULTS

function createScene(settings = TURN_DEFAULTS) {
  const clock = createManualClock(0)
  const turns = createClientTurns(clock, settings)
  /** Numbers of the requests in progress, by client. */
  const begun: Record<string, number[]> = {}
  const ends = new Map<string, () => void>()
  let [asked, refused] = [0, 0]
  const ask = (clientId: string, count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const number = asked
      asked += 1
      void turns.begin(clientId).then((turn) => {
        if (turn === undefined) {
          refused += 1
          return
        }
        begun[clientId] = [...(begun[clientId] ?? []), number]
        ends.set(`${clientId} ${begun[clientId].length - 1}`, turn.end)
      })
    }
  }
  const running = async (clientId: string): Promise<number> => {
    await clock.pass(0)
    return begun[clientId]?.length ?? 0
  }
  return { clock, ask, running, end: (name: string) => ends.get(name)?.(), begun, refused: () => refused }
}

test('F1: a client without others beside it has as many requests in progress as it likes', async () => {
  const { ask, running } = createScene()
  ask('busy', 500)
  expect(await running('busy')).toBe(500)
})

test('F1: beside an active client it has the least share, and that client waits for none of its requests', async () => {
  const { ask, running } = createScene()
  ask('calm', 1)
  ask('busy', 500)
  expect(await running('busy')).toBe(least)
  ask('calm', 1)
  expect(await running('calm')).toBe(2)
})

test('F1: it has as many as all the others ask for', async () => {
  const { ask, running } = createScene()
  for (const clientId of ['a', 'b', 'c', 'd', 'e']) ask(clientId, 3)
  ask('busy', 500)
  expect(await running('busy')).toBe(15)
})

test('F1: a second after the last request of the others it is alone again', async () => {
  const { clock, ask, running, end } = createScene()
  ask('calm', 1)
  ask('busy', 100)
  expect(await running('busy')).toBe(least)
  end('calm 0')
  await clock.pass(1_100)
  end('busy 0')
  expect(await running('busy')).toBe(100)
})

test('F2: each end begins the next request, in order; a second call of an end changes nothing', async () => {
  const { ask, running, end, begun } = createScene()
  ask('calm', 1)
  ask('busy', 10)
  await running('busy')
  end('busy 0')
  end('busy 0')
  expect(await running('busy')).toBe(least + 1)
  end('busy 1')
  expect(await running('busy')).toBe(least + 2)
  expect(begun['busy']).toEqual(begun['busy']?.toSorted((a, b) => a - b))
})

describe('F3: a request that lasts', () => {
  test('does not keep the others of its client waiting for more than 100 ms', async () => {
    const { clock, ask, running } = createScene()
    ask('calm', 1)
    ask('busy', least + 3)
    expect(await running('busy')).toBe(least)
    await clock.pass(100)
    expect(await running('busy')).toBe(least + 3)
  })

  test('counts no less when it ends after that', async () => {
    const { clock, ask, running, end } = createScene()
    ask('calm', 1)
    ask('busy', 3 * least)
    await clock.pass(100)
    expect(await running('busy')).toBe(2 * least)
    for (let index = 0; index < least; index += 1) end(`busy ${index}`)
    expect(await running('busy')).toBe(2 * least)
    end(`busy ${least}`)
    expect(await running('busy')).toBe(2 * least + 1)
  })
})

test('F4: beyond its places a request is refused, and another client still has places', async () => {
  const { ask, running, refused } = createScene({ ...TURN_DEFAULTS, least: 2, maxWaiting: 5 })
  ask('calm', 1)
  ask('busy', 10)
  expect(await running('busy')).toBe(2)
  expect(refused()).toBe(5)
  ask('calm', 9)
  expect(await running('calm')).toBe(5)
  expect(refused()).toBe(5 + 4)
})

test('F4: a request that has begun leaves its place to another one', async () => {
  const { ask, running, end, refused } = createScene({ ...TURN_DEFAULTS, least: 1, maxWaiting: 2 })
  ask('calm', 1)
  for (let index = 0; index < 6; index += 1) {
    ask('busy', index === 0 ? 2 : 1)
    expect(await running('busy')).toBe(index + 1)
    end(`busy ${index}`)
  }
  expect(refused()).toBe(0)
})

test('F5: a request that waited for too long is refused, and the one behind it proceeds', async () => {
  const { clock, ask, running, end, begun, refused } = createScene({ ...TURN_DEFAULTS, least: 1, maxWaitMs: 40 })
  ask('calm', 1)
  ask('busy', 2)
  await clock.pass(30)
  ask('busy', 1)
  await clock.pass(20)
  expect(refused()).toBe(1)
  end('busy 0')
  expect(await running('busy')).toBe(2)
  expect(begun['busy']).toEqual([1, 3])
})

describe('F6: searches', () => {
  test('beside an active client one is in progress, however long it takes; the others follow in order', async () => {
    const clock = createManualClock(0)
    const turns = createClientTurns(clock)
    const searches = createSearchTurns(clock, turns)
    const begun: number[] = []
    const ends: (() => void)[] = []
    await turns.begin('calm')
    for (let number = 0; number < 3; number += 1) {
      void searches.begin('busy').then((turn) => {
        begun.push(number)
        if (turn !== undefined) ends.push(turn.end)
      })
    }
    await clock.pass(900)
    expect(begun).toEqual([0])
    ends[0]?.()
    await clock.pass(0)
    expect(begun).toEqual([0, 1])
  })

  test('without an active client beside it a client has as many as it likes', async () => {
    const clock = createManualClock(0)
    const turns = createClientTurns(clock)
    const searches = createSearchTurns(clock, turns)
    await turns.begin('busy')
    await turns.begin('calm')
    await clock.pass(1_100)
    const begun = await Promise.all(Array.from({ length: 20 }, () => searches.begin('busy')))
    expect(begun.map((turn) => turn?.waited)).toEqual(begun.map(() => false))
  })
})
