/** A streamed reply that is stored while it is sent: T1 to T3. */
import { expect, test } from 'vitest'
import { keptStream, replayedStream } from '../../../../api/http/kept-stream.ts'
import type { KeptContent } from '../../../../runtime/ports/idempotency-store.ts'
import { streamOf } from './stream-of.ts'

interface Keeping {
  readonly parts: Uint8Array[]
  readonly ends: KeptContent[]
  readonly stream: (source: ReadableStream<Uint8Array>, maxBytes?: number) => ReadableStream<Uint8Array>
}

function keeping(finish: () => Promise<void> = async () => undefined): Keeping {
  const parts: Uint8Array[] = []
  const ends: KeptContent[] = []
  return {
    parts,
    ends,
    stream: (source, maxBytes) =>
      keptStream(
        source,
        {
          attempt: 'one',
          keep: async (_attempt, number, part) => {
            expect(number).toBe(parts.length)
            parts.push(part)
          },
          finish: async (content) => {
            await finish()
            ends.push(content)
          },
        },
        maxBytes,
      ),
  }
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text()
}

test('the stored reply equals the sent reply, in parts of bounded size', async () => {
  const chunks = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(10_000, 'x'))
  const kept = keeping()
  const sent = await textOf(kept.stream(streamOf(chunks)))
  expect(sent).toBe(chunks.join(''))
  expect(kept.ends).toEqual([{ kind: 'parts', attempt: 'one', count: kept.parts.length }])
  expect(kept.parts.length).toBeGreaterThan(1)
  expect(Math.max(...kept.parts.map((part) => part.length))).toBeLessThan(300_000)
  expect(await textOf(replayedStream(kept.parts.length, async (number) => kept.parts[number]))).toBe(sent)
})

test('a reply without content is stored', async () => {
  const kept = keeping()
  expect(await textOf(kept.stream(streamOf([])))).toBe('')
  expect(kept.ends).toEqual([{ kind: 'parts', attempt: 'one', count: 0 }])
})

test('T1: the last chunk is sent after the whole reply is stored', async () => {
  const kept = keeping(() => Promise.reject(new Error('the store is away')))
  const reader = kept.stream(streamOf(['a', 'b'])).getReader()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('a')
  await expect(reader.read()).rejects.toThrow('the store is away')
})

test('T2: an interrupted or partly read stream is not stored', async () => {
  const kept = keeping()
  await expect(textOf(kept.stream(streamOf(['a', 'b'], new Error('damaged'))))).rejects.toThrow('damaged')
  const left = kept.stream(streamOf(['a', 'b'])).getReader()
  await left.read()
  await left.cancel()
  expect(kept.ends).toEqual([])
})

test('T3: a reply beyond the limit is sent whole and not stored', async () => {
  const kept = keeping()
  expect(await textOf(kept.stream(streamOf(['abc', 'def', 'ghi']), 5))).toBe('abcdefghi')
  expect([kept.parts, kept.ends]).toEqual([[], [{ kind: 'dropped' }]])
})

test('a missing part aborts the reply', async () => {
  await expect(textOf(replayedStream(1, async () => undefined))).rejects.toThrow('is missing')
})
