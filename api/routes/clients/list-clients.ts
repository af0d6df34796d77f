/** GET /v1/clients. */
import { refusedScope } from '../../endpoint/client-resource.ts'
import { listReply } from '../../endpoint/paging.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { ADMINS, type Endpoint } from '../../endpoint/route.ts'
import { clientListResponse } from '../../schemas/responses/client.ts'
import { clientMembers } from '../../views/client-views.ts'

export const listClients: Endpoint = {
  id: 'listClients',
  method: 'GET',
  path: '/v1/clients',
  summary: 'List clients',
  description:
    'By ID, revoked clients too, without secrets. A client whose record is damaged is left out: every edge refuses it.',
  roles: ADMINS,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: clientListResponse }],
  refusals: { ERR_FORBIDDEN: 'The role does not permit this, or the client is limited to accounts.' },
  async handle({ access, readPublicKey, tokens }, call) {
    return (
      refusedScope(call) ??
      listReply({ tokens }, call, [], async ({ after, limit }) => {
        const { clients, next } = await access.listClients(after, limit)
        return { members: { clients: clients.map((client) => clientMembers(client, readPublicKey)) }, next }
      })
    )
  },
}
