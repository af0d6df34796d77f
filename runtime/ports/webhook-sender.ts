/**
 * Sends messages to the URLs of webhooks.
 *   S1. A message goes only to an address that is allowed, checked on the address that is connected to.
 *   S2. No redirect is followed. A message is accepted if a response with a status of 2xx begins in time.
 *   S3. A call never rejects, and ends in time whatever the receiver does.
 */
import type { AttemptResult } from './webhook-store.ts'

export interface WebhookSender {
  /** False: the host of a URL is an address that nothing is sent to. A host name may still turn out to have one. */
  readonly mayConnect: (hostname: string) => boolean
  /** `onWritten`: called each time that the message was written, before the response is read. */
  readonly send: (target: WebhookTarget, message: WebhookMessage, onWritten?: () => void) => Promise<AttemptResult>
  /** Closes the connection of this name. */
  readonly forget: (connection: string) => void
}

export interface WebhookTarget {
  /** Messages with the same name share one connection, which is kept between them. */
  readonly connection: string
  readonly url: string
  /** Each signs the message. */
  readonly secrets: readonly string[]
}

export interface WebhookMessage {
  /** The same in each attempt: receivers recognize a repeated message by it. */
  readonly id: string
  /** JSON. */
  readonly body: string
}
