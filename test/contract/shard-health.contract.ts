/** The contract of every ShardHealth: H1 to H3 of the port, and the states S1 to S4. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HealthChange, HealthState, ShardHealth, ShardView } from '../../runtime/ports/shard-health.ts'
import { GIVEN_UP_AFTER_MS, SILENT_AFTER_MS } from '../../runtime/node/ownership/shard-state.ts'

export interface StagedShard {
  readonly shardId: number
  /** A node ID; null: no owner. */
  readonly owner: string | null
  readonly epoch: number
  readonly ownedForMs: number
  readonly silentForMs: number
  readonly completed: number
  readonly failed: number
}

export interface ShardHealthSubject {
  readonly health: ShardHealth
  /** Another process's, on the same data. */
  readonly other: ShardHealth
  readonly stage: (shard: StagedShard) => Promise<void>
  readonly close: () => Promise<void>
}

export const CONTRACT_SHARDS = 24
/** In the future: however slowly a test runs, it stays young. Exact bounds are tested where the rule is. */
const YOUNG_MS = -600_000

const SETTLED: Omit<StagedShard, 'shardId'> = {
  owner: 'node-1',
  epoch: 7,
  ownedForMs: 60_000,
  silentForMs: YOUNG_MS,
  completed: 0,
  failed: 0,
}

export function shardHealthContract(name: string, create: () => Promise<ShardHealthSubject>): void {
  describe(`ShardHealth: ${name}`, () => {
    let subject: ShardHealthSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())
    const getSubject = () => subject
    const stateOf = async (staged: StagedShard): Promise<HealthState | undefined> => {
      await subject.stage(staged)
      return (await subject.other.shard(staged.shardId))?.healthState
    }

    test('a shard that never had an owner is unavailable, and has processed no transactions', async () => {
      expect(await subject.health.shard(23)).toEqual({
        shardId: 23,
        owner: null,
        epoch: 0,
        healthState: 'unavailable',
        txnCount: 0,
        updatedAtMs: expect.any(Number) as number,
      })
    })

    test.for([-1, CONTRACT_SHARDS, 65_535])('there is no shard %i', async (shardId) => {
      expect(await subject.health.shard(shardId)).toBeUndefined()
      const change: HealthChange = { shardId, state: 'draining', minTxnCount: null, recordedBy: 'ops' }
      expect(await subject.health.record(change)).toEqual({ kind: 'no_such_shard' })
    })

    test('S4: owned, settled and heard of, it is healthy, with its owner and epoch', async () => {
      await subject.stage({ ...SETTLED, shardId: 0 })
      expect(await subject.health.shard(0)).toMatchObject({ owner: 'node-1', epoch: 7, healthState: 'healthy' })
    })

    test('S3: it is moving until its new owner has had it for a while', async () => {
      const staged = { ...SETTLED, shardId: 1 }
      expect(await stateOf({ ...staged, ownedForMs: YOUNG_MS })).toBe('moving')
      expect(await stateOf(staged)).toBe('healthy')
    })

    test('S3: a shard that never had another owner is not moving, at any age', async () => {
      const staged = { ...SETTLED, shardId: 7, ownedForMs: YOUNG_MS }
      expect(await stateOf({ ...staged, epoch: 1 })).toBe('healthy')
      expect(await stateOf({ ...staged, epoch: 2 })).toBe('moving')
    })

    test('S2, S3: a shard of a silent owner is moving, and unavailable if no node takes it', async () => {
      const staged = { ...SETTLED, shardId: 2 }
      expect(await stateOf(staged)).toBe('healthy')
      expect(await stateOf({ ...staged, silentForMs: SILENT_AFTER_MS })).toBe('moving')
      expect(await stateOf({ ...staged, silentForMs: GIVEN_UP_AFTER_MS })).toBe('unavailable')
    })

    test('S2: a released shard that no node takes is unavailable at once, and names no owner', async () => {
      await subject.stage({ ...SETTLED, shardId: 3, owner: null, ownedForMs: YOUNG_MS, epoch: 8 })
      expect(await subject.health.shard(3)).toMatchObject({ owner: null, epoch: 8, healthState: 'unavailable' })
    })

    recordTests(getSubject)
    countTests(getSubject)
    pageTests(getSubject)
  })
}

function recordTests(subject: () => ShardHealthSubject): void {
  const say = (shardId: number, state: HealthChange['state'], minTxnCount: number | null = null) =>
    subject().health.record({ shardId, state, minTxnCount, recordedBy: 'ops' })

  test('H1, S1: what is recorded shows at every process, whatever else is true of the shard, until it is taken back', async () => {
    const { health, other, stage } = subject()
    await stage({ ...SETTLED, shardId: 4 })
    const before = await health.shard(4)
    const outcome = await say(4, 'draining')
    const shown = await other.shard(4)
    expect(outcome).toEqual({ kind: 'recorded', shard: shown })
    expect(shown).toMatchObject({ healthState: 'draining', owner: 'node-1', epoch: 7 })
    expect(shown?.updatedAtMs).toBeGreaterThan(before?.updatedAtMs ?? Infinity)
    for (const sign of [{ owner: null }, { ownedForMs: YOUNG_MS }, { silentForMs: GIVEN_UP_AFTER_MS }]) {
      await stage({ ...SETTLED, shardId: 4, ...sign })
      expect((await other.shard(4))?.healthState).toBe('draining')
      expect((await other.shards(3, 1)).shards).toMatchObject([{ shardId: 4, healthState: 'draining' }])
    }
    await stage({ ...SETTLED, shardId: 4 })
    expect(await say(4, 'healthy')).toMatchObject({ kind: 'recorded', shard: { healthState: 'healthy' } })
    expect((await other.shard(4))?.healthState).toBe('healthy')
    expect((await other.shard(0))?.healthState).toBe('healthy')
  })

  test('what is said of a shard that is not well does not make it well', async () => {
    await subject().stage({ ...SETTLED, shardId: 5, owner: null })
    expect(await say(5, 'healthy')).toMatchObject({ kind: 'recorded', shard: { healthState: 'unavailable' } })
  })

  test('the same said again changes nothing', async () => {
    await subject().stage({ ...SETTLED, shardId: 6 })
    const first = await say(6, 'draining')
    expect(await say(6, 'draining')).toEqual(first)
    const back = await say(6, 'healthy')
    expect(await say(6, 'healthy')).toEqual(back)
  })

  test('of many who say at once one is heard last, and everybody sees it', async () => {
    const { health, other, stage } = subject()
    await stage({ ...SETTLED, shardId: 7 })
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? health : other).record({
          shardId: 7,
          state: index % 3 === 0 ? 'healthy' : 'draining',
          minTxnCount: null,
          recordedBy: `ops-${index}`,
        }),
      ),
    )
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'recorded'))
    expect(await other.shard(7)).toEqual(await health.shard(7))
  })

  test('with a precondition it is recorded only if the shard has processed as many', async () => {
    const { health, stage } = subject()
    await stage({ ...SETTLED, shardId: 8, completed: 40, failed: 2 })
    expect(await say(8, 'draining', 43)).toEqual({ kind: 'too_few', txnCount: 42 })
    expect((await health.shard(8))?.healthState).toBe('healthy')
    expect(await say(8, 'draining', 42)).toMatchObject({ kind: 'recorded', shard: { txnCount: 42 } })
    expect(await say(8, 'healthy', 0)).toMatchObject({ kind: 'recorded', shard: { healthState: 'healthy' } })
    expect(await say(8, 'draining', Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'too_few' })
  })
}

function countTests(subject: () => ShardHealthSubject): void {
  test('H2: completed and failed transactions count, of this shard alone, and at once', async () => {
    const { health, other, stage } = subject()
    await stage({ ...SETTLED, shardId: 9, completed: 10, failed: 3 })
    await stage({ ...SETTLED, shardId: 10, completed: 1_000, failed: 0 })
    expect((await health.shard(9))?.txnCount).toBe(13)
    expect((await health.shard(10))?.txnCount).toBe(1_000)
    await stage({ ...SETTLED, shardId: 9, completed: 11, failed: 3 })
    expect((await other.shard(9))?.txnCount).toBe(14)
  })

  test('H2: the list shows the same counts', async () => {
    const { health, stage } = subject()
    await stage({ ...SETTLED, shardId: 11, completed: 5, failed: 6 })
    const { shards } = await health.shards(10, 2)
    expect(shards.map(({ shardId, txnCount }) => [shardId, txnCount])).toEqual([
      [11, 11],
      [12, 0],
    ])
    await stage({ ...SETTLED, shardId: 11, completed: 5, failed: 7 })
    expect((await health.shards(10, 1)).shards).toMatchObject([{ txnCount: 12 }])
  })
}

function pageTests(subject: () => ShardHealthSubject): void {
  test.for([1, 5, CONTRACT_SHARDS - 1, CONTRACT_SHARDS, 1_000])(
    'pages of %i give each shard once, by ID, as it is alone',
    async (limit) => {
      const { health } = subject()
      const seen: ShardView[] = []
      for (let after: number | null = -1; after !== null;) {
        const page = await health.shards(after, limit)
        expect(page.total).toBe(CONTRACT_SHARDS)
        expect(page.shards.length).toBeLessThanOrEqual(limit)
        seen.push(...page.shards)
        after = page.next
      }
      expect(seen.map(({ shardId }) => shardId)).toEqual(Array.from({ length: CONTRACT_SHARDS }, (_, id) => id))
      for (const shard of seen) expect(await health.shard(shard.shardId)).toEqual(shard)
    },
  )

  test('after the last shard there is an empty page', async () => {
    expect(await subject().health.shards(CONTRACT_SHARDS - 1, 10)).toMatchObject({ shards: [], next: null })
  })
}
