/**
 * Transport over core NATS. One wildcard subscription takes every reply; each request has a reply subject of its own.
 *   T1. `not_delivered` is said in two cases: the server answered that nobody listens, or the message was never handed
 *       to the client because the link was down (C2). A link that breaks later leaves silence: the message may be out.
 *   T2. A reply that cannot be sent, one too large included, is dropped; requesters wait no longer than their timeout
 *       anyway.
 *   T3. Replies go to inboxes and nowhere else: who sends a message names the subject of its reply, and must not be able
 *       to have others write where it may not write itself.
 *   T4. A message whose body does not open is dropped and counted: it was never sent, as far as anybody here is told.
 * Hot path: callbacks only, no promise, iterator or stack trace per message.
 */
import { createInbox, ErrorCode, NatsError, type Msg, type Subscription } from 'nats'
import { BriefMap } from '../../runtime/common/brief-map.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { NOT_DELIVERED, type NotDelivered, type PendingRequest, type Transport } from '../../runtime/ports/transport.ts'
import { reasonOf, ToldError } from '../../runtime/common/reason.ts'
import type { NatsLink } from './connection.ts'
import type { MessageAddress, MessageBodies } from './message-bodies.ts'
import type { CountUnread } from './unread-messages.ts'

/** Requests that wait for replies. Beyond, a request is not sent at all. */
const MAX_PENDING = 100_000
const NO_RESPONDERS_STATUS = 503
/** What the inbox prefixes of all roles begin with. */
const INBOXES = '_INBOX'

export interface NatsTransportOptions {
  readonly bodies: MessageBodies
  /** T4. */
  readonly onUnread?: CountUnread
}

export function createNatsTransport(link: NatsLink, log: Log, options: NatsTransportOptions): Transport {
  const { bodies, onUnread } = options
  const { publish, maxMessageBytes } = createPublisher(link, bodies)
  const read: Read = (address, { data }) => {
    const text = bodies.read(address, data)
    if (text === undefined) onUnread?.(address.direction)
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

class MessageTooLarge extends ToldError {
  override readonly name = 'MessageTooLarge'
}

/** False: it was not handed to the client, and nobody will ever receive it. */
type Publish = (address: MessageAddress, text: string) => boolean

/** undefined: it does not open (T4). */
type Read = (address: MessageAddress, message: Msg) => string | undefined

interface Publisher {
  readonly publish: Publish
  readonly maxMessageBytes: () => number
}

function createPublisher(link: NatsLink, bodies: MessageBodies): Publisher {
  const { connection } = link
  let lastKnownMax = connection.info?.max_payload ?? 0
  const maxMessageBytes = (): number => {
    // Unknown while the link is down; another server of the cluster may have another.
    lastKnownMax = connection.info?.max_payload ?? lastKnownMax
    return lastKnownMax - bodies.overheadBytes
  }
  const publish: Publish = (address, text) => {
    const { direction, subject, replySubject } = address
    const body = bodies.make(address, text)
    const textBytes = body.length - bodies.overheadBytes
    if (textBytes > maxMessageBytes()) {
      throw new MessageTooLarge(`message of ${textBytes} bytes: this NATS server carries at most ${maxMessageBytes()}`)
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
  const pending = new BriefMap<string, Pending>()
  let requests = 0
  link.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error !== null) return log.error('nats_inbox_failed', { code: error.code })
      const request = pending.get(message.subject)
      if (request === undefined) return
      const nobody = saysNobodyListens(message)
      if (nobody) request.close()
      guard(log, 'nats_callback_failed', () => {
        const { subject } = request
        const reply = nobody
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
  // With callbacks, what has arrived has been handled when the server confirms; a closed link has nothing to confirm.
  if (!subscription.isClosed()) await subscription.drain().catch(() => undefined)
}

/** An error that escapes a callback would end the client's reader, and with it the whole connection. */
function guard(log: Log, event: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    log.error(event, { reason: reasonOf(error) })
  }
}

/** Thrown before anything is written, once the connection is being closed. */
function isClosing(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false
  const closing: readonly string[] = [ErrorCode.ConnectionDraining, ErrorCode.ConnectionClosed]
  return closing.includes(error.code)
}

/** An empty reply of a peer has no headers. */
function saysNobodyListens(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === NO_RESPONDERS_STATUS
}
