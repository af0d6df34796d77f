/**
 * An example of the next version: the receiver's decision on a transfer has another type and one more member. A release
 * that prepares for it reads it and writes this version; the release after that writes it.
 */
import type { Envelope, Message } from '../../../actors/message.ts'
import type { WrittenEnvelope } from '../../../runtime/ports/ledger-store.ts'
import { WIRE, type Wire } from '../../../runtime/protocol/wire.ts'

export const NEXT_VERSION = WIRE.writes + 1

const OLD_TYPE: Message['type'] = 'conclude_transfer'
const NEW_TYPE: string = 'transfer_decided'

/** The release that prepares for the next version. */
export const READS_NEXT: Wire = {
  ...WIRE,
  reads: [...WIRE.reads, NEXT_VERSION],
  readEnvelope: (written) =>
    written.version === NEXT_VERSION ? WIRE.readEnvelope(inThis(written)) : WIRE.readEnvelope(written),
}

/** The release that writes the next version. */
export const WRITES_NEXT: Wire = {
  ...READS_NEXT,
  writes: NEXT_VERSION,
  writeEnvelope: (envelope) => inNext(WIRE.writeEnvelope(envelope)),
}

function inNext(written: WrittenEnvelope): WrittenEnvelope {
  const { message } = written
  const renamed = { ...message, type: NEW_TYPE, since: NEXT_VERSION }
  return { ...written, version: NEXT_VERSION, message: message.type === OLD_TYPE ? (renamed as Message) : message }
}

function inThis({ to, message, carries }: WrittenEnvelope): WrittenEnvelope {
  const { since: _since, ...others }: Message & { readonly since?: number } = message
  const renamed = { ...others, type: OLD_TYPE }
  return { version: WIRE.writes, to, message: isRenamed(message) ? (renamed as Message) : message, carries }
}

function isRenamed({ type }: { readonly type: string }): boolean {
  return type === NEW_TYPE
}

/** The content of the envelope, from either version. */
export function plainEnvelope(written: WrittenEnvelope): Envelope {
  const { to, message, carries } = READS_NEXT.readEnvelope(written) ?? written
  return { to, message, carries }
}
