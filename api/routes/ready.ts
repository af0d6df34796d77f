/** GET /readyz: whether requests can be served, which ledger this is, and which checks say so (D5, D18). */
import type { Readiness } from '../dependencies.ts'
import { jsonReply } from '../reply.ts'
import type { PublicRoute } from '../route.ts'

export interface ReadyContext {
  readonly readiness: () => Promise<Readiness>
  readonly environment: 'sandbox' | 'production'
  /** Null before the ledger was created. */
  readonly ledgerId: string | null
}

export function ready({ readiness, environment, ledgerId }: ReadyContext): PublicRoute {
  return {
    access: 'public',
    method: 'GET',
    path: '/readyz',
    async handle() {
      const { ready: isReady, checks } = await readiness()
      return jsonReply(
        isReady ? 200 : 503,
        { status: isReady ? 'ready' : 'not_ready', ledger_id: ledgerId, environment, checks },
        { 'cache-control': 'no-store', ...(isReady ? {} : { 'retry-after': '1' }) },
      )
    },
  }
}
