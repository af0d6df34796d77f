/** Messages to real HTTP servers: S1 to S6 of the port and the sender, and signatures that the library of the standard accepts. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { ANY_ADDRESS, createAddressRule } from '../../../infra/webhooks/address-rules.ts'
import type { Resolve } from '../../../infra/webhooks/name-resolver.ts'
import {
  createWebhookSender,
  type HttpWebhookSender,
  type WebhookSenderOptions,
} from '../../../infra/webhooks/webhook-sender-http.ts'

const MESSAGE = { id: 'evt_1', body: '{"data":"é"}' }
const SECRET = newWebhookSecret()
const closing: (() => unknown)[] = []

function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

function senderOf(options: Partial<WebhookSenderOptions> = {}): HttpWebhookSender {
  const sender = createWebhookSender({ mayConnect: ANY_ADDRESS, now: Date.now, ...options })
  closing.push(sender.close)
  return sender
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server on the loopback address; `sockets`: connections so far. */
async function receiver(respond: RequestListener = (_, response) => response.writeHead(204).end()) {
  const received: Received[] = []
  const state = { sockets: 0 }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      respond(request, response)
    })
  })
  server.on('connection', () => (state.sockets += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, port, received, state, server }
}

function targetOf(url: string, secrets: readonly string[] = [SECRET]) {
  return { connection: 'one', url, secrets }
}

describe('webhook sender', () => {
  test('a message arrives with its body and headers, and the library of the standard accepts each signature', async () => {
    const { url, received } = await receiver()
    const secrets = [newWebhookSecret(), newWebhookSecret()]
    const result = await senderOf().send(targetOf(url, secrets), MESSAGE)
    expect(result).toMatchObject({ httpStatus: 204, error: null })
    const [{ headers, body } = { headers: {}, body: '' }] = received
    expect(body).toBe(MESSAGE.body)
    expect(headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'webhook-id': 'evt_1',
    })
    const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    for (const secret of secrets) expect(new StandardWebhook(secret).verify(body, signed)).toEqual({ data: 'é' })
    expect(() => new StandardWebhook(SECRET).verify(body, signed)).toThrow('No matching signature')
    expect(() => new StandardWebhook(secrets[0] ?? '').verify(`${body} `, signed)).toThrow('No matching signature')
  })

  test('a caller learns that a message was written while the receiver still handles it', async () => {
    let wasWritten = (): void => undefined
    let written = Promise.resolve()
    const { url } = await receiver((_, response) => void written.then(() => response.writeHead(204).end()))
    const sender = senderOf()
    // On a new connection, and on a kept one.
    for (let sent = 0; sent < 2; sent += 1) {
      written = new Promise((resolve) => (wasWritten = resolve))
      const result = await sender.send(targetOf(url), MESSAGE, () => wasWritten())
      expect(result).toMatchObject({ httpStatus: 204, error: null })
    }
  })

  test('a name whose URL changes gets a connection to the new one', async () => {
    const [one, other] = [await receiver(), await receiver()]
    const sender = senderOf()
    for (const { url } of [one, other, one]) {
      expect(await sender.send(targetOf(url), MESSAGE)).toMatchObject({ error: null })
    }
    expect([one.received.length, other.received.length, one.state.sockets]).toEqual([2, 1, 2])
  })

  test('one connection carries all messages of a name, until it is forgotten', async () => {
    const { url, state } = await receiver()
    const sender = senderOf()
    for (let sent = 0; sent < 20; sent += 1) await sender.send(targetOf(url), MESSAGE)
    expect(state.sockets).toBe(1)
    sender.forget('one')
    await sender.send(targetOf(url), MESSAGE)
    expect(state.sockets).toBe(2)
  })

  test('a kept connection that the receiver closed is replaced without a failed attempt', async () => {
    const { url, state, server, received } = await receiver()
    const sender = senderOf()
    for (let sent = 0; sent < 10; sent += 1) {
      expect(await sender.send(targetOf(url), MESSAGE)).toMatchObject({ error: null })
      server.closeAllConnections()
    }
    expect([state.sockets, received.length]).toEqual([10, 10])
  })

  test.each([301, 302, 307, 308, 400, 410, 429, 500, 503])(
    'S2: %i is not accepted, and not followed',
    async (status) => {
      const elsewhere = await receiver()
      const { url } = await receiver((_, response) => response.writeHead(status, { location: elsewhere.url }).end('no'))
      expect(await senderOf().send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: status, error: 'status' })
      expect(elsewhere.received).toEqual([])
    },
  )

  test('S2: an informational response is not the result', async () => {
    const { url } = await receiver((_, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.writeHead(204).end()
    })
    expect(await senderOf().send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: 204, error: null })
  })

  test.each([200, 201, 202, 299])('S2: %i is accepted', async (status) => {
    const { url } = await receiver((_, response) => response.writeHead(status).end('yes'))
    expect(await senderOf().send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: status, error: null })
  })

  test('S5: informational responses without end are cut off', async () => {
    let written = 0
    const { url } = await receiver((_, response) => {
      const write = (): void => {
        if (response.destroyed) return
        written += 1
        response.writeEarlyHints({ link: '</a>; rel=preload' }, () => setImmediate(write))
      }
      write()
    })
    const result = await senderOf({ timeoutMs: 60_000 }).send(targetOf(url), MESSAGE)
    expect(result).toMatchObject({ httpStatus: null, error: 'connection_failed' })
    expect(written).toBeGreaterThan(8)
  })

  test('S5: an endless response is cut off soon after 4 KiB, and counts by its status', async () => {
    let written = 0
    const { url } = await receiver((_, response) => {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384
      }
      response.on('drain', more)
      more()
    })
    expect(await senderOf().send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: 200, error: null })
    expect(written).toBeLessThan(64 * 1_048_576)
  })

  test('S3: a receiver that never responds, or never ends its response, is given up in time', async () => {
    const silent = await receiver(() => undefined)
    const sender = senderOf({ timeoutMs: 100 })
    expect(await sender.send(targetOf(silent.url), MESSAGE)).toMatchObject({ httpStatus: null, error: 'timeout' })
    const slow = await receiver((_, response) => {
      response.writeHead(200)
      response.write('.')
    })
    expect(await sender.send({ ...targetOf(slow.url), connection: 'two' }, MESSAGE)).toMatchObject({
      httpStatus: 200,
      error: null,
    })
  })

  test('S3: a receiver that never ends its handshake leaves no connection behind', async () => {
    const open = new Set<unknown>()
    const server = createTcpServer((socket) => {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => open.delete(socket)).resume()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const sender = senderOf({ timeoutMs: 200 })
    for (const name of ['one', 'two', 'three']) {
      const target = { ...targetOf(`https://127.0.0.1:${port}/hook`), connection: name }
      expect(await sender.send(target, MESSAGE)).toMatchObject({ httpStatus: null, error: 'timeout' })
    }
    await expect.poll(() => open.size).toBe(0)
  })

  test('S3: a message that got no response on a kept connection in time is not sent again', async () => {
    let isSilent = false
    const { url, state, received } = await receiver((_, response) => {
      if (!isSilent) response.writeHead(204).end()
    })
    const sender = senderOf({ timeoutMs: 200 })
    const results: unknown[] = []
    for (const silent of [false, true, false]) {
      isSilent = silent
      results.push((await sender.send(targetOf(url), MESSAGE)).error)
    }
    expect([results, received.length, state.sockets]).toEqual([[null, 'timeout', null], 3, 2])
  })

  test('S3: every other failure is a result, too', async () => {
    const closed = await receiver()
    closed.server.close()
    const hangsUp = createTcpServer((socket) => socket.end())
    const babbles = createTcpServer((socket) => socket.end('220 smtp.example\r\n'))
    const upgrades = createTcpServer((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
    const hints = createTcpServer((socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'))
    for (const server of [hangsUp, babbles, upgrades, hints]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(() => server.close())
    }
    const urlOf = (server: typeof hangsUp) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    for (const url of [closed.url, ...[hangsUp, babbles, upgrades, hints].map(urlOf)]) {
      const sender = senderOf()
      expect(await sender.send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: null, error: 'connection_failed' })
    }
    const unknown: Resolve = (_, __, done) => done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), [])
    const result = await senderOf({ resolve: unknown }).send(targetOf('http://no.example/'), MESSAGE)
    expect(result).toMatchObject({ httpStatus: null, error: 'name_not_resolved' })
    const plain = await receiver()
    const overTls = await senderOf().send(targetOf(plain.url.replace('http:', 'https:')), MESSAGE)
    expect(overTls).toMatchObject({ httpStatus: null, error: 'tls_failed' })
  })
})

describe('webhook sender: addresses', () => {
  const mayConnect = createAddressRule([])

  test.each(['127.0.0.1', '127.1', '0x7f.1', '2130706433', '0177.0.0.1', '127.0.0.1.', '[::1]', '[::ffff:127.0.0.1]'])(
    'S4: the address %s in a URL is refused, in whatever form',
    async (host) => {
      const { port, received } = await receiver()
      const result = await senderOf({ mayConnect }).send(targetOf(`http://${host}:${port}/`), MESSAGE)
      expect(result).toMatchObject({ httpStatus: null, error: 'address_refused' })
      expect(received).toEqual([])
    },
  )

  test('S4: a name is refused if any of its addresses is, and at the moment of each connection', async () => {
    const { port, received } = await receiver()
    let addresses = ['127.0.0.1']
    const resolve: Resolve = (_, __, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    const url = `http://rebinding.example:${port}/`
    const allowed = createAddressRule([{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }])
    const open = senderOf({ mayConnect: allowed, resolve })
    expect(await open.send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: 204, error: null })
    open.forget('one')
    for (const next of [['169.254.169.254'], ['127.0.0.1', '10.0.0.1'], ['::1'], ['::ffff:127.0.0.2']]) {
      addresses = next
      expect(await open.send(targetOf(url), MESSAGE)).toMatchObject({ httpStatus: null, error: 'address_refused' })
      open.forget('one')
    }
    expect(received).toHaveLength(1)
  })

  test('S6: no proxy is used, whatever the environment says', async () => {
    const proxy = await receiver()
    const { url, received } = await receiver()
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'] as const
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url
    try {
      expect(await senderOf().send(targetOf(url), MESSAGE)).toMatchObject({ error: null })
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name]
        else process.env[name] = before[index]
      }
    }
    expect([proxy.received.length, received.length]).toEqual([0, 1])
  })
})
