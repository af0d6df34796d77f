/**
 * Approximate sizes in bytes of messages, rows and actors: clients' texts are measured, other members have a fixed
 * bound. A UTF-16 unit is at most three bytes of UTF-8.
 */
import type { Effect, RecordedAnswer } from '../../../actors/account/outcome.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { Envelope } from '../../../actors/message.ts'
import type { GroupState } from '../../../actors/group/state.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import { type AccountState, ARRIVAL_HOLD_ID } from '../../../actors/account/state.ts'

const BYTES_A_UNIT = 3
/** Bytes of an envelope besides its texts. */
export const ENVELOPE_BYTES = 1_024

/** A longer entry names many assets: its size is unbounded. */
const LARGE_ENTRY = 8_192
/** UTF-16 units of a history entry besides its payload. */
const EVENT_BYTES = 512
/** A token's name and a quantity, as JSON. */
const BALANCE_BYTES = 128

/** A leg with all its parts, two names of accounts and one of an NFT. */
const LEG_BYTES = 1_536
/** A compensation, done or requested: two transactions, or one with its account or failure. */
const UNDONE_BYTES = 384
/** An offer of an exchange. */
const OFFER_BYTES = 1_024

const lengths = new WeakMap<JsonObject, number>()

/** Size as JSON. Objects in messages and states are immutable, so each is serialized once. */
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
  const metadata = bytesOf(
    'metadata' in message ? message.metadata : 'hold' in message ? (message.hold?.metadata ?? null) : null,
  )
  const payload = 'payload' in message ? BYTES_A_UNIT * message.payload.length : 0
  return metadata + payload
}

/** Size of the rows that an effect adds. */
export function effectBytes(effect: Effect): number {
  switch (effect.kind) {
    case 'transaction_entered':
      return BYTES_A_UNIT * effect.transaction.payload.length
    case 'operation_recorded':
      return recordBytes(effect.operation)
    case 'entry_appended':
      return effect.entry.payload.length > LARGE_ENTRY ? BYTES_A_UNIT * effect.entry.payload.length : 0
    case 'nft_event':
      return BYTES_A_UNIT * effect.event.payload.length
    case 'message_sent':
      return textBytes(effect.envelope)
    default:
      return 0
  }
}

function recordBytes(recorded: RecordedAnswer): number {
  if (recorded.operation === 'mint') return bytesOf(recorded.answer.instance.metadata)
  return recorded.operation === 'hold' ? bytesOf(recorded.answer.hold.metadata) : 0
}

/** Size of an actor's row, which every change rewrites whole. */
export function stateBytes(state: AnyState | null): number {
  if (state === null) return 0
  if (state.kind === 'account') return bytesOfAccount(state)
  if (state.kind === 'instance') {
    const { metadata, arriving } = state
    const events = arriving?.events.reduce((sum, { payload }) => sum + EVENT_BYTES + payload.length, 0) ?? 0
    return bytesOf(metadata) + BYTES_A_UNIT * (events + (arriving === undefined ? 0 : JSON.stringify(metadata).length))
  }
  if (state.kind === 'hold') return bytesOf(state.metadata)
  if (state.kind === 'group') return bytesOfGroup(state)
  if (state.kind === 'exchange') {
    const { offers, pairs = [], expired = [] } = state
    return OFFER_BYTES * (offers.length + 2 * pairs.length + expired.length)
  }
  return state.kind === 'class' ? bytesOf(state.metadataSchema) : 0
}

function bytesOfGroup({ legs, compensationsAsked, compensations, partialFailures }: GroupState): number {
  const undone = Object.keys(compensationsAsked).length + compensations.length + partialFailures.length
  let bytes = LEG_BYTES * legs.length + UNDONE_BYTES * undone
  for (const { parts } of legs) for (const { metadata } of parts) bytes += bytesOf(metadata)
  return bytes
}

/** Size of a resident actor without its texts. */
const ACTOR_BYTES = 1_536
/** A balance, or a hold with its terms or its transaction, in memory. */
const BALANCE_IN_MEMORY_BYTES = 384
const HOLD_IN_MEMORY_BYTES = 1_024

/** Size of a resident actor, with an account's balances and holds. */
export function residentBytes(state: AnyState | null): number {
  const bytes = ACTOR_BYTES + stateBytes(state)
  if (state?.kind !== 'account') return bytes
  return bytes + BALANCE_IN_MEMORY_BYTES * state.balances.size + HOLD_IN_MEMORY_BYTES * state.holds.size
}

/** Imported or exported balances: they name every token. */
function bytesOfAccount({ holds, moved }: AccountState): number {
  const hold = holds.get(ARRIVAL_HOLD_ID)
  const arriving = hold?.kind === 'arrival' ? Object.keys(hold.account.balances).length : 0
  const departed = moved === undefined ? 0 : Object.keys(moved.balances).length
  return BALANCE_BYTES * (arriving + departed)
}
