/** Properties of a request that a gateway needs: its size, whether a replay is recognized, and its outcome. */
import type { Item, Operation } from '../protocol/messages.ts'
import type { GatewayOutcome } from './ledger-gateway.ts'
import type { SubmissionEnd } from '../ports/metrics.ts'

/** Upper bound of an item's other members: names, keys, grants, the trail and its trace. */
const ITEM_BYTES = 16_384 + 2_048
/** A transaction ID and an account ID, with their member names. */
const NAMED_TRANSACTION_LENGTH = 256
/** With its quotes and comma. */
const HASH_LENGTH = 46

/**
 * The effect of a retry after an applied attempt. `replays`: none, because the key or the request ID identifies the
 * request, or because the operation is idempotent. `keyed`: none if the client gave a key; else the retry may be
 * refused because of the first attempt. `overrules`: none if the client gave a key; else the retry undoes later changes
 * of other clients.
 */
const RETRIES = {
  submit: 'replays',
  dry_run: 'replays',
  capture: 'replays',
  create_hold: 'replays',
  release_hold: 'keyed',
  force_release: 'replays',
  rotate_key: 'replays',
  mint: 'replays',
  register: 'keyed',
  change_status: 'overrules',
  pause: 'overrules',
  resume: 'overrules',
  erase: 'replays',
  show_actor: 'replays',
  decline_legs: 'keyed',
  register_token: 'replays',
  register_class: 'replays',
  register_group: 'replays',
  revert_group: 'replays',
  hold_arrival: 'replays',
  note_used_keys: 'replays',
  take_arrival: 'replays',
  drop_arrival: 'replays',
  depart: 'replays',
} as const satisfies Record<Operation['kind'], string>

export function retryOf(operation: Operation): 'replays' | 'keyed' | 'overrules' {
  const hasKey = 'registrationKey' in operation && (operation.registrationKey ?? null) !== null
  return hasKey ? 'replays' : RETRIES[operation.kind]
}

/** Upper bound of the item's JSON: a UTF-16 unit is at most three bytes of UTF-8, also when escaped. */
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
