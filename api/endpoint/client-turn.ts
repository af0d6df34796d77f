/** Requests and orders of batches in the turns of their client (client-turns.ts). */
import type { Result } from '../../actors/result.ts'
import type { Turn } from '../../runtime/edge/client-turns.ts'
import type { Grant } from '../auth/grants.ts'
import { type Problem, problem } from '../http/problem.ts'
import type { EdgeContext, GuardedCall } from './route.ts'

type Waiting = Pick<GuardedCall, 'http' | 'admitAgain' | 'endpoint'>

/** Does the work when its turn comes. A request that waited is admitted again (E3), and refused if its client has gone. */
export async function inTurn<T>(
  { clientTurns }: Pick<EdgeContext, 'clientTurns'>,
  { http, admitAgain, endpoint }: Waiting,
  admitted: Grant,
  work: (grant: Grant, end: Turn['end']) => Promise<T>,
): Promise<T | Problem> {
  const turn = await clientTurns.begin(admitted.caller.clientId)
  if (turn === undefined) return overloaded(endpoint)
  try {
    if (!turn.waited) return await work(admitted, turn.end)
    if (http.req.raw.signal.aborted) return overloaded(endpoint)
    const grant: Result<Grant, Problem> = await admitAgain()
    return grant.ok ? await work(grant.value, turn.end) : grant.error
  } finally {
    turn.end()
  }
}

function overloaded({ changes }: Waiting['endpoint']): Problem {
  const detail = 'Too many requests of this client wait at this edge.'
  const refused = problem('downstream-failure', 'ERR_OVERLOADED', detail)
  return changes === undefined ? refused : { ...refused, outcome: 'not_applied' }
}
