/** An edge with the client `ann`, and her requests for and with tokens. */
import type { EdgeDependencies } from '../../../../api/http/dependencies.ts'
import { bodyOf, clientOf, createEdgeFixture, SECRET } from '../fakes/edge-fixture.ts'

const PATH = '/v1/auth/token'
export const CREDENTIALS = { client_id: 'ann', client_secret: SECRET }

export function tokenScene(real: Partial<EdgeDependencies> = {}) {
  const edge = createEdgeFixture(real)
  edge.access.clients.set('ann', clientOf('ann', 'transactor'))
  const ask = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    edge.post(PATH, body, undefined, headers)
  const login = (changes: object = {}): Promise<Response> => ask({ ...CREDENTIALS, ...changes })
  const refresh = (token: unknown): Promise<Response> => ask({ grant_type: 'refresh_token', refresh_token: token })
  async function issued(changes: object = {}): Promise<{ readonly access: string; readonly refresh: string }> {
    const { access_token: access, refresh_token: refreshing } = await bodyOf(await login(changes))
    return { access: String(access), refresh: String(refreshing) }
  }
  const statusOf = async (token: string): Promise<number> => (await edge.get('/v1/transactions', token)).status
  return { ...edge, ask, login, refresh, issued, statusOf }
}
