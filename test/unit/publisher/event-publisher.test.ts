/** The publisher of events over a log and a stream in memory: failures, and positions that are of no use. */
import { expect, test } from 'vitest'
import { EventPublisher, type EventPublisherOptions } from '../../../infra/publisher/event-publisher.ts'
import {
  type EventStream,
  type StreamMessage,
  StreamUnavailable,
  StreamUnusable,
} from '../../../infra/publisher/event-stream-nats.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { EventPositionForeign, type EventPosition, EventsUnavailable } from '../../../runtime/ports/ledger-events.ts'
import { accountEvent, createFakeEvents, type FakeEvents } from '../api/fakes/fake-events.ts'
import { createRecipient } from '../portability/export-scene.ts'

const { key: recipient } = createRecipient()

interface FakeStream extends EventStream {
  readonly messages: StreamMessage[]
  position: EventPosition | null
  /** Thrown by the next calls. */
  readonly failures: Error[]
}

function createFakeStream(): FakeStream {
  const messages: StreamMessage[] = []
  const fake: FakeStream = {
    messages,
    position: null,
    failures: [],
    async end() {
      failNext()
      return { sequence: messages.length, position: fake.position }
    },
    async add(added, sequence) {
      failNext()
      expect(sequence).toBe(messages.length)
      messages.push(...added)
      fake.position = added.at(-1)?.position ?? fake.position
      return { count: added.length, repeats: 0, sequence: messages.length, isOutrun: false }
    },
  }
  const failNext = (): void => {
    const failure = fake.failures.shift()
    if (failure !== undefined) throw failure
  }
  return fake
}

function publisherOf(events: FakeEvents, stream: FakeStream, over: Partial<EventPublisherOptions> = {}) {
  const lines: (readonly [string, object | undefined])[] = []
  const write = (name: string, fields?: object): void => void lines.push([name, fields])
  const publisher = new EventPublisher({
    events,
    stream,
    ledgerId: 'ledger-1',
    prefix: 'events',
    recipient,
    restart: false,
    // Pauses of seconds take a millisecond.
    clock: { ...createSystemClock(), after: (_, run) => createSystemClock().after(1, run) },
    log: { info: write, warn: write, error: write },
    ...over,
  })
  return { publisher, lines }
}

function logOf(count: number): FakeEvents {
  const events = createFakeEvents()
  for (let added = 0; added < count; added += 1) events.log.push(accountEvent(events.log, `account-${added}`))
  return events
}

const idsOf = (of: readonly { readonly id: string }[]): readonly string[] => of.map(({ id }) => id)

test('it continues behind the position in the stream, and logs the sum of events', async () => {
  const [events, stream] = [logOf(450), createFakeStream()]
  stream.position = '20'
  const { publisher, lines } = publisherOf(events, stream)
  void publisher.run()
  await expect.poll(() => stream.messages.length).toBe(430)
  await publisher.stop()
  expect(idsOf(stream.messages)).toEqual(idsOf(events.log.slice(20)))
  expect(stream.messages[0]?.subject).toBe('events.ledger.account.registered.v1')
  expect(lines).toEqual([['events_published', { events: 430, repeats: 0, lag_ms: expect.any(Number) as number }]])
})

test('E1: after a failure of the log or the stream it reads the position again, and logs one warning', async () => {
  const [events, stream] = [logOf(3), createFakeStream()]
  const { publisher, lines } = publisherOf(events, stream)
  events.failure = new EventsUnavailable('no database')
  void publisher.run()
  await expect.poll(() => events.limits.length).toBeGreaterThan(3)
  expect(lines).toEqual([['publishing_failed', { reason: 'no database' }]])
  stream.failures.push(new StreamUnavailable('a'), new StreamUnavailable('b'))
  // A message of another publisher, or one whose acknowledgement was lost.
  stream.position = '2'
  delete events.failure
  await expect.poll(() => stream.messages.length).toBe(1)
  await publisher.stop()
  expect(idsOf(stream.messages)).toEqual(idsOf(events.log.slice(2)))
})

test('E2: a position of another database is refused, and replaced by the beginning on demand', async () => {
  const [events, stream] = [logOf(2), createFakeStream()]
  stream.position = 'foreign'
  const { read } = events
  const foreign: FakeEvents = {
    ...events,
    read: async (after, limit) => {
      if (after === 'foreign') throw new EventPositionForeign('The position belongs to another database.')
      return read(after, limit)
    },
  }
  const refusing = publisherOf(foreign, stream).publisher
  await expect(refusing.run()).rejects.toThrow('the database was replaced since the last event: start with --restart')
  const { publisher } = publisherOf(foreign, stream, { restart: true })
  void publisher.run()
  await expect.poll(() => stream.messages.length).toBe(2)
  await publisher.stop()
  expect(idsOf(stream.messages)).toEqual(idsOf(events.log))
})

test('E1: after a restart with all events, a lost acknowledgement repeats none of them', async () => {
  const [events, stream] = [logOf(3), createFakeStream()]
  stream.position = 'foreign'
  const { add } = stream
  let isLost = false
  const losing: FakeStream = Object.assign(stream, {
    add: async (messages: readonly StreamMessage[], sequence: number) => {
      const added = await add(isLost ? messages : messages.slice(0, 2), sequence)
      if (isLost) return added
      isLost = true
      throw new StreamUnavailable('an acknowledgement was lost')
    },
  })
  const { publisher } = publisherOf(events, losing, { restart: true })
  void publisher.run()
  await expect.poll(() => stream.messages.length).toBe(3)
  await publisher.stop()
  expect(idsOf(stream.messages)).toEqual(idsOf(events.log))
})

test('an unusable stream and an unknown error end it', async () => {
  for (const error of [new StreamUnusable('of another ledger'), new Error('a fault')]) {
    const stream = createFakeStream()
    stream.failures.push(error)
    const { publisher } = publisherOf(logOf(1), stream)
    await expect(publisher.run()).rejects.toBe(error)
    await publisher.stop()
  }
})
