/** The verdict of a soak test fails on growth of memory and on too many actors, and on nothing else. */
import { describe, expect, test } from 'vitest'
import type { ProcessSample } from '../../bench/scenes/soak-samples.ts'
import { judge } from '../../bench/scenes/soak-verdict.ts'

const MB = 1_000_000
const ACTORS_PER_SHARD = 100

function node(residentMb: number, actors: Partial<ProcessSample['actors']> = {}): ProcessSample {
  return {
    kind: 'node',
    name: 'node-1',
    residentBytes: residentMb * MB,
    heapBytes: 0,
    externalBytes: 0,
    eventLoopDelayP99Ms: 0,
    actors: { inMemory: 400, underWay: 0, shards: 4, ...actors },
  }
}

function samplesOf(residentMb: readonly number[]): readonly { readonly processes: readonly ProcessSample[] }[] {
  return residentMb.map((megabytes) => ({ processes: [node(megabytes)] }))
}

function growsOver(residentMb: readonly number[]): boolean {
  const { passed, processes } = judge(samplesOf(residentMb), ACTORS_PER_SHARD)
  expect(passed).toBe(processes[0]?.grows === false)
  return !passed
}

describe('S1: a process grows', () => {
  test('when the last quarter holds a fifth and 50 MB more than the second', () => {
    expect(growsOver([100, 100, 300, 300, 330, 330, 361, 361])).toBe(true)
  })

  test('not by a fifth alone, nor by 50 MB alone', () => {
    expect(growsOver([100, 100, 200, 200, 220, 220, 250, 250])).toBe(false)
    expect(growsOver([100, 100, 300, 300, 330, 330, 359, 359])).toBe(false)
  })

  test('not by what it fills up with in the first quarter, nor by one look', () => {
    expect(growsOver([50, 100, 900, 900, 900, 900, 900, 900])).toBe(false)
    expect(growsOver([300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 900, 300])).toBe(false)
  })

  test('is not told of too few looks', () => {
    expect(() => judge(samplesOf([1, 2, 3]), ACTORS_PER_SHARD)).toThrow('too few')
  })
})

describe('S2: the actors of a node', () => {
  const verdictOn = (inMemory: number, underWay = 0) => {
    const usual = { processes: [node(100)] }
    const high = { processes: [node(100, { inMemory, underWay })] }
    return judge([usual, high, usual, usual], ACTORS_PER_SHARD)
  }

  test('may be those that its shards are allowed and those under way', () => {
    expect(verdictOn(4_400)).toMatchObject({ passed: true, processes: [{ actors: { most: 4_400, bound: 400 } }] })
    expect(verdictOn(4_450, 50).passed).toBe(true)
  })

  test('are too many above that, were it for one look', () => {
    expect(verdictOn(4_401)).toMatchObject({ passed: false, processes: [{ grows: false, actors: { exceeded: true } }] })
    expect(verdictOn(4_451, 50).passed).toBe(false)
  })
})
