/** A streamed response that fails never looks complete to its client. */
import { connect } from 'node:net'
import { Hono } from 'hono'
import { afterEach, expect, test, vi } from 'vitest'
import { streamBody } from '../../../api/http/stream-body.ts'
import { portOf } from '../../support/processes/served-app.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function serving(source: ReadableStream<Uint8Array>): Promise<number> {
  const app = new Hono()
  app.get(
    '/',
    (http) => new Response(streamBody(source, http), { headers: { 'content-type': 'application/x-ndjson' } }),
  )
  return portOf(app)
}

/** Everything that arrives until the connection closes. `seen` is called with the text so far. */
function rawAnswer(port: number, seen: (text: string) => void = () => undefined): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    )
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      seen(text)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

const LAST_CHUNK = '0\r\n\r\n'

test('complete content is sent completely', async () => {
  const port = await serving(given(['one\n', 'two\n'], (controller) => controller.close()))
  const answer = await rawAnswer(port)
  expect(answer).toContain('two\n')
  expect(answer).toMatch(/content-length: 8|0\r\n\r\n$/i)
})

test('a failure closes the connection without the end of the content and without details', async () => {
  const printed = vi.spyOn(console, 'error')
  let fail: ((error: Error) => void) | undefined
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => {
      fail = (error) => controller.error(error)
      controller.enqueue(Buffer.from('one\n'))
    },
  })
  const answer = await rawAnswer(await serving(source), (text) => {
    if (text.includes('one\n')) fail?.(new Error('secret words'))
  })
  expect(answer).toContain(' 200 ')
  expect(answer).toContain('one\n')
  expect(answer.endsWith(LAST_CHUNK)).toBe(false)
  expect(answer).not.toContain('secret words')
  expect(printed).not.toHaveBeenCalled()
})

test('a failure before the first byte sends no valid response', async () => {
  const printed = vi.spyOn(console, 'error')
  const port = await serving(given([], (controller) => controller.error(new Error('secret words'))))
  const answer = await rawAnswer(port)
  expect(answer.endsWith(LAST_CHUNK)).toBe(false)
  expect(answer).not.toContain('secret words')
  expect(answer).not.toMatch(/content-length/i)
  expect(printed).not.toHaveBeenCalled()
})

test('a failure also disconnects a client that does not read', async () => {
  const cut = new Promise<string>((resolve) => {
    const outgoing = { destroy: () => resolve('cut') }
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(Buffer.from('one\n'))
        // The stream has delivered the requested chunk, and no further one is requested.
        setImmediate(() => controller.error(new Error('its time is over')))
      },
    })
    const app = new Hono()
    app.get('/', (http) => new Response(streamBody(source, http)))
    void app.request('/', {}, { outgoing })
  })
  await expect(cut).resolves.toBe('cut')
})

test('a client that disconnects ends the stream', async () => {
  let cancelled: (() => void) | undefined
  const ended = new Promise<void>((resolve) => void (cancelled = resolve))
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 0x61)),
    cancel: () => cancelled?.(),
  })
  const port = await serving(source)
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  await new Promise<void>((resolve) => socket.once('readable', () => resolve()))
  socket.destroy()
  await expect(ended).resolves.toBeUndefined()
})

function given(
  chunks: readonly string[],
  end: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): ReadableStream<Uint8Array> {
  const waiting = [...chunks]
  return new ReadableStream({
    pull: (controller) => {
      const next = waiting.shift()
      if (next === undefined) end(controller)
      else controller.enqueue(Buffer.from(next))
    },
  })
}
