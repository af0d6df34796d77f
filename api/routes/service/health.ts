/** GET /healthz: this process answers. What it depends on is a matter of /readyz. */
import { jsonReply, type Reply } from '../../http/reply.ts'
import type { PublicRoute } from '../../endpoint/route.ts'

export function health(): PublicRoute {
  return {
    access: 'public',
    method: 'GET',
    path: '/healthz',
    handle: healthReply,
  }
}

export function healthReply(): Reply {
  return jsonReply(200, { status: 'ok' }, { 'cache-control': 'no-store' })
}
