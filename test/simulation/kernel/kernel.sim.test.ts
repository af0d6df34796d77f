/**
 * A simulated run depends on its seed alone (K1-K3). A simulated crash or pause of a process has the effects of a real
 * one (P1-P3).
 */
import { describe, expect, test } from 'vitest'
import { delay } from '../../../runtime/ports/clock.ts'
import { createKernel, SimulationFailure, type Kernel } from './kernel.ts'
import type { SimProcess } from './kernel-process.ts'
import { createSimClock } from './sim-clock.ts'
import { createSimRandom } from './sim-random.ts'

/** A small cluster with randomness throughout: processes that sleep, draw, crash, pause and restart. */
async function runRestless(seed: number): Promise<string> {
  const kernel = createKernel({ seed })
  const chance = kernel.random.fork('faults')
  for (const name of ['a', 'b', 'c']) startWorker(kernel, name)
  await kernel.runUntil(() => kernel.counted('worked') > 300, 60_000)
  return kernel.trace.hash()

  function startWorker(world: Kernel, name: string): void {
    const process = world.process(name)
    process.setClock({ rate: chance.between(0.8, 1.2), offsetMs: chance.integer(1000) })
    void work(world, process)
    if (chance.chance(0.5)) world.schedule(chance.between(100, 300), `pause ${name}`, () => process.pause(50))
    world.schedule(chance.between(200, 900), `crash ${name}`, () => {
      process.crash()
      startWorker(world, name)
    })
  }
}

async function work(kernel: Kernel, process: SimProcess): Promise<void> {
  const clock = createSimClock(process, kernel.random)
  const random = createSimRandom(kernel.random, process.id)
  for (;;) {
    await delay(clock, random.integer(20))
    kernel.count('worked')
    kernel.record(`${process.id} works at ${clock.now()} with ${random.hex(4)}`)
  }
}

describe('kernel', () => {
  test('K1: the same seed gives the same trace twice, and other seeds give other traces', async () => {
    const hashes = new Set<string>()
    for (let seed = 0; seed < 10; seed += 1) hashes.add(await runRestless(seed))
    expect(hashes.size).toBe(10)
    expect(hashes).toContain(await runRestless(3))
  })

  test('K1: the seed, not the order of scheduling, orders simultaneous events', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 40; seed += 1) {
      const kernel = createKernel({ seed })
      const seen: string[] = []
      for (const label of ['x', 'y', 'z']) kernel.schedule(5, label, () => seen.push(label))
      await kernel.runFor(10)
      orders.add(seen.join(''))
    }
    expect(orders.size).toBe(6)
  })

  test('K1: every microtask drains before the next event', async () => {
    const kernel = createKernel({ seed: 1 })
    const seen: string[] = []
    const chain = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
      seen.push('chain')
    }
    kernel.schedule(1, 'first', () => void chain())
    kernel.schedule(1.001, 'second', () => seen.push('second'))
    await kernel.runFor(5)
    expect(seen).toEqual(['chain', 'second'])
  })

  test('K2: real time and randomness throw while a simulation runs, and are back afterwards', async () => {
    const kernel = createKernel({ seed: 7 })
    kernel.schedule(1, 'cheats', () => void Math.random())
    const run = kernel.runFor(5)
    await expect(run).rejects.toBeInstanceOf(SimulationFailure)
    await expect(run).rejects.toThrow(/seed 7: random inside a simulation/)
    expect(Math.random()).toBeLessThan(1)
    expect(Date.now()).toBeGreaterThan(0)
  })

  test('K3: a run that never ends fails with its seed', async () => {
    const kernel = createKernel({ seed: 9, maxSteps: 100 })
    const forever = (): void => void kernel.schedule(1, 'again', forever)
    forever()
    await expect(kernel.runUntil(() => false, Infinity)).rejects.toThrow(/seed 9: K3: more than 100 steps/)
  })

  test('runUntil returns whether the condition came true, and stops at its bound of virtual time', async () => {
    const kernel = createKernel({ seed: 1 })
    let done = false
    kernel.schedule(50, 'done', () => {
      done = true
    })
    expect(await kernel.runUntil(() => done, 49)).toBe(false)
    expect(kernel.now()).toBe(49)
    expect(await kernel.runUntil(() => done, 49)).toBe(true)
    expect(kernel.now()).toBe(50)
  })
})

describe('process', () => {
  test('P1: a crash drops continuations, timers and promises', async () => {
    const kernel = createKernel({ seed: 3 })
    const process = kernel.process('node')
    const clock = createSimClock(process, kernel.random)
    const seen: string[] = []
    const sleeper = async (): Promise<void> => {
      seen.push('starts')
      await delay(clock, 10)
      seen.push('wakes')
      await delay(clock, 10)
      seen.push('never')
    }
    void sleeper()
    kernel.schedule(15, 'crash', process.crash)
    await kernel.runFor(1000)
    expect(seen).toEqual(['starts', 'wakes'])
    expect(kernel.counted('fault:crash')).toBe(1)

    let settled = false
    void process.promise((resolve) => resolve(1)).then(() => (settled = true))
    clock.after(1, () => (settled = true))
    process.deliver(() => (settled = true))
    await kernel.runFor(1000)
    expect(settled).toBe(false)
    expect(kernel.process('node').id).toBe('node#2')
  })

  test('P2: a pause holds arriving callbacks, and a waking process runs it in order before anything newer', async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const kernel = createKernel({ seed })
      const process = kernel.process('node')
      const seen: string[] = []
      for (const index of [1, 2, 3])
        process.later(index * 10, `input ${index}`, () => seen.push(`${index}@${kernel.now()}`))
      process.later(100, 'newer', () => seen.push(`4@${kernel.now()}`))
      kernel.schedule(5, 'pause', () => process.pause(95))
      await kernel.runFor(99)
      expect(seen).toEqual([])
      await kernel.runFor(100)
      expect(seen).toEqual(['1@100', '2@100', '3@100', '4@100'])
    }
  })

  test('P2: a timer that was cancelled by something held before it does not fire on waking', async () => {
    const fired = new Set<boolean>()
    for (let seed = 0; seed < 30; seed += 1) {
      const kernel = createKernel({ seed })
      const process = kernel.process('node')
      let timerRan = false
      const timer = process.later(20, 'timer', () => (timerRan = true), 'timer')
      let cancelled = false
      process.later(10, 'input', () => {
        cancelled = !timerRan
        timer.cancel()
      })
      process.pause(50)
      await kernel.runFor(100)
      expect(timerRan).toBe(!cancelled)
      fired.add(timerRan)
    }
    expect(fired).toEqual(new Set([true, false]))
  })

  test('P3: microtasks drain between the callbacks that a waking process works off', async () => {
    const kernel = createKernel({ seed: 3 })
    const process = kernel.process('node')
    const seen: string[] = []
    process.later(1, 'one', () => void Promise.resolve().then(() => seen.push('microtask of one')))
    process.later(2, 'two', () => seen.push('two'))
    process.pause(10)
    await kernel.runFor(100)
    expect(seen).toEqual(['microtask of one', 'two'])
  })

  test('a clock that slows down while a timer runs does not fire it early', async () => {
    const kernel = createKernel({ seed: 5 })
    const process = kernel.process('node')
    const clock = createSimClock(process, kernel.random)
    let shownMs = 0
    clock.after(1000, () => {
      shownMs = clock.monotonic()
    })
    kernel.schedule(500, 'slow', () => process.setClock({ rate: 0.8 }))
    await kernel.runUntil(() => shownMs > 0, 5000)
    expect(shownMs).toBeGreaterThanOrEqual(1000)
    expect(kernel.now()).toBeGreaterThanOrEqual(1125)
  })

  test('the wall clock takes offsets, the monotonic one never goes back', async () => {
    const kernel = createKernel({ seed: 5, epochMs: 1_000_000 })
    const process = kernel.process('node')
    const clock = createSimClock(process, kernel.random)
    await kernel.runFor(100)
    expect(clock.now()).toBe(1_000_100)
    process.setClock({ offsetMs: -5000, rate: 0.9 })
    expect(clock.now()).toBe(995_100)
    expect(clock.monotonic()).toBe(100)
  })
})
