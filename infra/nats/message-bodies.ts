/**
 * Seals message texts into NATS bodies.
 *   B1. A body is bound to its ledger, direction, subject and reply subject. So a request with another reply subject, a
 *       request in place of a reply, and the reply to another request do not open.
 *   B2. An unsealed body is dropped.
 * A duplicate of a body opens: receivers expect duplicates.
 */
import type { Log } from '../../runtime/ports/log.ts'
import { placeOf } from '../vault/place.ts'
import { type DataKey, openText, SealedTextBroken, SEALING_BYTES, sealTextBytes } from '../vault/sealed-text.ts'

/** `replySubject`: unique for each request; empty if no reply is expected. */
export interface MessageAddress {
  readonly direction: MessageDirection
  /** Subject of the request, also for a reply. */
  readonly subject: string
  readonly replySubject: string
}

export const MESSAGE_DIRECTIONS = ['request', 'reply'] as const
export type MessageDirection = (typeof MESSAGE_DIRECTIONS)[number]

export interface MessageBodies {
  /** Bytes of a body beyond the UTF-8 of its text. */
  readonly overheadBytes: number
  readonly make: (address: MessageAddress, text: string) => Buffer
  /** Undefined if the body does not open. */
  readonly read: (address: MessageAddress, body: Uint8Array) => string | undefined
}

/** `key`: 32 bytes, shared by all edges and nodes of the ledger, and used for nothing else. */
export function createSealedBodies(key: DataKey, ledgerId: string): MessageBodies {
  const placeAt = ({ direction, subject, replySubject }: MessageAddress) =>
    placeOf('message', ledgerId, direction, subject, replySubject)
  return {
    overheadBytes: SEALING_BYTES,
    make: (address, text) => sealTextBytes(key, placeAt(address), text),
    read: (address, body) => {
      try {
        return openText(key, placeAt(address), body)
      } catch (error) {
        if (error instanceof SealedTextBroken) return undefined
        throw error
      }
    },
  }
}

export type CountUnopened = (direction: MessageDirection) => void

/** A peer controls the number of such messages, so the log must not grow with it. */
const LOG_INTERVAL_MS = 10_000

/** Counts messages that do not open, and logs the totals since the start. `now`: monotonic milliseconds. */
export function createUnopenedLog(log: Log, now: () => number = () => performance.now()): CountUnopened {
  const total = { request: 0, reply: 0 }
  let quietUntilMs = Number.NEGATIVE_INFINITY
  return (direction) => {
    total[direction] += 1
    if (now() < quietUntilMs) return
    quietUntilMs = now() + LOG_INTERVAL_MS
    log.error('messages_not_opened', { requests: total.request, replies: total.reply })
  }
}
