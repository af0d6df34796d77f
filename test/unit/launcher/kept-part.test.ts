import { expect, test } from 'vitest'
import { keepRunning, type RunningPart } from '../../../infra/launcher/kept-part.ts'

interface FakePart extends RunningPart {
  readonly die: () => void
}

/** Starts parts with pids 1, 2, 3, …; the starts in `failing` fail. */
function workshop(failing: readonly number[] = []) {
  const said: string[] = []
  const started: number[] = []
  const stopped: number[] = []
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined
  const start = (): Promise<FakePart> => {
    const pid = started.length + 1
    started.push(pid)
    if (waiting !== undefined && started.length >= waiting.count) waiting.resolve()
    if (failing.includes(pid)) return Promise.reject(new Error('no room'))
    let end: (exit: { code: number | null; signal: string | null }) => void = () => undefined
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      end = resolve
    })
    const die = (): void => end({ code: null, signal: 'SIGKILL' })
    return Promise.resolve({
      pid,
      exited,
      die,
      kill: die,
      stop: () => {
        stopped.push(pid)
        end({ code: 0, signal: null })
        return Promise.resolve()
      },
    })
  }
  return {
    said,
    started,
    stopped,
    options: { name: 'part', start, say: (text: string) => void said.push(text) },
    startsReached: (count: number) =>
      new Promise<void>((resolve) => {
        waiting = { count, resolve }
        if (started.length >= count) resolve()
      }),
  }
}

test('R1: a part that ends is restarted, even after a failed start', async () => {
  const { options, said, started, startsReached } = workshop([2])
  const restarted: number[] = []
  const kept = await keepRunning({ ...options, onRestarted: ({ pid }) => void restarted.push(pid) })
  kept.current().die()
  await startsReached(3)
  await kept.stop()
  expect(started).toEqual([1, 2, 3])
  expect(restarted).toEqual([3])
  expect(said).toEqual([
    'part: ended unexpectedly (SIGKILL)',
    'part: could not be started again: no room',
    'part: started again (process 3)',
  ])
})

test('R2: a stopped part is not restarted, and a stop during the pause does not wait', async () => {
  const { options, started, stopped } = workshop()
  const running = await keepRunning(options)
  await running.stop()
  expect(stopped).toContain(1)
  const dying = workshop()
  const kept = await keepRunning(dying.options)
  kept.current().die()
  await kept.current().exited
  await kept.stop()
  expect([started, dying.started]).toEqual([[1], [1]])
})

test('the first start must succeed', async () => {
  await expect(keepRunning(workshop([1]).options)).rejects.toThrow('no room')
})
