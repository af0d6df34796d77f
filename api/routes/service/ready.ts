/** GET /readyz: whether requests can be served, which ledger this is, and which checks say so (D5, D18). */
import type { PublicEndpoint } from '../../endpoint/route.ts'
import type { EdgeSettings, Readiness } from '../../http/dependencies.ts'
import { jsonReply, type Reply } from '../../http/reply.ts'
import { readinessResponse } from '../../schemas/responses/operation.ts'

export const getReadiness: PublicEndpoint = {
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
  handle: async ({ readiness, settings }) => readyReply(await readiness(), settings.environment, settings.ledgerId),
}

/** The answer of every process that can be asked, an edge or not. The checks that are false say what is missing. */
export function readyReply(
  { ready: isReady, checks, warnings = [] }: Readiness,
  environment: EdgeSettings['environment'],
  ledgerId: string | null,
): Reply {
  return jsonReply(
    isReady ? 200 : 503,
    { status: isReady ? 'ready' : 'not_ready', ledger_id: ledgerId, environment, checks, warnings: [...warnings] },
    { 'cache-control': 'no-store', ...(isReady ? {} : { 'retry-after': '1' }) },
  )
}
