/**
 * What is large in messages and rows, in bytes: texts that clients write. Everything else is of bounded size and counted as
 * such by whoever asks. A UTF-16 unit is three bytes of UTF-8 at most.
 */
import type { Effect } from '../../actors/account/outcome.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { Envelope } from '../../actors/message.ts'
import type { AnyState } from '../../actors/step-actor.ts'

const BYTES_A_UNIT = 3
/** What an envelope takes beside its texts. */
export const ENVELOPE_BYTES = 1_024

const lengths = new WeakMap<JsonObject, number>()

/** As JSON. Objects of messages and states are never changed: each is written out once. */
function bytesOf(value: JsonObject | null): number {
  if (value === null) return 0
  const known = lengths.get(value)
  if (known !== undefined) return known
  const bytes = BYTES_A_UNIT * JSON.stringify(value).length
  lengths.set(value, bytes)
  return bytes
}

export function envelopeBytes(envelope: Envelope): number {
  return ENVELOPE_BYTES + textBytes(envelope)
}

function textBytes({ message }: Envelope): number {
  const metadata = 'metadata' in message ? bytesOf(message.metadata) : 0
  const payload = 'payload' in message ? BYTES_A_UNIT * message.payload.length : 0
  return metadata + payload
}

/** Of the rows that an effect adds. */
export function effectBytes(effect: Effect): number {
  switch (effect.kind) {
    case 'transaction_entered':
      return BYTES_A_UNIT * effect.transaction.payload.length
    case 'operation_recorded':
      return 'instance' in effect.operation.answer ? bytesOf(effect.operation.answer.instance.metadata) : 0
    case 'message_sent':
      return textBytes(effect.envelope)
    default:
      return 0
  }
}

/** Of the row of an actor that is written whole with every change. */
export function stateBytes(state: AnyState | null): number {
  if (state === null || !('kind' in state)) return 0
  if (state.kind === 'instance') return bytesOf(state.metadata)
  return state.kind === 'class' ? bytesOf(state.metadataSchema) : 0
}
