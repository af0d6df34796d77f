/**
 * Transport over core NATS. One wildcard subscription takes every reply; each request has a reply subject of its own.
 *   T1. `not_delivered` is said in two cases: the server answered that nobody listens, or the message was never handed
 *       to the client because the link was down (C2). A link that breaks later leaves silence: the message may be out.
 *   T2. A reply that cannot be sent, one too large included, is dropped; requesters wait no longer than their timeout
 *       anyway.
 *   T3. Replies go to inboxes and nowhere else: who sends a message names the subject of its reply, and must not be able
 *       to have others write where it may not write itself.
 * Hot path: callbacks only, no promise, iterator or stack trace per message.
 */
import { createInbox, ErrorCode, NatsError, type Msg, type Subscription } from 'nats'
import type { Log } from '../../runtime/ports/log.ts'
import { NOT_DELIVERED, type NotDelivered, type PendingRequest, type Transport } from '../../runtime/ports/transport.ts'
import type { NatsLink } from './connection.ts'

/** Requests that wait for replies. Beyond, a request is not sent at all. */
const MAX_PENDING = 100_000
const NO_RESPONDERS_STATUS = 503
/** What the inbox prefixes of all roles begin with. */
const INBOXES = '_INBOX'

export function createNatsTransport(link: NatsLink, log: Log): Transport {
  const { publish, maxMessageBytes } = createPublisher(link)
  const serve: Transport['serve'] = (subject, handler) => {
    const subscription = link.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return log.error('nats_service_failed', { subject, code: error.code })
        const replySubject = message.reply ?? ''
        const reply = (body: string): void => {
          if (replySubject.startsWith(INBOXES)) guard(log, 'nats_reply_dropped', () => publish(replySubject, body))
        }
        guard(log, 'nats_callback_failed', () => handler(textOf(message), reply))
      },
    })
    return { drain: () => drain(subscription) }
  }
  return { request: createRequester(link, publish, log), serve, maxMessageBytes }
}

/** False: it was not handed to the client, and nobody will ever receive it. */
type Publish = (subject: string, message: string, reply?: string) => boolean

function createPublisher(link: NatsLink): { readonly publish: Publish; readonly maxMessageBytes: () => number } {
  const { connection } = link
  let lastKnownMax = connection.info?.max_payload ?? 0
  const maxMessageBytes = (): number => {
    // Unknown while the link is down; another server of the cluster may have another.
    lastKnownMax = connection.info?.max_payload ?? lastKnownMax
    return lastKnownMax
  }
  const publish: Publish = (subject, message, reply) => {
    const body = Buffer.from(message)
    if (body.length > maxMessageBytes()) {
      throw new Error(`message of ${body.length} bytes: this NATS server carries at most ${maxMessageBytes()}`)
    }
    if (!link.connected()) return false
    try {
      connection.publish(subject, body, reply === undefined ? {} : { reply })
      return true
    } catch (error) {
      if (isClosing(error)) return false
      throw error
    }
  }
  return { publish, maxMessageBytes }
}

interface Pending extends PendingRequest {
  readonly onReply: (reply: string | NotDelivered) => void
}

function createRequester(link: NatsLink, publish: Publish, log: Log): Transport['request'] {
  const inbox = createInbox(link.inboxPrefix)
  const pending = new Map<string, Pending>()
  let requests = 0
  link.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error !== null) return log.error('nats_inbox_failed', { code: error.code })
      const request = pending.get(message.subject)
      if (request === undefined) return
      const nobody = saysNobodyListens(message)
      if (nobody) request.close()
      guard(log, 'nats_callback_failed', () => request.onReply(nobody ? NOT_DELIVERED : textOf(message)))
    },
  })
  return (subject, message, timeoutMs, onReply) => {
    requests += 1
    const replySubject = `${inbox}.${requests.toString(36)}`
    if (pending.size >= MAX_PENDING || !publish(subject, message, replySubject)) return notSent(onReply, log)
    const close = (): void => {
      clearTimeout(timer)
      pending.delete(replySubject)
    }
    const timer = setTimeout(close, timeoutMs)
    timer.unref()
    pending.set(replySubject, { onReply, close })
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
    log.error(event, { reason: error instanceof Error ? error.message : 'unknown' })
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

/** The client's own decoder is slower, and drops a byte order mark. */
function textOf(message: Msg): string {
  const { buffer, byteOffset, byteLength } = message.data
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}
