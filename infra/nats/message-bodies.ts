/**
 * Seals the text of a message into the body that NATS carries.
 *   B1. A sealed body opens only where it was sent to: in the same ledger, direction, subject and reply subject. A request
 *       sent on with another reply subject, a request shown as a reply, and the reply to another request do not open.
 *   B2. A body that is not sealed is dropped.
 * A body that is sent again unchanged opens: receivers expect duplicates.
 */
import { placeOf } from '../vault/place.ts'
import { type DataKey, openText, SealedTextBroken, SEALING_BYTES, sealTextBytes } from '../vault/sealed-text.ts'

/** Where a message goes. `replySubject` belongs to one request and no other; empty: nobody waits for a reply. */
export interface MessageAddress {
  readonly direction: MessageDirection
  /** Of the request, also where this is a reply. */
  readonly subject: string
  readonly replySubject: string
}

export const MESSAGE_DIRECTIONS = ['request', 'reply'] as const
export type MessageDirection = (typeof MESSAGE_DIRECTIONS)[number]

export interface MessageBodies {
  /** What a body has more than the UTF-8 of its text. */
  readonly overheadBytes: number
  readonly make: (address: MessageAddress, text: string) => Buffer
  /** undefined: it does not open, and nothing is known of it. */
  readonly read: (address: MessageAddress, body: Uint8Array) => string | undefined
}

/** `key`: 32 secret bytes that all edges and nodes of the ledger have, and that seal nothing else. */
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
