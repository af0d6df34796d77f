/** DELETE /v1/clients/{id}: an administrator revokes a client. */
import { CLIENT_ID_FORM } from '../../../runtime/ports/access-store.ts'
import { isRefusedMaker, makerOf, makerProblem, refusedScope } from '../../endpoint/client-resource.ts'
import {
  ADMINS,
  type EdgeContext,
  type Endpoint,
  type EndpointOutcome,
  type GuardedCall,
  pathValue,
} from '../../endpoint/route.ts'
import { notFound, type Problem, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { clientResponse } from '../../schemas/responses/client.ts'
import { clientMembers } from '../../views/client-views.ts'

export const deleteClient: Endpoint = {
  id: 'deleteClient',
  method: 'DELETE',
  path: '/v1/clients/:clientId',
  summary: 'Revoke a client',
  description:
    'For good, with all its sessions: every edge refuses its tokens within 5 s. The ID cannot be used again. A client cannot revoke itself, so that one administrator always remains. The request is idempotent.',
  roles: ADMINS,
  changes: 'store',
  administrative: [],
  answers: [{ status: 200, description: 'It is revoked.', content: clientResponse }],
  refusals: {
    ERR_FORBIDDEN: 'The role does not permit this, or the client is limited to accounts.',
    ERR_NOT_FOUND: 'There is no such client.',
    ERR_CONFLICT: 'It is the client of the request, or its record is damaged.',
  },
  async handle(context, call) {
    const refused = refusedScope(call)
    if (refused !== undefined) return refused
    const clientId = pathValue(call, 'clientId')
    if (!CLIENT_ID_FORM.test(clientId)) return noSuchClient()
    if (clientId === call.caller.clientId) return itself()
    return revoke(clientId, context, call)
  },
}

async function revoke(
  clientId: string,
  { access, clock, readPublicKey }: EdgeContext,
  call: GuardedCall,
): Promise<EndpointOutcome> {
  const outcome = await access.endClient(clientId, clock.now(), makerOf(call))
  if (isRefusedMaker(outcome)) return makerProblem(outcome)
  if (outcome === 'absent') return noSuchClient()
  if (outcome === 'unreadable') return damaged()
  return jsonReply(200, clientMembers(outcome, readPublicKey))
}

function noSuchClient(): Problem {
  return notFound('There is no such client.')
}

function itself(): Problem {
  return problem('conflict', 'ERR_CONFLICT', 'A client cannot revoke itself. Another administrator may do it.')
}

function damaged(): Problem {
  return problem(
    'conflict',
    'ERR_CONFLICT',
    'The record of the client is damaged: every edge refuses the client. An operator can revoke it.',
  )
}
