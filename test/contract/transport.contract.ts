/** The contract of every Transport, real or simulated (T1-T3 of runtime/ports/transport.ts). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NOT_DELIVERED, type NotDelivered, type Service, type Transport } from '../../runtime/ports/transport.ts'

export interface TransportHarness {
  /** A client of its own, as another process would have. */
  readonly connect: () => Promise<Transport>
  /** Lets the world go on until the condition holds; fails when it does not. */
  readonly until: (condition: () => boolean) => Promise<void>
  /** Lets that much time pass. */
  readonly elapse: (durationMs: number) => Promise<void>
  /** Lets everything that is under way arrive. */
  readonly settle: () => Promise<void>
  /** Every client loses the server; resolves when they know. */
  readonly loseServer: () => Promise<void>
  readonly regainServer: () => Promise<void>
  readonly close: () => Promise<void>
}

const PATIENCE_MS = 20_000
const ARE_YOU_THERE = 'are you there?'

export function transportContract(name: string, createHarness: () => Promise<TransportHarness>): void {
  describe(`Transport contract: ${name}`, () => {
    let harness: TransportHarness
    let client: Transport
    let server: Transport
    beforeEach(async () => {
      harness = await createHarness()
      client = await harness.connect()
      server = await harness.connect()
    })
    afterEach(() => harness.close())

    /** Serves, and returns once requests really get there. */
    const serving = async (subject: string, handler: Parameters<Transport['serve']>[1]): Promise<Service> => {
      const service = server.serve(subject, (message, reply) =>
        message === ARE_YOU_THERE ? reply('yes') : handler(message, reply),
      )
      while ((await ask(subject, ARE_YOU_THERE)) === NOT_DELIVERED) await harness.elapse(1)
      return service
    }
    const ask = async (subject: string, message: string): Promise<string | NotDelivered> => {
      const replies = collect(client, subject, message)
      await harness.until(() => replies.length > 0)
      return replies[0] ?? NOT_DELIVERED
    }

    test('a request reaches the subject’s server, and its reply comes back', async () => {
      await serving('echo', (message, reply) => reply(`heard ${message}`))
      expect(await ask('echo', 'hello')).toBe('heard hello')
    })

    test('text of any kind arrives as it was sent, empty text too', async () => {
      await serving('echo', (message, reply) => reply(message))
      for (const text of ['', '\uFEFFmark', 'ünï ∑ 🙂', 'a\r\nb\0c']) expect(await ask('echo', text)).toBe(text)
    })

    test('T1: a request without a server is not_delivered, once', async () => {
      const replies = collect(client, 'missing.here', 'hello')
      await harness.until(() => replies.length > 0)
      await harness.settle()
      expect(replies).toEqual([NOT_DELIVERED])
    })

    test('T1: what was not_delivered does not reach a server that comes later', async () => {
      expect(await ask('later', 'too early')).toBe(NOT_DELIVERED)
      const heard: string[] = []
      await serving('later', (message) => heard.push(message))
      await harness.settle()
      expect(heard).toEqual([])
    })

    test('not_delivered is never said before request() has returned, with a server or without', async () => {
      const saidEarly: boolean[] = []
      const askOnce = (): void => {
        let returned = false
        client.request('missing.here', 'hello', PATIENCE_MS, () => saidEarly.push(!returned))
        returned = true
      }
      askOnce()
      await harness.until(() => saidEarly.length === 1)
      await harness.loseServer()
      askOnce()
      await harness.until(() => saidEarly.length === 2)
      await harness.regainServer()
      expect(saidEarly).toEqual([false, false])
    })

    test('T3: one request gets several replies, in order', async () => {
      await serving('many', (_message, reply) => {
        for (const part of ['one', 'two', 'three']) reply(part)
      })
      const replies = collect(client, 'many', 'go')
      await harness.until(() => replies.length === 3)
      expect(replies).toEqual(['one', 'two', 'three'])
    })

    test('after close() nothing more is called back', async () => {
      const later: (() => void)[] = []
      await serving('slow', (_message, reply) => {
        reply('first')
        later.push(() => reply('second'))
      })
      const replies: (string | NotDelivered)[] = []
      const request = client.request('slow', 'go', PATIENCE_MS, (reply) => replies.push(reply))
      await harness.until(() => replies.length === 1)
      request.close()
      for (const run of later) run()
      await harness.settle()
      expect(replies).toEqual(['first'])
    })

    test('a request that is closed at once gets no reply, not even not_delivered', async () => {
      const replies: (string | NotDelivered)[] = []
      client.request('missing.here', 'hello', PATIENCE_MS, (reply) => replies.push(reply)).close()
      await harness.settle()
      expect(replies).toEqual([])
    })

    test('after timeoutMs nothing more is called back', async () => {
      const later: (() => void)[] = []
      await serving('slow', (_message, reply) => later.push(() => reply('too late')))
      const replies = collect(client, 'slow', 'go', 50)
      await harness.until(() => later.length === 1)
      await harness.elapse(100)
      for (const run of later) run()
      await harness.settle()
      expect(replies).toEqual([])
    })

    test('many requests at once get each their own reply', async () => {
      await serving('echo', (message, reply) => reply(`heard ${message}`))
      const all = Array.from({ length: 500 }, (_, index) => collect(client, 'echo', String(index)))
      await harness.until(() => all.every((replies) => replies.length > 0))
      expect(all.map((replies) => replies[0])).toEqual(all.map((_, index) => `heard ${index}`))
    })

    test('messages of one sender on one subject arrive in order', async () => {
      const heard: number[] = []
      await serving('ordered', (message) => heard.push(Number(message)))
      for (let index = 0; index < 300; index += 1) collect(client, 'ordered', String(index))
      await harness.until(() => heard.length === 300)
      expect(heard).toEqual(Array.from({ length: 300 }, (_, index) => index))
    })

    test('the largest message passes, and one byte more is refused before it is sent', async () => {
      const largest = client.maxMessageBytes()
      expect(largest).toBeGreaterThanOrEqual(1024 * 1024)
      const lengths: number[] = []
      await serving('large', (message, reply) => {
        lengths.push(Buffer.byteLength(message))
        reply('taken')
      })
      const text = 'é'.repeat(Math.floor(largest / 2)) + 'x'.repeat(largest % 2)
      expect(await ask('large', text)).toBe('taken')
      expect(lengths).toEqual([largest])
      expect(() => collect(client, 'large', `${text}x`)).toThrow(/bytes/)
    })

    test('a drained service handles what has arrived and takes nothing new', async () => {
      let handled = 0
      const service = await serving('drained', (_message, reply) => {
        handled += 1
        reply('done')
      })
      const before = Array.from({ length: 200 }, () => collect(client, 'drained', 'work'))
      let drained = false
      void service.drain().then(() => (drained = true))
      await harness.until(() => drained)
      const handledWhenDrained = handled
      await harness.until(() => before.every((replies) => replies.length > 0))
      const done = before.filter((replies) => replies[0] === 'done').length
      expect(done).toBe(handledWhenDrained)
      expect(before.filter((replies) => replies[0] === NOT_DELIVERED).length).toBe(200 - done)
      expect(await ask('drained', 'more')).toBe(NOT_DELIVERED)
      expect(handled).toBe(handledWhenDrained)
    })

    test('draining twice, or while the server is away, ends', async () => {
      const service = await serving('drained', () => undefined)
      await harness.loseServer()
      let drained = 0
      void service.drain().then(() => (drained += 1))
      void service.drain().then(() => (drained += 1))
      await harness.regainServer()
      await harness.until(() => drained === 2)
      expect(await ask('drained', 'more')).toBe(NOT_DELIVERED)
    })

    test('T1, T2: while the server is away a request is not_delivered or lost, and only what is lost may arrive later', async () => {
      const heard: string[] = []
      let replyLater: (() => void) | undefined
      await serving('away', (message, reply) => {
        heard.push(message)
        replyLater = () => reply('late')
        reply('done')
      })
      await ask('away', 'before')
      await harness.loseServer()
      const during = Array.from({ length: 50 }, (_, index) => collect(client, 'away', `during ${index}`))
      expect(() => replyLater?.()).not.toThrow()
      await harness.regainServer()
      let after: string | NotDelivered = NOT_DELIVERED
      while (after === NOT_DELIVERED) after = await ask('away', 'after')
      await harness.settle()
      expect(after).toBe('done')
      const refused = during.flatMap((replies, index) => (replies[0] === NOT_DELIVERED ? [`during ${index}`] : []))
      expect(refused.length).toBeGreaterThan(0)
      for (const message of refused) expect(heard).not.toContain(message)
    })
  })
}

function collect(
  transport: Transport,
  subject: string,
  message: string,
  timeoutMs = PATIENCE_MS,
): (string | NotDelivered)[] {
  const replies: (string | NotDelivered)[] = []
  transport.request(subject, message, timeoutMs, (reply) => replies.push(reply))
  return replies
}
