/** Questions are asked one at a time, and the queue is bounded (L1, L2). A process that ends: schema-validator-isolated.test.ts. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Question } from '../../../infra/schema/question.ts'
import type { ValidatorWorker, WorkerOutcome } from '../../../infra/schema/validator-worker.ts'
import { createWorkerLane, type LaneOptions, type WorkerLane } from '../../../infra/schema/worker-lane.ts'

interface FakeWorker extends ValidatorWorker {
  readonly asked: string[]
  /** Answers the question that it has. */
  readonly answer: (outcome: WorkerOutcome) => void
}

interface Scene {
  readonly lane: WorkerLane
  readonly workers: FakeWorker[]
  readonly lost: string[]
}

const ANSWERED: WorkerOutcome = { kind: 'answered', verdict: 'yes' }
const LATE: WorkerOutcome = { kind: 'late' }

afterEach(() => {
  vi.useRealTimers()
})

function createScene(options: Partial<LaneOptions> = {}): Scene {
  const workers: FakeWorker[] = []
  const lost: string[] = []
  const lane = createWorkerLane({
    start: () => {
      const worker = createFakeWorker()
      workers.push(worker)
      return worker
    },
    fresh: false,
    maxWaiting: 3,
    maxWaitingBytes: 1_000,
    maxWaitMs: 5_000,
    onLost: (outcome) => lost.push(outcome),
    ...options,
  })
  return { lane, workers, lost }
}

function createFakeWorker(): FakeWorker {
  let alive = true
  let settle: (outcome: WorkerOutcome) => void = () => undefined
  const asked: string[] = []
  return {
    asked,
    pid: undefined,
    ready: Promise.resolve(true),
    alive: () => alive,
    ask: ({ schema }) => {
      asked.push(schema)
      return new Promise((resolve) => {
        settle = resolve
      })
    },
    answer: (outcome) => {
      if (outcome.kind !== 'answered') alive = false
      settle(outcome)
    },
    end: async () => {
      alive = false
      settle(LATE)
    },
  }
}

function question(schema: string): Question {
  return { kind: 'check', schema }
}

/** Waits until the worker has received the question. */
async function hasAsked({ workers }: Scene, schema: string): Promise<FakeWorker> {
  await expect.poll(() => workers.at(-1)?.asked.at(-1)).toBe(schema)
  const worker = workers.at(-1)
  if (worker === undefined) throw new Error('there is no worker')
  return worker
}

describe('L1: one question at a time', () => {
  test('the same process gets the questions in order', async () => {
    const scene = createScene()
    const answers = [scene.lane.ask(question('a')), scene.lane.ask(question('b'))]
    const worker = await hasAsked(scene, 'a')
    expect(worker.asked).toEqual(['a'])
    worker.answer(ANSWERED)
    ;(await hasAsked(scene, 'b')).answer(ANSWERED)
    expect(await Promise.all(answers)).toEqual([ANSWERED, ANSWERED])
    expect(scene.workers).toHaveLength(1)
    expect(scene.lost).toEqual([])
  })

  test('each question gets a new process if `fresh`', async () => {
    const scene = createScene({ fresh: true })
    const answers = [scene.lane.ask(question('a')), scene.lane.ask(question('b'))]
    ;(await hasAsked(scene, 'a')).answer(ANSWERED)
    ;(await hasAsked(scene, 'b')).answer(ANSWERED)
    expect(await Promise.all(answers)).toEqual([ANSWERED, ANSWERED])
    expect(scene.workers.map((worker) => worker.asked)).toEqual([['a'], ['b']])
    expect(scene.workers.some((worker) => worker.alive())).toBe(false)
  })
})

describe('L2: the queue is bounded', () => {
  test('in number', async () => {
    const scene = createScene({ maxWaiting: 2 })
    const first = scene.lane.ask(question('a'))
    const worker = await hasAsked(scene, 'a')
    const waiting = [scene.lane.ask(question('b')), scene.lane.ask(question('c'))]
    expect(scene.lane.waiting()).toBe(3)
    expect(await scene.lane.ask(question('d'))).toEqual(LATE)
    worker.answer(ANSWERED)
    ;(await hasAsked(scene, 'b')).answer(ANSWERED)
    ;(await hasAsked(scene, 'c')).answer(ANSWERED)
    expect(await Promise.all([first, ...waiting])).toEqual([ANSWERED, ANSWERED, ANSWERED])
    expect(worker.asked).toEqual(['a', 'b', 'c'])
    expect(scene.lane.waiting()).toBe(0)
  })

  test('in bytes, of schema and value together', async () => {
    const scene = createScene()
    const first = scene.lane.ask(question('a'))
    const worker = await hasAsked(scene, 'a')
    const half = (mark: string): Question => ({ kind: 'validate', schema: mark.repeat(100), value: 'x'.repeat(150) })
    const waiting = [scene.lane.ask(half('b')), scene.lane.ask(half('c'))]
    expect(await scene.lane.ask(question('d'))).toEqual(LATE)
    worker.answer(ANSWERED)
    ;(await hasAsked(scene, 'b'.repeat(100))).answer(ANSWERED)
    const last = scene.lane.ask(question('d'))
    ;(await hasAsked(scene, 'c'.repeat(100))).answer(ANSWERED)
    ;(await hasAsked(scene, 'd')).answer(ANSWERED)
    expect(await Promise.all([first, ...waiting, last])).toEqual([ANSWERED, ANSWERED, ANSWERED, ANSWERED])
  })

  test('in time, and a question that waited too long is not asked', async () => {
    vi.useFakeTimers()
    const scene = createScene({ maxWaitMs: 5_000 })
    const first = scene.lane.ask(question('a'))
    const second = scene.lane.ask(question('b'))
    await vi.advanceTimersByTimeAsync(4_999)
    const third = scene.lane.ask(question('c'))
    await vi.advanceTimersByTimeAsync(1)
    expect(await second).toEqual(LATE)
    scene.workers[0]?.answer(ANSWERED)
    await vi.advanceTimersByTimeAsync(1)
    scene.workers[0]?.answer(ANSWERED)
    expect(await Promise.all([first, third])).toEqual([ANSWERED, ANSWERED])
    expect(scene.workers[0]?.asked).toEqual(['a', 'c'])
  })

  test('and refuses every question after close', async () => {
    const scene = createScene()
    const answers = [scene.lane.ask(question('a')), scene.lane.ask(question('b'))]
    const worker = await hasAsked(scene, 'a')
    await scene.lane.close()
    expect(await Promise.all(answers)).toEqual([LATE, LATE])
    expect(await scene.lane.ask(question('c'))).toEqual(LATE)
    expect(worker.alive()).toBe(false)
    expect(scene.workers).toHaveLength(1)
    expect(scene.lost).toEqual([])
  })
})
