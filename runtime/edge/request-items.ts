/** Properties of a request that a gateway needs: its size, whether a replay is recognized, and its outcome. */
import type { Item, Operation } from '../messages.ts'
import type { GatewayOutcome } from '../ports/ledger-gateway.ts'
import type { SubmissionEnd } from '../ports/metrics.ts'

/** Everything of an item that is bounded: names, keys, grants; and the trail with its trace. */
const ITEM_BYTES = 16_384 + 2_048
/** A transaction ID, an account ID and their names. */
const NAMED_TRANSACTION_LENGTH = 256
/** With its quotes and comma. */
const HASH_LENGTH = 46

/** Whether a repeat of it is recognised by an idempotency key. */
export function hasKey(operation: Operation): boolean {
  switch (operation.kind) {
    case 'submit':
    case 'rotate_key':
    case 'mint':
      return true
    case 'register':
    case 'change_status':
      return (operation.registrationKey ?? null) !== null
    case 'pause':
    case 'resume':
      return false
    // What these made is recognised by the request that made it.
    case 'register_token':
    case 'register_class':
    case 'register_group':
    case 'revert_group':
      return true
    // Done twice it is done once.
    case 'erase':
    case 'show_actor':
    case 'decline_legs':
    case 'hold_arrival':
    case 'note_used_keys':
    case 'take_arrival':
    case 'drop_arrival':
    case 'depart':
      return true
  }
}

/** Whether a repeat would undo what others have ordered since, unless a key tells that it is one. */
export function overrules({ kind }: Operation): boolean {
  return kind === 'change_status' || kind === 'pause' || kind === 'resume'
}

/** No less than the item takes as JSON: a UTF-16 unit is three bytes of UTF-8 at most, and no escape adds more. */
export function boundOfSize({ operation }: Item): number {
  const text = 'payload' in operation ? operation.payload.length : 0
  const signature = 'signature' in operation ? (operation.signature?.length ?? 0) : 0
  const reason = 'reason' in operation ? operation.reason.length : 0
  const named = operation.kind === 'revert_group' ? operation.transactions.length * NAMED_TRANSACTION_LENGTH : 0
  const arrival = operation.kind === 'hold_arrival' ? JSON.stringify(operation.arrival).length : 0
  const hashes = operation.kind === 'note_used_keys' ? operation.hashes.length * HASH_LENGTH : 0
  return ITEM_BYTES + 3 * (text + signature + reason + named + arrival + hashes)
}

/** The metric label of a request's outcome. */
export function endOf(outcome: GatewayOutcome): SubmissionEnd {
  if (outcome.kind === 'answered') {
    const { answer } = outcome
    return answer.kind === 'refused' ? { outcome: 'refused', code: answer.code } : { outcome: 'accepted' }
  }
  if (outcome.outcome === 'unknown') return { outcome: 'unknown', code: outcome.reason }
  return { outcome: outcome.reason === 'overloaded' ? 'overloaded' : 'not_applied', code: outcome.reason }
}
