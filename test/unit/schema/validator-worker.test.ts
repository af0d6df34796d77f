/** Each question gets an outcome, even if it breaks the worker, and no work goes on afterwards. */
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Question } from '../../../infra/schema/question.ts'
import { startWorker, type ValidatorWorker, type WorkerLimits } from '../../../infra/schema/validator-worker.ts'

const PROGRAM = join(import.meta.dirname, 'scripted-validator.mjs')
const LIMITS: WorkerLimits = { cpuMs: 300, elapsedMs: 20_000, startMs: 20_000, heapMb: 32 }

const started: ValidatorWorker[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.end()))
})

async function start(limits: Partial<WorkerLimits> = {}, program = PROGRAM): Promise<ValidatorWorker> {
  const worker = startWorker(program, { ...LIMITS, ...limits })
  started.push(worker)
  return worker
}

function act(name: string): Question {
  return { kind: 'check', schema: JSON.stringify({ act: name }) }
}

/** Whether the process is there. */
function exists({ pid }: ValidatorWorker): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('W1: every question ends', () => {
  test('in a reply, and the worker takes another question', async () => {
    const worker = await start()
    expect(await worker.ready).toBe(true)
    expect(await worker.ask(act('valid'))).toEqual({ kind: 'answered', verdict: { kind: 'valid' } })
    expect(await worker.ask(act('valid'))).toEqual({ kind: 'answered', verdict: { kind: 'valid' } })
    expect(worker.alive()).toBe(true)
  })

  // A large time limit lets the growing worker reach its memory limit.
  test.for([
    ['loop', 300],
    ['grow', 60_000],
    ['exit', 60_000],
    ['confused', 60_000],
  ] as const)('with the end of the process: %s', async ([name, cpuMs]) => {
    const worker = await start({ cpuMs })
    expect(await worker.ready).toBe(true)
    expect(await worker.ask(act(name))).toEqual({ kind: 'over' })
    expect(worker.alive()).toBe(false)
    expect(exists(worker)).toBe(false)
  })

  test('if the process ended before the question', async () => {
    const worker = await start()
    expect(await worker.ready).toBe(true)
    await worker.end()
    expect(await worker.ask(act('valid'))).toEqual({ kind: 'late' })
  })

  test('a process that cannot be started is not ready', async () => {
    const worker = await start({}, join(import.meta.dirname, 'there-is-no-such-program.mjs'))
    expect(await worker.ready).toBe(false)
    expect(worker.alive()).toBe(false)
  })

  test('a process that starts too slowly is not ready', async () => {
    const worker = await start({ startMs: 1 })
    expect(await worker.ready).toBe(false)
    expect(exists(worker)).toBe(false)
  })
})

describe('W2: the limit counts CPU time', () => {
  test('a stopped process is late, and not over', async () => {
    const worker = await start({ cpuMs: 200, elapsedMs: 1_000 })
    expect(await worker.ready).toBe(true)
    process.kill(worker.pid ?? 0, 'SIGSTOP')
    expect(await worker.ask(act('loop'))).toEqual({ kind: 'late' })
    expect(exists(worker)).toBe(false)
  })

  test('waiting uses no CPU time', async () => {
    const worker = await start({ cpuMs: 100, elapsedMs: 1_500 })
    expect(await worker.ready).toBe(true)
    const before = performance.now()
    expect(await worker.ask(act('silence'))).toEqual({ kind: 'late' })
    expect(performance.now() - before).toBeGreaterThan(1_400)
  })
})

test('the worker inherits no environment', async () => {
  process.env['LEDGER_TEST_SECRET'] = 'a secret'
  try {
    const worker = await start()
    expect(await worker.ready).toBe(true)
    const outcome = await worker.ask(act('environment'))
    expect(outcome).toEqual({ kind: 'answered', verdict: { kind: 'invalid', reason: '[]' } })
  } finally {
    delete process.env['LEDGER_TEST_SECRET']
  }
})
