/**
 * Properties of sealed messages beyond the port's contract: B1 and B2 of message-bodies.ts, T4 of transport-nats.ts.
 */
import { randomBytes } from 'node:crypto'
import type { Msg } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { NatsLink } from '../../infra/nats/connection.ts'
import { createSealedBodies, type MessageBodies, type MessageDirection } from '../../infra/nats/message-bodies.ts'
import { createNatsTransport } from '../../infra/nats/transport-nats.ts'
import type { NotDelivered, Transport } from '../../runtime/ports/transport.ts'
import { SILENT_LOG, startTestNats, type TestNats } from '../support/nats/nats.ts'
import { until } from '../support/nats/nats-until.ts'
import { PLAIN_BODIES } from '../support/nats/plain-bodies.ts'

const KEY = randomBytes(32)
const LEDGER = 'a ledger'
const SECRET = 'alice@bank pays 1234.56'

let nats: TestNats
beforeAll(async () => {
  nats = await startTestNats()
})
afterAll(() => nats.close())

interface Seen {
  readonly subject: string
  readonly reply: string
  readonly body: Buffer
}

let links: NatsLink[] = []
/** Everything that passes the server. */
let seen: Seen[] = []
let dropped: MessageDirection[] = []
let spy: NatsLink
let client: Transport
let server: Transport

beforeEach(async () => {
  ;[links, seen, dropped] = [[], [], []]
  spy = await link('spy')
  const copy = ({ subject, reply = '', data }: Msg): void => void seen.push({ subject, reply, body: Buffer.from(data) })
  spy.connection.subscribe('>', { callback: (_error, message) => copy(message) })
  await spy.connection.flush()
  client = await transport('client')
  server = await transport('server')
})
afterEach(() => Promise.all(links.map((one) => one.close())))

async function link(name: string): Promise<NatsLink> {
  const made = await nats.connect(name)
  links.push(made)
  return made
}

async function transport(name: string, bodies: MessageBodies = createSealedBodies(KEY, LEDGER)): Promise<Transport> {
  return createNatsTransport(await link(name), SILENT_LOG, {
    bodies,
    onUnopened: (direction) => void dropped.push(direction),
  })
}

function ask(subject: string, message: string, from = client): (string | NotDelivered)[] {
  const replies: (string | NotDelivered)[] = []
  from.request(subject, message, 30_000, (reply) => replies.push(reply))
  return replies
}

/** Serves, and returns what was heard once requests get there. */
async function hearing(subject: string, answer = `heard ${SECRET}`): Promise<string[]> {
  const heard: string[] = []
  server.serve(subject, (message, reply) => {
    heard.push(message)
    reply(answer)
  })
  for (const serving of links) await serving.connection.flush()
  return heard
}

async function settled(): Promise<void> {
  for (const one of [...links, ...links]) await one.connection.flush()
}

function sent(index: number): Seen {
  const message = seen[index]
  if (message === undefined) throw new Error('so much was not sent')
  return message
}

test('neither a request nor its reply can be read on the way', async () => {
  const heard = await hearing('told')
  const replies = ask('told', SECRET)
  await until(() => replies.length === 1 && seen.length === 2)
  expect([heard, replies]).toEqual([[SECRET], [`heard ${SECRET}`]])
  expect(seen.filter(({ body }) => body.includes('alice') || body.includes('1234'))).toEqual([])
  expect(seen.map(({ body }) => body.length)).toEqual([SECRET.length + 41, SECRET.length + 47])
})

test('the same text is another body each time', async () => {
  await hearing('told', '')
  for (let count = 0; count < 100; count += 1) ask('told', SECRET)
  await until(() => seen.length === 200)
  expect(new Set(seen.map(({ body }) => body.toString('latin1'))).size).toBe(200)
})

test('B1: a request opens at no other subject and with no other reply subject', async () => {
  const heard = await hearing('told')
  const elsewhere = await hearing('elsewhere')
  ask('told', SECRET)
  await until(() => seen.length === 2)
  const { reply, body } = sent(0)
  spy.connection.publish('elsewhere', body, { reply })
  spy.connection.publish('told', body, { reply: `${reply}x` })
  spy.connection.publish('told', body)
  await until(() => dropped.length === 3)
  expect([heard, elsewhere, dropped]).toEqual([[SECRET], [], ['request', 'request', 'request']])
})

test('B1: a reply opens as the reply to no other request, and not as a request', async () => {
  const heard = await hearing('told')
  ask('told', SECRET)
  await until(() => seen.length === 2)
  const reply = sent(1).body
  spy.connection.subscribe('silent', { callback: () => undefined })
  await spy.connection.flush()
  const other = ask('silent', 'anybody?')
  await until(() => seen.length === 3)
  spy.connection.publish(sent(2).reply, reply)
  // A request shown to the one who sent it as its reply.
  spy.connection.publish(sent(2).reply, sent(2).body)
  spy.connection.publish('told', reply, { reply: sent(0).reply })
  await until(() => dropped.length === 3)
  await settled()
  expect([heard, other]).toEqual([[SECRET], []])
  expect(dropped.toSorted()).toEqual(['reply', 'reply', 'request'])
})

test('B1: no byte can be changed, cut off or added', async () => {
  const heard = await hearing('told')
  ask('told', 'x')
  await until(() => seen.length === 2)
  const { reply, body } = sent(0)
  const damaged: Uint8Array[] = [Buffer.concat([body, Buffer.of(0)])]
  for (let index = 0; index < body.length; index += 1) {
    const flipped = Buffer.from(body)
    flipped.writeUInt8(flipped.readUInt8(index) ^ 1, index)
    damaged.push(flipped, body.subarray(0, index))
  }
  for (const bytes of damaged) spy.connection.publish('told', bytes, { reply })
  await until(() => dropped.length === damaged.length)
  expect(heard).toEqual(['x'])
})

test('B1, B2: what another ledger, another key or no key at all sends is dropped, and so is what they answer', async () => {
  const heard = await hearing('told')
  const foreign = [
    await transport('ledger', createSealedBodies(KEY, 'another ledger')),
    await transport('key', createSealedBodies(randomBytes(32), LEDGER)),
    createNatsTransport(await link('plain'), SILENT_LOG, { bodies: PLAIN_BODIES }),
  ]
  const asked = foreign.map((other) => ask('told', 'in the clear', other))
  await until(() => dropped.length === 3)
  foreign.forEach((other, index) => other.serve(`foreign.${index}`, (_message, reply) => reply('in the clear')))
  // The plain one takes everything for text and answers; the others drop what we say.
  await settled()
  const answered = foreign.map((_other, index) => ask(`foreign.${index}`, SECRET))
  await until(() => dropped.length === 6)
  await settled()
  expect(heard).toEqual([])
  expect([...asked, ...answered]).toEqual([[], [], [], [], [], []])
  expect(dropped.slice(3).toSorted()).toEqual(['reply', 'request', 'request'])
})

test('T4: who waits for a reply that does not open still gets the one that does', async () => {
  const later: ((text: string) => void)[] = []
  server.serve('slow', (_message, reply) => later.push(reply))
  await settled()
  const replies = ask('slow', 'hello')
  await until(() => later.length === 1 && seen.length === 1)
  spy.connection.publish(sent(0).reply, 'made up')
  await until(() => dropped.length === 1)
  for (const reply of later) reply('true')
  await until(() => replies.length === 1)
  expect(replies).toEqual(['true'])
})
