/** GET /healthz: this process answers. /readyz checks its dependencies. */
import { open, type PublicRoute } from '../../endpoint/route.ts'
import { jsonReply, type Reply } from '../../http/reply.ts'
import { healthResponse } from '../../schemas/responses/operation.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_HEALTH: Operation = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process answers',
  description: 'It does not look at what it depends on.',
  roles: null,
  answers: [{ status: 200, description: 'It does.', content: healthResponse }],
}

export function health(): PublicRoute {
  return {
    ...open(GET_HEALTH),
    handle: healthReply,
  }
}

export function healthReply(): Reply {
  return jsonReply(200, { status: 'ok' }, { 'cache-control': 'no-store' })
}
