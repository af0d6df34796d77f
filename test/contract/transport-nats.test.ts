/**
 * Properties of the NATS transport and its connection beyond the port's contract: credentials, C1-C3, a reader that
 * survives.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectNats, type NatsLink } from '../../infra/nats/connection.ts'
import { createNatsTransport } from '../../infra/nats/transport-nats.ts'
import type { Log, LogFields } from '../../runtime/ports/log.ts'
import { NOT_DELIVERED, type NotDelivered, type Transport } from '../../runtime/ports/transport.ts'
import { SILENT_LOG, startTestNats, type TestNats } from '../support/nats/nats.ts'
import { until } from '../support/nats/nats-until.ts'
import { PLAIN_BODIES } from '../support/nats/plain-bodies.ts'

let nats: TestNats
beforeAll(async () => {
  nats = await startTestNats()
})
afterAll(() => nats.close())

const links: NatsLink[] = []
afterEach(async () => {
  nats.thaw()
  await Promise.all(links.splice(0).map((link) => link.close()))
})

async function connect(urls: readonly string[], log: Log = SILENT_LOG, credentialsFile?: string): Promise<NatsLink> {
  const link = await connectNats({
    urls,
    name: 'test',
    inboxPrefix: '_INBOX_test',
    log,
    ...(credentialsFile === undefined ? {} : { credentialsFile }),
  })
  links.push(link)
  return link
}

function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  const write = (event: string, fields?: LogFields): void => void lines.push(`${event} ${JSON.stringify(fields ?? {})}`)
  return { lines, info: write, warn: write, error: write }
}

function ask(transport: Transport, subject: string, message: string): (string | NotDelivered)[] {
  const replies: (string | NotDelivered)[] = []
  transport.request(subject, message, 30_000, (reply) => replies.push(reply))
  return replies
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const shown: unknown[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) shown.push(cause.message, Object.entries(cause))
  return JSON.stringify(shown)
}

/** As much of a NATS server as a client needs to connect. */
async function startGreeter(maxPayloadBytes: number) {
  const sockets = new Set<Socket>()
  const info = { server_id: 'x', version: '2.10.0', proto: 1, headers: true, max_payload: maxPayloadBytes }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.write(`INFO ${JSON.stringify(info)}\r\n`)
    socket.on('data', (data) => {
      for (const _ of data.toString('latin1').matchAll(/^PING\r$/gm)) socket.write('PONG\r\n')
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

describe('NATS connection', () => {
  test('C1: wrong credentials are refused, by an error and a log that show none of them', async () => {
    const log = recordingLog()
    const address = new URL(nats.url())
    const right = address.password
    address.password = 'wrong-and-secret'
    const shown = `${await failureOf(connect([address.href], log))}${log.lines.join()}`
    expect(shown).toContain('AUTHORIZATION_VIOLATION')
    expect(shown).not.toContain('wrong-and-secret')
    expect(shown).not.toContain(right)
  })

  test('C1: an address that cannot be read is refused without being quoted', async () => {
    for (const bad of [
      'nats://user:secret@',
      'http://user:secret@localhost',
      'user:secret@localhost',
      'nats://u:secret@h:x',
    ]) {
      const shown = await failureOf(connect([bad]))
      expect(shown).toContain('nats://host:port')
      expect(shown).not.toContain('secret')
    }
    await expect(connect([])).rejects.toThrow('no NATS address')
  })

  test('a credentials file that is neither kind is refused without being quoted', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ledger-creds-'))
    const file = join(directory, 'nats.creds')
    writeFileSync(file, 'S0MESECRET')
    const shown = await failureOf(connect([nats.url()], SILENT_LOG, file))
    rmSync(directory, { recursive: true })
    expect(shown).toContain('credentials file')
    expect(shown).not.toContain('S0MESECRET')
  })

  test('C3: a connection closed for good says why, and one that we close says nothing is wrong', async () => {
    const ours = await connect([nats.url()])
    await ours.close()
    expect(await ours.closed).toBeNull()
    expect(ours.connected()).toBe(false)
    const log = recordingLog()
    const broken = await connect([nats.url()], log)
    await broken.connection.close()
    expect(await broken.closed).toBe('closed')
    expect(log.lines.join()).toContain('nats_closed')
  })

  test('a first connect waits for a server that comes later', async () => {
    await nats.stop()
    let connected = false
    const connecting = connect([nats.url()]).then((link) => {
      connected = true
      return link
    })
    await nats.start()
    const link = await connecting
    expect(connected && link.connected()).toBe(true)
  })

  test('C4: a server that carries too little is refused, with what to set; the least that is enough is taken', async () => {
    const small = await startGreeter(262_143)
    const shown = await failureOf(connect([small.url]))
    expect(shown).toContain('max_payload')
    expect(shown).toContain('262144')
    await until(() => small.open() === 0)
    await small.close()
    const enough = await startGreeter(262_144)
    expect((await connect([enough.url])).connected()).toBe(true)
    await enough.close()
  })

  test('a server that falls silent is given up; until then its messages are lost, afterwards not_delivered', async () => {
    const link = await connect([nats.url()])
    const transport = createNatsTransport(link, SILENT_LOG, { bodies: PLAIN_BODIES })
    await nats.freeze()
    const silent = ask(transport, 'unknown', 'silent')
    await until(() => !link.connected(), 180_000)
    expect(silent).toEqual([])
    const refused = ask(transport, 'unknown', 'refused')
    await until(() => refused.length > 0)
    expect(refused).toEqual([NOT_DELIVERED])
  })
})

describe('NATS transport', () => {
  test('a handler or reply callback that throws is logged by where, and ends neither its service nor its connection', async () => {
    const log = recordingLog()
    const transport = createNatsTransport(await connect([nats.url()]), log, { bodies: PLAIN_BODIES })
    transport.serve('fragile', (message, reply) => {
      if (message === 'break') throw new SyntaxError(`"${message}" is not valid`)
      reply('fine')
    })
    ask(transport, 'fragile', 'break')
    let called = false
    transport.request('fragile', 'hello', 30_000, () => {
      called = true
      throw new Error('callback broke')
    })
    await until(() => called)
    const replies = ask(transport, 'fragile', 'hello')
    await until(() => replies.length > 0)
    expect(replies).toEqual(['fine'])
    expect(log.lines).toEqual([
      expect.stringMatching(/^nats_callback_failed \{"reason":"SyntaxError at .*transport-nats\.test\.ts/),
      expect.stringMatching(/^nats_callback_failed \{"reason":"Error at .*transport-nats\.test\.ts/),
    ])
    expect(log.lines.join()).not.toMatch(/break|broke/)
  })

  test('T2: a reply that is too large is dropped and logged; its sender continues', async () => {
    const log = recordingLog()
    const transport = createNatsTransport(await connect([nats.url()]), log, { bodies: PLAIN_BODIES })
    const later: ((text: string) => void)[] = []
    transport.serve('large', (_message, reply) => later.push(reply))
    const replies = ask(transport, 'large', 'hello')
    await until(() => later.length > 0)
    for (const reply of later) {
      reply('x'.repeat(transport.maxMessageBytes() + 1))
      reply('fits')
    }
    await until(() => replies.length > 0)
    expect(replies).toEqual(['fits'])
    expect(log.lines).toEqual([expect.stringMatching(/^nats_reply_dropped .*message of \d+ bytes/)])
  })

  test('after close() requests are not_delivered and replies are dropped, neither throws', async () => {
    const server = await connect([nats.url()])
    const client = createNatsTransport(await connect([nats.url()]), SILENT_LOG, { bodies: PLAIN_BODIES })
    const transport = createNatsTransport(server, SILENT_LOG, { bodies: PLAIN_BODIES })
    const later: (() => void)[] = []
    transport.serve('closing', (_message, reply) => later.push(() => reply('late')))
    await server.connection.flush()
    const replies = ask(client, 'closing', 'hello')
    await until(() => later.length > 0)
    const closing = { ended: false }
    const closed = server.close().finally(() => (closing.ended = true))
    // At every moment of closing, the one between draining and closed included.
    while (!closing.ended) {
      for (const run of later) run()
      await new Promise(setImmediate)
    }
    await closed
    const refused = ask(transport, 'closing', 'hello')
    for (const run of later) run()
    await until(() => refused.length > 0)
    expect(refused).toEqual([NOT_DELIVERED])
    expect(new Set(replies)).toEqual(new Set(['late']))
  })

  test('a reply to the subject of an ended request is not taken for a later one', async () => {
    const link = await connect([nats.url()])
    const transport = createNatsTransport(link, SILENT_LOG, { bodies: PLAIN_BODIES })
    const subjects: string[] = []
    link.connection.subscribe('spied', { callback: (_error, message) => subjects.push(message.reply ?? '') })
    const first = transport.request('spied', 'one', 30_000, () => undefined)
    const second = ask(transport, 'spied', 'two')
    await until(() => subjects.length === 2)
    expect(new Set(subjects).size).toBe(2)
    first.close()
    link.connection.publish(subjects[0] ?? '', 'stray')
    await link.connection.flush()
    expect(second).toEqual([])
    link.connection.publish(subjects[1] ?? '', 'meant')
    await until(() => second.length > 0)
    expect(second).toEqual(['meant'])
  })
})
