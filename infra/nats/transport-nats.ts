/**
 * Transport over core NATS. One wildcard subscription receives all replies; each request has its own reply subject.
 *   T1. The outcome is `not_delivered` in two cases: the server reports no responders, or the link was down before the
 *       message was given to the client (C2). If the link breaks later, there is no reply: the message may be delivered.
 *   T2. A reply that cannot be sent, for example because it is too large, is dropped. The requester times out.
 *   T3. Replies are sent to inboxes only. The requester chooses the reply subject, and must not make a node publish to a
 *       subject that the requester may not publish to.
 *   T4. A message whose body does not open is dropped and counted.
 * Hot path: callbacks only, no promise, iterator or stack trace per message.
 */
import { createInbox, ErrorCode, NatsError, type Msg, type Subscription } from 'nats'
import { TransientMap } from '../../runtime/common/transient-map.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { NOT_DELIVERED, type NotDelivered, type PendingRequest, type Transport } from '../../runtime/ports/transport.ts'
import { reasonOf, LoggableError } from '../../runtime/common/reason.ts'
import type { NatsLink } from './connection.ts'
import type { CountUnopened, MessageAddress, MessageBodies } from './message-bodies.ts'

/** Bound of the requests that wait for replies. Further ones are not sent. */
const MAX_PENDING = 100_000
const NO_RESPONDERS_STATUS = 503
/** Common prefix of the inboxes of all roles. */
const INBOXES = '_INBOX'

export interface NatsTransportOptions {
  readonly bodies: MessageBodies
  /** T4. */
  readonly onUnopened?: CountUnopened
}

export function createNatsTransport(link: NatsLink, log: Log, options: NatsTransportOptions): Transport {
  const { bodies, onUnopened } = options
  const { publish, maxMessageBytes } = createPublisher(link, bodies)
  const read: Read = (address, { data }) => {
    const text = bodies.read(address, data)
    if (text === undefined) onUnopened?.(address.direction)
    return text
  }
  const serve: Transport['serve'] = (subject, handler) => {
    const subscription = link.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return log.error('nats_service_failed', { subject, code: error.code })
        const { subject: sentTo, reply: replySubject = '' } = message
        const reply = (text: string): void => {
          if (!replySubject.startsWith(INBOXES)) return
          guard(log, 'nats_reply_dropped', () => publish({ direction: 'reply', subject: sentTo, replySubject }, text))
        }
        guard(log, 'nats_callback_failed', () => {
          const text = read({ direction: 'request', subject: sentTo, replySubject }, message)
          if (text !== undefined) handler(text, reply)
        })
      },
    })
    return { drain: () => drain(subscription) }
  }
  return { request: createRequester(link, publish, read, log), serve, maxMessageBytes }
}

class MessageTooLarge extends LoggableError {
  override readonly name = 'MessageTooLarge'
}

/** False: the message was not given to the client and will never be delivered. */
type Publish = (address: MessageAddress, text: string) => boolean

/** Undefined if the body does not open (T4). */
type Read = (address: MessageAddress, message: Msg) => string | undefined

interface Publisher {
  readonly publish: Publish
  readonly maxMessageBytes: () => number
}

function createPublisher(link: NatsLink, bodies: MessageBodies): Publisher {
  const { connection } = link
  let lastKnownMax = connection.info?.max_payload ?? 0
  const maxMessageBytes = (): number => {
    // Unknown while the link is down. Servers of a cluster may differ.
    lastKnownMax = connection.info?.max_payload ?? lastKnownMax
    return lastKnownMax - bodies.overheadBytes
  }
  const publish: Publish = (address, text) => {
    const { direction, subject, replySubject } = address
    const body = bodies.make(address, text)
    const textBytes = body.length - bodies.overheadBytes
    if (textBytes > maxMessageBytes()) {
      throw new MessageTooLarge(
        `message of ${textBytes} bytes: the max_payload of this NATS server allows ${maxMessageBytes()}`,
      )
    }
    if (!link.connected()) return false
    try {
      if (direction === 'reply') connection.publish(replySubject, body)
      else connection.publish(subject, body, { reply: replySubject })
      return true
    } catch (error) {
      if (isClosing(error)) return false
      throw error
    }
  }
  return { publish, maxMessageBytes }
}

interface Pending extends PendingRequest {
  readonly subject: string
  readonly onReply: (reply: string | NotDelivered) => void
}

function createRequester(link: NatsLink, publish: Publish, read: Read, log: Log): Transport['request'] {
  const inbox = createInbox(link.inboxPrefix)
  const pending = new TransientMap<string, Pending>()
  let requests = 0
  link.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error !== null) return log.error('nats_inbox_failed', { code: error.code })
      const request = pending.get(message.subject)
      if (request === undefined) return
      const undelivered = hasNoResponders(message)
      if (undelivered) request.close()
      guard(log, 'nats_callback_failed', () => {
        const { subject } = request
        const reply = undelivered
          ? NOT_DELIVERED
          : read({ direction: 'reply', subject, replySubject: message.subject }, message)
        if (reply !== undefined) request.onReply(reply)
      })
    },
  })
  return (subject, message, timeoutMs, onReply) => {
    requests += 1
    const replySubject = `${inbox}.${requests.toString(36)}`
    const address = { direction: 'request', subject, replySubject } as const
    if (pending.size >= MAX_PENDING || !publish(address, message)) return notSent(onReply, log)
    const close = (): void => {
      clearTimeout(timer)
      pending.delete(replySubject)
    }
    const timer = setTimeout(close, timeoutMs)
    timer.unref()
    pending.set(replySubject, { subject, onReply, close })
    return { close }
  }
}

function notSent(onReply: (reply: NotDelivered) => void, log: Log): PendingRequest {
  let open = true
  queueMicrotask(() => {
    if (open) guard(log, 'nats_callback_failed', () => onReply(NOT_DELIVERED))
  })
  return {
    close: () => {
      open = false
    },
  }
}

async function drain(subscription: Subscription): Promise<void> {
  // Callbacks have handled all messages when the server confirms. A closed link is already drained.
  if (!subscription.isClosed()) await subscription.drain().catch(() => undefined)
}

/** An error that escapes a callback would end the client's connection. */
function guard(log: Log, event: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    log.error(event, { reason: reasonOf(error) })
  }
}

/** The client throws this before it writes anything, when the connection is closing. */
function isClosing(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false
  const closing: readonly string[] = [ErrorCode.ConnectionDraining, ErrorCode.ConnectionClosed]
  return closing.includes(error.code)
}

/** The server's status message is empty and has headers. An empty reply of a peer has none. */
function hasNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === NO_RESPONDERS_STATUS
}
