/**
 * The JetStream stream of a publisher. It has the events of the ledger in order, and the publisher's position.
 *   P1. Each message has the position of its event as a header, so the last message says where to continue. The position
 *       is encrypted, and authenticated for its event and its stream: a writer of the stream cannot make the publisher skip
 *       events.
 *   P2. Each message names the sequence number before it, and the server refuses it anywhere else. That number is counted
 *       from one message and its own position, so all publishers give an event the same number. So two publishers, and a
 *       message that arrives late, neither repeat nor omit nor reorder events.
 *   P3. The ID of an event is the ID of its message. The server drops a repeat within the stream's duplicate window.
 */
import {
  headers,
  type JetStreamClient,
  type JetStreamManager,
  NatsError,
  type PubAck,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats'
import type { PageTokens } from '../../api/http/page-token.ts'
import { LoggableError, reasonOf } from '../../runtime/common/reason.ts'
import type { EventPosition } from '../../runtime/ports/ledger-events.ts'
import type { NatsLink } from '../nats/connection.ts'

export interface StreamMessage {
  /** Of the event. */
  readonly id: string
  readonly subject: string
  readonly body: string
  readonly position: EventPosition
}

export interface StreamEnd {
  /** Of the last message, also if it was deleted; 0 in a new stream. */
  readonly sequence: number
  /** Of the last message; null: the stream has no message. */
  readonly position: EventPosition | null
}

export interface AddedMessages {
  /** Leading messages that are in the stream now. */
  readonly count: number
  /** Of them, those that were in the stream before. */
  readonly repeats: number
  readonly sequence: number
  /** The first of the other messages was refused: another publisher has written to the stream. */
  readonly isOutrun: boolean
}

/** Both throw StreamUnusable and StreamUnavailable. */
export interface EventStream {
  /** Creates the stream if it is missing. */
  readonly end: () => Promise<StreamEnd>
  /** `sequence`: of the end. */
  readonly add: (messages: readonly StreamMessage[], sequence: number) => Promise<AddedMessages>
}

/** A later attempt can succeed. After `add` the outcome is unknown: the caller must read the end again. */
export class StreamUnavailable extends Error {
  override readonly name = 'StreamUnavailable'
}

/** An operator must change something. */
export class StreamUnusable extends LoggableError {
  override readonly name = 'StreamUnusable'
}

export interface EventStreamOptions {
  /** Subjects of the stream, without `.>`. */
  readonly prefix: string
  /** Of a stream that is created. */
  readonly replicas: number
  readonly tokens: PageTokens
}

const POSITION_HEADER = 'Ledger-Position'
const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
const TIMEOUT_MS = 5_000
/** Bytes of a message beside its body: subject and headers. */
const HEADER_BYTES = 2_048
const STREAM_NOT_FOUND = 10059
const MESSAGE_NOT_FOUND = 10037
const WRONG_LAST_SEQUENCE = 10071

export function createEventStream(link: NatsLink, options: EventStreamOptions): EventStream {
  const { prefix, tokens } = options
  const name = prefix.replaceAll('.', '_')
  /** When the stream was created. */
  let created = ''
  const scopeOf = (id: string): string => JSON.stringify(['ledger events publish', prefix, created, id])
  const jetstream = link.connection.jetstream({ timeout: TIMEOUT_MS, checkAPI: false })
  return {
    async end() {
      refuseWithoutLink(link)
      const manager = await attempt(() => jetstream.jetstreamManager(false))
      const { config, state, ...stream } = await findStream(manager, name, options)
      ;({ created } = stream)
      refuseOtherConfiguration(config, prefix)
      const found = await attempt(() => lastMessage(manager, name, prefix))
      // Deleted messages at the end had the position. The message may be newer than the state.
      if (found === undefined || found.seq < state.last_seq) return { sequence: state.last_seq, position: null }
      const scope = scopeOf(found.header.get(MESSAGE_ID_HEADER))
      const position = tokens.read(scope, found.header.get(POSITION_HEADER))?.cursor
      if (position !== undefined) return { sequence: found.seq, position }
      throw new StreamUnusable(`message ${found.seq} of stream ${name} was not written by a publisher of this ledger`)
    },
    async add(messages, sequence) {
      refuseWithoutLink(link)
      const maxBytes = (link.connection.info?.max_payload ?? 0) - HEADER_BYTES
      const large = messages.find(({ body }) => body.length > maxBytes)
      if (large !== undefined) {
        throw new StreamUnusable(
          `event ${large.id} takes ${large.body.length} bytes, which max_payload of the NATS server does not allow: raise it`,
        )
      }
      const replies = messages.map((message, index) => {
        const token = tokens.write(scopeOf(message.id), { cursor: message.position, count: null })
        return publish(jetstream, message, { streamName: name, lastSequence: sequence + index }, token)
      })
      const added = addedOf(await Promise.allSettled(replies), sequence)
      for (const seq of added.repeated)
        await refuseDeleted(await attempt(() => jetstream.jetstreamManager(false)), name, seq)
      return added
    },
  }
}

function publish(
  jetstream: JetStreamClient,
  { id, subject, body }: StreamMessage,
  expect: { readonly streamName: string; readonly lastSequence: number },
  token: string,
): Promise<PubAck> {
  const added = headers()
  added.set(POSITION_HEADER, token)
  return jetstream.publish(subject, body, { msgID: id, headers: added, expect, timeout: TIMEOUT_MS })
}

function addedOf(
  replies: readonly PromiseSettledResult<PubAck>[],
  sequence: number,
): AddedMessages & { readonly repeated: readonly number[] } {
  let [count, last] = [0, sequence]
  const repeated: number[] = []
  // A repeat elsewhere in the stream takes no sequence number here: later messages named wrong ones.
  let isShifted = false
  for (const reply of replies) {
    if (reply.status === 'rejected') {
      if (codeOf(reply.reason) !== WRONG_LAST_SEQUENCE) throw unavailable(reply.reason)
      return { count, repeats: repeated.length, repeated, sequence: last, isOutrun: !isShifted }
    }
    const { seq, duplicate } = reply.value
    count += 1
    if (duplicate) repeated.push(seq)
    if (duplicate && seq !== last + 1) isShifted = true
    else last = seq
  }
  return { count, repeats: repeated.length, repeated, sequence: last, isOutrun: false }
}

/** A repeat counts only if the stream still has the message. */
async function refuseDeleted(manager: JetStreamManager, name: string, seq: number): Promise<void> {
  try {
    await manager.streams.getMessage(name, { seq })
  } catch (error) {
    if (codeOf(error) !== MESSAGE_NOT_FOUND) throw unavailable(error)
    throw new StreamUnavailable('the server drops a deleted message as a repeat until its duplicate window has passed')
  }
}

/** Creates the stream if it is missing. */
async function findStream(
  manager: JetStreamManager,
  name: string,
  { prefix, replicas }: EventStreamOptions,
): Promise<StreamInfo> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (codeOf(error) !== STREAM_NOT_FOUND) throw unavailable(error)
  }
  const created = {
    name,
    subjects: [`${prefix}.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
  }
  return attempt(() => manager.streams.add(created))
}

/** With another configuration the last message could be missing, or could be of another writer. */
function refuseOtherConfiguration({ name, subjects, retention }: StreamConfig, prefix: string): void {
  if (retention !== RetentionPolicy.Limits) {
    throw new StreamUnusable(`stream ${name} has the retention ${retention}: it must be limits`)
  }
  if (subjects.length !== 1 || subjects[0] !== `${prefix}.>`) {
    throw new StreamUnusable(`stream ${name} has the subjects ${subjects.join(', ')}: it must have ${prefix}.> only`)
  }
}

async function lastMessage(manager: JetStreamManager, name: string, prefix: string) {
  try {
    return await manager.streams.getMessage(name, { last_by_subj: `${prefix}.>` })
  } catch (error) {
    if (codeOf(error) === MESSAGE_NOT_FOUND) return undefined
    throw error
  }
}

function refuseWithoutLink(link: NatsLink): void {
  if (!link.connected()) throw new StreamUnavailable('NATS is not connected')
}

async function attempt<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw unavailable(error)
  }
}

function unavailable(cause: unknown): StreamUnavailable {
  return new StreamUnavailable(cause instanceof NatsError ? cause.message : reasonOf(cause), { cause })
}

function codeOf(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined
}
