/** H1: a client that does not read is disconnected after a bounded time, and a slow reader is served. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../infra/processes/http-server.ts'
import { freePort } from '../../support/processes/free-ports.ts'

const STALL_MS = 3_000
const PART = Buffer.alloc(65_536, 'x')
/** More than the buffers of a connection hold. */
const PARTS = 512

/** Resolves when the response has ended or failed. */
async function asked(): Promise<{ readonly client: Socket; readonly ended: Promise<'cancelled' | 'sent'> }> {
  const port = await freePort()
  let sent = 0
  let end: (how: 'cancelled' | 'sent') => void = () => undefined
  const ended = new Promise<'cancelled' | 'sent'>((resolve) => (end = resolve))
  const body = (): ReadableStream<Uint8Array> =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1
        if (sent <= PARTS) return controller.enqueue(PART)
        end('sent')
        controller.close()
      },
      cancel: () => end('cancelled'),
    })
  const app = { fetch: async () => new Response(body()) }
  const server = await listen(app, '127.0.0.1', port, 'https://errors', STALL_MS)
  const client = connect(port, '127.0.0.1')
  onTestFinished(async () => {
    client.destroy()
    await server.stop()
  })
  await once(client, 'connect')
  client.write('GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n')
  return { client, ended }
}

// Both tests wait for a stall, so they run concurrently.
describe.concurrent('H1', () => {
  test('a client that stops reading is disconnected, and its stream ends', async () => {
    const { client, ended } = await asked()
    await once(client, 'readable')
    expect(await ended).toBe('cancelled')
  })

  test('a client that reads slowly, for longer than a stall, gets everything', async () => {
    const { client, ended } = await asked()
    const begunMs = performance.now()
    let read = 0
    client.on('data', (chunk: Buffer) => {
      read += chunk.length
      // A sixteenth of the response, then a pause.
      if (Math.floor(read / (2 * 1024 * 1024)) === Math.floor((read - chunk.length) / (2 * 1024 * 1024))) return
      client.pause()
      setTimeout(() => client.resume(), STALL_MS / 10)
    })
    await once(client, 'close')
    expect(await ended).toBe('sent')
    expect(read).toBeGreaterThan(PARTS * PART.length)
    expect(performance.now() - begunMs).toBeGreaterThan(STALL_MS)
  })
})
