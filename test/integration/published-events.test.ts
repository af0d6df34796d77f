/** The publisher of events with a real nats-server and a real ledger: each event once and in order, and encrypted. */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactDecrypt } from 'jose'
import {
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  RetentionPolicy,
  type StoredMsg,
  type StreamAPI,
} from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPageTokens } from '../../api/http/page-token.ts'
import { eventMembers } from '../../api/views/event-views.ts'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import type { NatsLink } from '../../infra/nats/connection.ts'
import { createLedgerEvents, type PostgresLedgerEvents } from '../../infra/postgres/reads/ledger-events-postgres.ts'
import { EventPublisher } from '../../infra/publisher/event-publisher.ts'
import { createEventStream, type EventStream, type StreamMessage } from '../../infra/publisher/event-stream-nats.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import type { LedgerEvent } from '../../runtime/ports/ledger-events.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Party,
} from '../support/audited-ledger.ts'
import { SILENT_LOG, startTestNats, type TestNats } from '../support/nats/nats.ts'
import { foundBelow } from '../support/needles.ts'
import { TEST_MASTER_KEY_TEXT } from '../support/postgres/ledger-database.ts'
import { until } from '../support/postgres/ledger-store-postgres.ts'
import { type BuiltProgram, buildProgram } from '../support/processes/built-program.ts'

const PREFIX = 'events.of-test'
const STREAM = 'events_of-test'

const POSITION_KEY = randomBytes(32)

const directory = mkdtempSync(join(tmpdir(), 'ledger-publisher-'))
const keyFile = join(directory, 'reader.pem')

let ledger: AuditedLedger
let parties: Parties
let alice: Party
let events: PostgresLedgerEvents
let program: BuiltProgram
let privateKey: KeyObject
let publicPem: string
let nats: TestNats
let link: NatsLink
let manager: JetStreamManager
let warnings: unknown[] = []
const started: { readonly stop: () => Promise<void> }[] = []

beforeAll(async () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  privateKey = pair.privateKey
  publicPem = String(pair.publicKey.export({ format: 'pem', type: 'spki' }))
  writeFileSync(keyFile, publicPem)
  program = buildProgram('infra/main/ledger.ts')
  ledger = await createAuditedLedger()
  const { url, ledgerId, vault } = ledger
  events = createLedgerEvents({ url, ledgerId, vault })
  parties = new Parties(ledger)
  ;({ alice } = await everythingOnce(parties, 'published'))
})

afterAll(async () => {
  await events?.close()
  await ledger?.close()
  program?.remove()
  rmSync(directory, { recursive: true, force: true })
})

beforeEach(async () => {
  nats = await startTestNats()
  link = await nats.connect('test')
  manager = await link.connection.jetstreamManager()
})

afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()))
  await nats.close()
})

async function wholeLog(): Promise<readonly LedgerEvent[]> {
  const all: LedgerEvent[] = []
  for (let after: string | null = null; ;) {
    const page = await events.read(after, 1_000)
    all.push(...page.events)
    if (page.atEnd) return all
    after = page.next
  }
}

/** The last sequence number of the stream; 0: there is no stream. */
async function lastSequence(): Promise<number> {
  const found = await manager.streams.info(STREAM).catch(() => undefined)
  return found?.state.last_seq ?? 0
}

async function stored(): Promise<readonly StoredMsg[]> {
  const messages: StoredMsg[] = []
  const { state } = await manager.streams.info(STREAM)
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    messages.push(await manager.streams.getMessage(STREAM, { seq }))
  }
  return messages
}

/** Asserts that the stream has the whole log, in its order. */
async function expectWholeLog(): Promise<void> {
  const [log, messages] = [await wholeLog(), await stored()]
  const opened = await Promise.all(
    messages.map(async ({ data }) => {
      const { plaintext, protectedHeader } = await compactDecrypt(data, privateKey)
      expect(protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc: 'A256GCM', kid: readPublicKey(publicPem)?.keyId })
      return JSON.parse(Buffer.from(plaintext).toString('utf8')) as { readonly id: string; readonly type: string }
    }),
  )
  expect(opened).toEqual(
    log.map((event) => JSON.parse(JSON.stringify(eventMembers(event, ledger.ledgerId))) as unknown),
  )
  expect(messages.map(({ header }) => header.get('Nats-Msg-Id'))).toEqual(log.map(({ id }) => id))
  expect(messages.map(({ subject }) => subject)).toEqual(opened.map(({ type }) => `${PREFIX}.${type}`))
}

function startProgram(): ChildProcess {
  const args = ['events', 'publish', '--subject', PREFIX, '--recipient-key', keyFile]
  const env = { LEDGER_DATABASE_URL: ledger.url, LEDGER_NATS_URL: nats.url(), LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT }
  const child = spawn(process.execPath, [program.path, ...args], { env: { ...process.env, ...env }, stdio: 'ignore' })
  started.push({ stop: async () => end(child) })
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

async function openStream(name: string): Promise<EventStream> {
  const tokens = createPageTokens(POSITION_KEY)
  return createEventStream(await nats.connect(name), { prefix: PREFIX, replicas: 1, tokens })
}

/** A publisher in this process. */
async function startPublisher({ restart = false } = {}): Promise<EventPublisher> {
  const recipient = readPublicKey(publicPem)
  if (recipient === undefined) throw new Error('the key was not read')
  const stream = await openStream(`publisher${started.length}`)
  const { ledgerId } = ledger
  const clock = createSystemClock()
  const publisher = new EventPublisher({
    events,
    stream,
    ledgerId,
    prefix: PREFIX,
    recipient,
    restart,
    clock,
    log: { ...SILENT_LOG, warn: (_, fields) => void warnings.push(fields) },
  })
  started.push(publisher)
  return publisher
}

async function untilPublished(): Promise<void> {
  const { length } = await wholeLog()
  await until(async () => (await lastSequence()) >= length)
}

test('killed and started again, it publishes each event once and in order', async () => {
  // The server recognizes no repeats, so only the position prevents them.
  await manager.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`], duplicate_window: 100_000_000 })
  const ended = new AbortController()
  const orders = (async () => {
    while (!ended.signal.aborted) await parties.submit(alice, { type: 'credit', amount: '1' })
  })()
  try {
    for (let kills = 0; kills < 3; kills += 1) {
      const before = await lastSequence()
      const child = startProgram()
      await until(async () => (await lastSequence()) >= before + 20)
      await end(child)
    }
  } finally {
    ended.abort()
    await orders
  }
  await parties.atRest()
  expect(await lastSequence()).toBeLessThan((await wholeLog()).length)
  const child = startProgram()
  await untilPublished()
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  await expectWholeLog()
})

test('nothing but types of events is readable in the files of the server', async () => {
  const carol = await parties.open('carol-in-the-stream')
  const txnId = await parties.submit(carol, {
    type: 'credit',
    amount: '7654321.25',
    metadata: { note: 'a readable note' },
  })
  await parties.atRest()
  void (await startPublisher()).run()
  await untilPublished()
  await expectWholeLog()
  const { ledgerId } = ledger
  const needles = {
    account: 'carol-in-the-stream',
    transaction: txnId,
    amount: '7654321.25',
    metadata: 'a readable note',
    ledger: ledgerId,
    position: (await wholeLog()).at(-1)?.position ?? '',
    type: 'ledger.transaction.completed.v1',
  }
  const found = new Set([...foundBelow(needles, nats.storeDir).values()].flat())
  expect(found).toEqual(new Set(['type']))
})

test('P2: two publishers repeat, omit and reorder nothing', async () => {
  await manager.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`], duplicate_window: 100_000_000 })
  const publishers = [await startPublisher(), await startPublisher(), await startPublisher()]
  for (const publisher of publishers) void publisher.run()
  for (let orders = 0; orders < 50; orders += 1) await parties.submit(alice, { type: 'credit', amount: '1' })
  await parties.atRest()
  await untilPublished()
  await Promise.all(publishers.map((publisher) => publisher.stop()))
  await expectWholeLog()
})

test('P2: a message that is added while the end is read changes no place', async () => {
  const first = await openStream('first')
  const second = await openStreamThat('second', () => first.add(numbered(4, 6), 3))
  await first.end()
  await first.add(numbered(1, 3), 0)
  const end = await second.end()
  expect(end).toEqual({ sequence: 6, position: '6' })
  await second.add(numbered(7, 12), end.sequence)
  const ids = (await stored()).map(({ header }) => header.get('Nats-Msg-Id'))
  expect(ids).toEqual(numbered(1, 12).map(({ id }) => id))
})

/** Messages whose positions are their numbers. */
function numbered(from: number, to: number): readonly StreamMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const number = String(from + index)
    return { id: `evt_${number}`, subject: `${PREFIX}.x`, body: number, position: number }
  })
}

/** A stream that calls `act` between the state of the stream and its last message. */
async function openStreamThat(name: string, act: () => Promise<unknown>): Promise<EventStream> {
  const link = await nats.connect(name)
  const connection = Object.create(link.connection) as NatsConnection
  connection.jetstream = (options) => {
    const jetstream = link.connection.jetstream(options)
    const client = Object.create(jetstream) as JetStreamClient
    client.jetstreamManager = async (checkApi) => {
      const real = await jetstream.jetstreamManager(checkApi)
      const streams = Object.create(real.streams) as StreamAPI
      streams.getMessage = async (stream, query) => {
        await act()
        return real.streams.getMessage(stream, query)
      }
      return Object.assign(Object.create(real) as JetStreamManager, { streams })
    }
    return client
  }
  const tokens = createPageTokens(POSITION_KEY)
  return createEventStream({ ...link, connection }, { prefix: PREFIX, replicas: 1, tokens })
}

test('an outage of the server is bridged', async () => {
  void (await startPublisher()).run()
  await untilPublished()
  await nats.stop()
  await parties.submit(alice, { type: 'credit', amount: '1' })
  await parties.atRest()
  await nats.start()
  await untilPublished()
  await expectWholeLog()
})

test('E2: a stream that lost the position is refused, and gets all events again on demand', async () => {
  const first = await startPublisher()
  void first.run()
  await untilPublished()
  await first.stop()
  await manager.streams.purge(STREAM)
  const before = await lastSequence()
  await expect((await startPublisher()).run()).rejects.toThrow(/position, was deleted: start with --restart/)
  warnings = []
  void (await startPublisher({ restart: true })).run()
  // Until the window has passed, the server would drop the events.
  await until(async () => warnings.length > 0)
  expect(warnings[0]).toMatchObject({ reason: expect.stringContaining('duplicate window') as string })
  expect(await lastSequence()).toBe(before)
  await manager.streams.update(STREAM, { duplicate_window: 100_000_000 })
  await until(async () => (await lastSequence()) >= before + (await wholeLog()).length)
  await expectWholeLog()
})

test('a foreign message, other subjects and another retention are refused', async () => {
  await manager.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`] })
  await link.connection.jetstream().publish(`${PREFIX}.x`, 'x')
  await expect((await startPublisher()).run()).rejects.toThrow('message 1 of stream events_of-test was not written by')
  await manager.streams.delete(STREAM)
  await manager.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`, 'others'] })
  await expect((await startPublisher()).run()).rejects.toThrow(`it must have ${PREFIX}.> only`)
  await manager.streams.delete(STREAM)
  await manager.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`], retention: RetentionPolicy.Interest })
  await expect((await startPublisher()).run()).rejects.toThrow('retention interest: it must be limits')
})

test('an event that is too large for the server is named', async () => {
  const stream = await openStream('large')
  await stream.end()
  const large = { id: 'evt_1', subject: `${PREFIX}.x`, body: 'x'.repeat(9_000_000), position: '1' }
  await expect(stream.add([large], 0)).rejects.toThrow(
    /^event evt_1 takes 9000000 bytes, which max_payload .* raise it$/,
  )
})
