/** Goal: what a soak reads of processes is what they said, and its verdict tells growth and too many actors from neither. */
import { describe, expect, test } from 'vitest'
import { heldIn } from '../../bench/part-memory.ts'
import { type ProcessSample, processSampleOf } from '../../bench/soak-samples.ts'
import { judge } from '../../bench/soak-verdict.ts'

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

describe('what a process says of itself', () => {
  const edge = [
    '# HELP process_resident_memory_bytes Resident memory size in bytes.',
    'process_resident_memory_bytes 123456789',
    'nodejs_heap_size_used_bytes 2000000',
    'nodejs_external_memory_bytes 3000000',
    'nodejs_eventloop_lag_p99_seconds 0.0125',
  ]
  const ofNode = [
    ...edge,
    'ledger_actors_in_memory 77',
    'ledger_queue_depth{queue="mailboxes"} 5',
    'ledger_queue_depth{queue="outbox"} 9',
    'ledger_shards_owned 256',
  ]

  test('is read in bytes and milliseconds, of a node with its actors', () => {
    const read = processSampleOf({ kind: 'edge', name: 'edge-1', url: '' }, edge.join('\n'))
    expect(read).toEqual({
      kind: 'edge',
      name: 'edge-1',
      residentBytes: 123_456_789,
      heapBytes: 2_000_000,
      externalBytes: 3_000_000,
      eventLoopDelayP99Ms: 12.5,
      actors: null,
    })
    const { actors } = processSampleOf({ kind: 'node', name: 'node-1', url: '' }, ofNode.join('\n'))
    expect(actors).toEqual({ inMemory: 77, underWay: 5, shards: 256 })
  })

  test('is an error where it is missing', () => {
    const missing = (): unknown => processSampleOf({ kind: 'node', name: 'node-1', url: '' }, edge.join('\n'))
    expect(missing).toThrow('node-1 does not say ledger_actors_in_memory')
  })

  test('Linux tells its own memory from what it shares', () => {
    const status =
      'Name:\tpostgres\nVmRSS:\t   18000 kB\nRssAnon:\t    1000 kB\nRssFile:\t    7000 kB\nRssShmem:\t   10000 kB\n'
    expect(heldIn(status)).toEqual({ ownBytes: 1_024_000, filesBytes: 7_168_000, sharedBytes: 10_240_000 })
  })
})
