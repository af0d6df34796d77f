import { expect, test } from 'vitest'
import { contentOf } from '../../../infra/portability/export-stream.ts'

/** As many lines, each of which takes a millisecond of work. */
async function* costlyLines(count: number): AsyncGenerator<string, void, undefined> {
  for (let line = 0; line < count; line += 1) {
    const untilMs = performance.now() + 1
    while (performance.now() < untilMs) await Promise.resolve()
    yield `${'x'.repeat(1_000)}\n`
  }
}

async function read(content: ReadableStream<Uint8Array>): Promise<number> {
  return (await new Response(content).arrayBuffer()).byteLength
}

const NEVER_LOST = { onLost: () => undefined }

test('an export yields to the event loop while it has lines to write (B1)', async () => {
  const failures: unknown[] = []
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  expect(await read(contentOf(costlyLines(200), NEVER_LOST, (failure) => failures.push(failure)))).toBe(200 * 1_001)
  isOver = true
  expect(turns).toBeGreaterThan(15)
  expect(failures).toEqual([undefined])
})

test('B1: an export ends once, with its failure', async () => {
  const failures: unknown[] = []
  let lose: (() => void) | undefined
  const lost = { onLost: (run: () => void) => void (lose = run) }
  const content = contentOf(costlyLines(1_000_000), lost, (failure) => failures.push(failure))
  const reader = content.getReader()
  expect((await reader.read()).done).toBe(false)
  lose?.()
  lose?.()
  await expect(reader.closed).rejects.toThrow('reached its deadline')
  expect(failures).toEqual([expect.objectContaining({ name: 'ExportsUnavailable' })])
})
