/** Log fields that name requests. */
import type { Log, LogFields } from '../../ports/log.ts'
import { fieldsOf } from '../../ports/trail.ts'
import type { NodeContext } from './node-context.ts'
import { type Pending, sendVerdicts, settle } from './pending-command.ts'

/** Limit on the request IDs in one line. */
const MAX_NAMED = 20

/** `submission`: the request's ID in verdicts. Empty for messages between shards and for timers. */
export function requestFields({ origin }: Pending): LogFields {
  if (origin.kind !== 'request') return {}
  const { requestId, trail, operation } = origin.item
  return { ...fieldsOf(trail), submission: requestId, operation: operation.kind }
}

/** The number of requests, and the request IDs of the first ones. */
export function requestsFields(pendings: readonly Pending[]): LogFields {
  let requests = 0
  const named: string[] = []
  for (const { origin } of pendings) {
    if (origin.kind !== 'request') continue
    requests += 1
    const { trail } = origin.item
    if (trail !== undefined && named.length < MAX_NAMED) named.push(trail.requestId)
  }
  return { requests, request_ids: named.join(' ') }
}

/** One line per request, at the level `debug`. */
export function logEachRequest(log: Log, event: string, pendings: readonly Pending[], fields: LogFields): void {
  if (log.debug === undefined) return
  for (const pending of pendings) {
    if (pending.origin.kind !== 'request') continue
    log.debug(event, { ...requestFields(pending), shard: pending.incarnation.token.shardId, ...fields })
  }
}

/** Causes for a request to leave its mailbox without a verdict. */
export type UndecidedCause =
  | 'late'
  | 'commit_unknown'
  | 'shard_ended'
  | 'shard_given_away'
  | 'undeterminable'
  | 'failed'

/** Ends these commands without a verdict; counts and logs them. */
export function leaveUndecided(
  pendings: readonly Pending[],
  because: UndecidedCause,
  { log, metrics }: Pick<NodeContext, 'log' | 'metrics'>,
): void {
  const requests = pendings.filter(({ origin }) => origin.kind === 'request').length
  if (requests > 0) metrics?.items('given_up', requests)
  logEachRequest(log, 'submission_given_up', pendings, { because })
  for (const pending of pendings) settle(pending)
  sendVerdicts(pendings.map((pending) => [pending, { kind: 'undecided' }]))
}

/** The store refused the commit of these requests: they leave, with the reply that this attempt had no effect. */
export function rejectRequests(
  pendings: readonly Pending[],
  { log, metrics }: Pick<NodeContext, 'log' | 'metrics'>,
): void {
  if (pendings.length === 0) return
  metrics?.items('not_applied', pendings.length)
  logEachRequest(log, 'submission_rejected', pendings, { because: 'commit_refused' })
  for (const pending of pendings) settle(pending)
  sendVerdicts(pendings.map((pending) => [pending, { kind: 'not_applied' }]))
}
