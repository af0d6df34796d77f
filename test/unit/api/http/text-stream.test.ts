import { expect, test } from 'vitest'
import { STALLED_AFTER_MS, type StreamEnd, streamTexts } from '../../../../api/http/text-stream.ts'
import { createManualClock } from './waiting-clock.ts'

interface Scene {
  readonly clock: ReturnType<typeof createManualClock>
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  /** The number of texts whose production began. */
  readonly made: () => number
  readonly ends: StreamEnd[]
}

function streaming(texts: readonly (string | Error | Promise<string>)[]): Scene {
  const clock = createManualClock(0)
  const ends: StreamEnd[] = []
  let made = 0
  async function* making(): AsyncGenerator<string, void, undefined> {
    for (const text of texts) {
      made += 1
      if (text instanceof Error) throw text
      yield await text
    }
  }
  const reader = streamTexts(making(), clock, (end) => void ends.push(end)).getReader()
  return { clock, reader, ends, made: () => made }
}

async function next({ reader }: Scene): Promise<string | undefined> {
  const { value } = await reader.read()
  return value === undefined ? undefined : Buffer.from(value).toString()
}

test('T1: a text is produced when the reader asks for it', async () => {
  const scene = streaming(['a', 'b', 'c'])
  await scene.clock.advance(0)
  expect(scene.made()).toBe(0)
  expect([await next(scene), scene.made()]).toEqual(['a', 1])
  await scene.clock.advance(STALLED_AFTER_MS - 1)
  expect(scene.made()).toBe(1)
  expect([await next(scene), await next(scene), await next(scene)]).toEqual(['b', 'c', undefined])
  expect(scene.ends).toEqual(['sent'])
})

test.for([0, 1])('T2: a reader that stalls after %i texts is cut off', async (taken) => {
  const scene = streaming(['a', 'b'])
  for (let count = 0; count < taken; count += 1) await next(scene)
  await scene.clock.advance(STALLED_AFTER_MS)
  expect(scene.ends).toEqual(['stalled'])
  await expect(next(scene)).rejects.toThrow('took nothing for too long')
  expect(scene.made()).toBe(taken)
})

test('T2: production of a text may take long, and a finished stream sets no timer', async () => {
  let give: ((text: string) => void) | undefined
  const scene = streaming([new Promise<string>((resolve) => void (give = resolve))])
  const reading = next(scene)
  await scene.clock.advance(10 * STALLED_AFTER_MS)
  expect(scene.ends).toEqual([])
  give?.('late')
  expect([await reading, await next(scene), scene.clock.pending()]).toEqual(['late', undefined, 0])
})

test('T3: a reader that leaves ends the stream, also while a text is being produced', async () => {
  let give: ((text: string) => void) | undefined
  const scene = streaming([new Promise<string>((resolve) => void (give = resolve)), 'never'])
  const reading = next(scene)
  await scene.clock.advance(0)
  await scene.reader.cancel()
  expect(scene.ends).toEqual(['left'])
  give?.('late')
  expect(await reading).toBeUndefined()
  await scene.clock.advance(STALLED_AFTER_MS)
  expect([scene.ends, scene.made(), scene.clock.pending()]).toEqual([['left'], 1, 0])
})

test('T3: the reader gets an error of the producer, and the stream ends once', async () => {
  const scene = streaming(['a', new Error('a row is damaged')])
  expect(await next(scene)).toBe('a')
  await expect(next(scene)).rejects.toThrow('a row is damaged')
  await scene.clock.advance(STALLED_AFTER_MS)
  expect([scene.ends, scene.clock.pending()]).toEqual([['broken'], 0])
})
