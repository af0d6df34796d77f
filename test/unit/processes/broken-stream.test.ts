/** Goal: what is sent as it is made, and cannot be made to its end, never looks whole to whoever receives it. */
import { connect } from 'node:net'
import { Hono } from 'hono'
import { afterEach, expect, test, vi } from 'vitest'
import { streamBody } from '../../../api/http/stream-body.ts'
import { type HttpServer, listen } from '../../../infra/processes/http-server.ts'
import { freePort } from '../../support/free-ports.ts'

let server: HttpServer | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  await server?.stop()
  server = undefined
})

async function serving(source: ReadableStream<Uint8Array>): Promise<number> {
  const app = new Hono()
  app.get(
    '/',
    (http) => new Response(streamBody(source, http), { headers: { 'content-type': 'application/x-ndjson' } }),
  )
  const port = await freePort()
  server = await listen(app, '127.0.0.1', port, 'https://ledger.example/errors')
  return port
}

/** Everything that arrives until the connection is closed. `seen`: is told what has arrived by now. */
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

test('content that ends is sent whole', async () => {
  const port = await serving(given(['one\n', 'two\n'], (controller) => controller.close()))
  const answer = await rawAnswer(port)
  expect(answer).toContain('two\n')
  expect(answer).toMatch(/content-length: 8|0\r\n\r\n$/i)
})

test('a failure cuts the connection without an end, and without a word of it', async () => {
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

test('a failure before the first byte gives no answer that could be taken for one', async () => {
  const printed = vi.spyOn(console, 'error')
  const port = await serving(given([], (controller) => controller.error(new Error('secret words'))))
  const answer = await rawAnswer(port)
  expect(answer.endsWith(LAST_CHUNK)).toBe(false)
  expect(answer).not.toContain('secret words')
  expect(answer).not.toMatch(/content-length/i)
  expect(printed).not.toHaveBeenCalled()
})

test('a failure cuts off also whoever does not read', async () => {
  const cut = new Promise<string>((resolve) => {
    const outgoing = { destroy: () => resolve('cut') }
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(Buffer.from('one\n'))
        // Once it has given what is asked for, and nobody asks for more.
        setImmediate(() => controller.error(new Error('its time is over')))
      },
    })
    const app = new Hono()
    app.get('/', (http) => new Response(streamBody(source, http)))
    void app.request('/', {}, { outgoing })
  })
  await expect(cut).resolves.toBe('cut')
})

test('a client that goes away ends the making', async () => {
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
