/** Requests and orders of batches in the turns of their client (client-turns.ts). */
import type { Result } from '../../actors/result.ts'
import type { Turn } from '../../runtime/edge/client-turns.ts'
import type { Grant } from '../auth/grants.ts'
import { type Problem, problem } from '../http/problem.ts'
import { PAGE_SIZE } from './parameters.ts'
import type { EdgeContext, GuardedCall } from './route.ts'

type Waiting = Pick<GuardedCall, 'http' | 'admitAgain' | 'endpoint'>

/** Does the work when its turn comes. A request that waited is admitted again (E3), and refused if its client has gone. */
export async function inTurn<T>(
  { clientTurns, searchTurns }: Pick<EdgeContext, 'clientTurns' | 'searchTurns'>,
  { http, admitAgain, endpoint }: Waiting,
  admitted: Grant,
  work: (grant: Grant, end: Turn['end']) => Promise<T>,
): Promise<T | Problem> {
  const { clientId } = admitted.caller
  const search = isSearch(endpoint) ? await searchTurns.begin(clientId) : undefined
  if (search === undefined && isSearch(endpoint)) return overloaded(endpoint)
  const request = await clientTurns.begin(clientId)
  if (request === undefined) {
    search?.end()
    return overloaded(endpoint)
  }
  const turn = bothTurns(request, search)
  try {
    if (!turn.waited) return await work(admitted, turn.end)
    if (http.req.raw.signal.aborted) return overloaded(endpoint)
    const grant: Result<Grant, Problem> = await admitAgain()
    return grant.ok ? await work(grant.value, turn.end) : grant.error
  } finally {
    turn.end()
  }
}

/** F6 of client-turns.ts: every list is one. */
function isSearch({ parameters = [] }: Waiting['endpoint']): boolean {
  return parameters.some(({ name }) => name === PAGE_SIZE.name)
}

function bothTurns(request: Turn, search: Turn | undefined): Turn {
  if (search === undefined) return request
  return {
    waited: request.waited || search.waited,
    end: () => {
      request.end()
      search.end()
    },
  }
}

function overloaded({ changes }: Waiting['endpoint']): Problem {
  const detail = 'Too many requests of this client wait at this edge.'
  const refused = problem('downstream-failure', 'ERR_OVERLOADED', detail)
  return changes === undefined ? refused : { ...refused, outcome: 'not_applied' }
}
