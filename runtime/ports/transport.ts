/**
 * Messages between edges and nodes. A message may be lost, late or duplicated: money never depends on it.
 * Contract: test/contract/transport.contract.ts
 *   T1. `not_delivered` only if the message can never be received.
 *   T2. A message sent while disconnected is `not_delivered` or lost, never an error.
 *   T3. One request may get several replies.
 */
export interface Transport {
  /**
   * Sends one message to the subject's listener. `onReply` is called for each reply, or once with `not_delivered`; not
   * after
   * `close()` of the returned request or `timeoutMs`.
   */
  readonly request: (
    subject: string,
    message: string,
    timeoutMs: number,
    onReply: (reply: string | NotDelivered) => void,
  ) => PendingRequest
  readonly serve: (subject: string, handler: (message: string, reply: (message: string) => void) => void) => Service
  /** The largest message in bytes of UTF-8. */
  readonly maxMessageBytes: () => number
}

export const NOT_DELIVERED = Symbol('not_delivered')
export type NotDelivered = typeof NOT_DELIVERED

export interface PendingRequest {
  readonly close: () => void
}

export interface Service {
  /** Accepts no new messages and handles those that have arrived; resolves when that is done. */
  readonly drain: () => Promise<void>
}
