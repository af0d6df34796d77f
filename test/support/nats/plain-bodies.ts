import type { MessageBodies } from '../../../infra/nats/message-bodies.ts'

/** Messages as they are, which no part of a ledger sends or takes in. */
export const PLAIN_BODIES: MessageBodies = {
  overheadBytes: 0,
  make: (_address, text) => Buffer.from(text),
  read: (_address, { buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString(),
}
