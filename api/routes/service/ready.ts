/** GET /readyz: whether requests can be served, which ledger this is, and which checks say so (D5, D18). */
import { open, type PublicRoute } from '../../endpoint/route.ts'
import type { Readiness } from '../../http/dependencies.ts'
import { jsonReply, type Reply } from '../../http/reply.ts'
import { readinessResponse } from '../../schemas/responses/operation.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_READINESS: Operation = {
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  summary: 'Whether requests can be served, and which ledger this is',
  description: 'Send traffic to the edges that say 200.',
  roles: null,
  answers: [
    { status: 200, description: 'They can.', content: readinessResponse },
    {
      status: 503,
      description: 'They cannot at this moment.',
      content: readinessResponse,
      headers: ['Retry-After'],
    },
  ],
}

export interface ReadyContext {
  readonly readiness: () => Promise<Readiness>
  readonly environment: 'sandbox' | 'production'
  /** Null before the ledger was created. */
  readonly ledgerId: string | null
}

export function ready({ readiness, environment, ledgerId }: ReadyContext): PublicRoute {
  return {
    ...open(GET_READINESS),
    handle: async () => readyReply(await readiness(), environment, ledgerId),
  }
}

/** The answer of every process that can be asked, an edge or not. The checks that are false say what is missing. */
export function readyReply(
  { ready: isReady, checks, warnings = [] }: Readiness,
  environment: ReadyContext['environment'],
  ledgerId: string | null,
): Reply {
  return jsonReply(
    isReady ? 200 : 503,
    { status: isReady ? 'ready' : 'not_ready', ledger_id: ledgerId, environment, checks, warnings: [...warnings] },
    { 'cache-control': 'no-store', ...(isReady ? {} : { 'retry-after': '1' }) },
  )
}
