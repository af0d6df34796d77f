/** GET /healthz: this process answers. /readyz checks its dependencies. */
import type { PublicEndpoint } from '../../endpoint/route.ts'
import { jsonReply, type Reply } from '../../http/reply.ts'
import { healthResponse } from '../../schemas/responses/operation.ts'

export const getHealth: PublicEndpoint = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process answers',
  description: 'It does not look at what it depends on.',
  roles: null,
  answers: [{ status: 200, description: 'It does.', content: healthResponse }],
  handle: healthReply,
}

export function healthReply(): Reply {
  return jsonReply(200, { status: 'ok' }, { 'cache-control': 'no-store' })
}
