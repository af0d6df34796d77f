/** A courier alone: a test inspects its messages, and replies by hand. */
import { accountAddress } from '../../../../../actors/address.ts'
import type { Delivery, DeliveryAnswer } from '../../../../../runtime/protocol/messages.ts'
import { Courier } from '../../../../../runtime/node/delivery/courier.ts'
import { Incarnation } from '../../../../../runtime/node/shard/incarnation.ts'
import type { AcknowledgedChannel, OutboxMessage, ShardStart } from '../../../../../runtime/ports/ledger-store.ts'
import { NOT_DELIVERED } from '../../../../../runtime/ports/transport.ts'
import { START_MS } from '../../../../support/accounts.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import { UNSUPPORTED_VERSION, WIRE } from '../../../../../runtime/protocol/wire.ts'
import { NO_RARE_PATHS } from '../../../../../runtime/ports/rare-paths.ts'
import { deliveriesIn, deliveryAnswersBody } from '../../../../support/bodies.ts'

export const SOURCE = 0
export const TARGET = 1
export const NOTHING: ShardStart = { lastTransactionId: null, channels: [], marks: [], outbox: [] }

/** Messages with these numbers, each with so many characters of metadata. */
export function messages(from: number, to: number, target = TARGET, size = 0): OutboxMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    target,
    number: from + index,
    envelope: {
      version: 1,
      to: accountAddress('b'),
      message: {
        type: 'credit_leg',
        groupId: 'g',
        leg: from + index,
        role: 'receiver',
        counterTxnId: 't',
        metadata: { text: 'x'.repeat(size) },
      },
      carries: [],
    },
  }))
}

interface SentMessage {
  readonly subject: string
  readonly bytes: number
  readonly deliveries: readonly Delivery[]
  readonly answer: (...answers: readonly DeliveryAnswer[]) => void
  readonly notDelivered: () => void
  readonly unsupported: () => void
}

export const taken = (mark: number, source = SOURCE, target = TARGET): DeliveryAnswer => ({
  source,
  target,
  kind: 'taken',
  mark,
})

export function carrying(maxMessageBytes = 1_048_576) {
  const clock = createManualClock(START_MS)
  const sent: SentMessage[] = []
  const here: (readonly Delivery[])[] = []
  const noted: (readonly AcknowledgedChannel[])[] = []
  const logged: string[] = []
  const sessions = new Map<number, string>([
    [SOURCE, 'me'],
    [TARGET, 'other'],
  ])
  const control = {
    notes: () => Promise.resolve(),
    /** The stored number of sent messages; undefined: another node has the shard. */
    sentTo: (): number | undefined => undefined,
    refreshes: 0,
    asked: 0,
    /** Looks up a route. */
    looks: 0,
    /** A shard got an owner. */
    moved: (): void => undefined,
  }
  const courier = new Courier({
    session: 'me',
    wire: WIRE,
    rare: NO_RARE_PATHS,
    store: {
      acknowledge: (channels) => {
        noted.push(channels)
        return control.notes()
      },
    },
    transport: {
      maxMessageBytes: () => maxMessageBytes,
      serve: () => ({ drain: () => Promise.resolve() }),
      request: (subject, message, _timeoutMs, onReply) => {
        const bytes = Buffer.byteLength(message)
        if (bytes > maxMessageBytes) throw new Error('the server would not take it')
        sent.push({
          subject,
          bytes,
          deliveries: deliveriesIn(message),
          answer: (...answers) => onReply(deliveryAnswersBody(answers)),
          notDelivered: () => onReply(NOT_DELIVERED),
          unsupported: () => onReply(UNSUPPORTED_VERSION),
        })
        return { close: () => undefined }
      },
    },
    routes: {
      find: (shardId) => {
        control.looks += 1
        const session = sessions.get(shardId)
        return session === undefined ? undefined : { session, epoch: 1 }
      },
      refresh: () => {
        control.refreshes += 1
        return Promise.resolve()
      },
      onMove: (run) => (control.moved = run),
    },
    clock,
    log: { info: () => undefined, warn: () => undefined, error: (event) => void logged.push(event) },
    sentTo: () => {
      control.asked += 1
      return Promise.resolve(control.sentTo())
    },
    deliverHere: (deliveries) => void here.push(deliveries),
  })
  /** Serves the source shard from here on. */
  const open = (start: Partial<ShardStart> = {}, epoch = 1): Incarnation => {
    const whole = { ...NOTHING, ...start }
    const incarnation = new Incarnation({ shardId: SOURCE, epoch, attempt: 0 }, whole)
    courier.open(incarnation, whole)
    return incarnation
  }
  /** Effects of a commit. */
  const commit = (incarnation: Incarnation, rows: readonly OutboxMessage[]) => {
    for (const { target, number } of rows) incarnation.sent.set(target, number)
    courier.take(incarnation, rows)
  }
  const end = (incarnation: Incarnation) => {
    incarnation.phase = 'ended'
    courier.close(incarnation)
  }
  return { clock, courier, sent, here, noted, logged, sessions, control, open, commit, end }
}

export const numbersOf = (deliveries: readonly Delivery[] | undefined): number[] =>
  (deliveries ?? []).flatMap((delivery) => delivery.messages.map(({ number }) => number))

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
