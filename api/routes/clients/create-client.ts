/** POST /v1/clients: an administrator adds a client of the API. */
import { isDeepStrictEqual } from 'node:util'
import { showOwnRate } from '../../../actors/rate.ts'
import type { ClientRecord } from '../../../runtime/ports/access-store.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { excessRights, isRefusedMaker, makerOf, makerProblem, refusedScope } from '../../endpoint/client-resource.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import {
  ADMINS,
  type EdgeContext,
  type Endpoint,
  type EndpointOutcome,
  type GuardedCall,
} from '../../endpoint/route.ts'
import { problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { type NewClient, newClientSchema, readNewClient } from '../../schemas/requests/client.ts'
import { clientResponse, createdClientResponse } from '../../schemas/responses/client.ts'
import { clientMembers } from '../../views/client-views.ts'

export const createClient: Endpoint = {
  id: 'createClient',
  method: 'POST',
  path: '/v1/clients',
  summary: 'Add a client',
  description: `Without \`public_key\` the ledger makes a secret, which only this response shows. The operator of a client that has a key of its own keeps the private key: the ledger never sees it.

The new client has no more rights than the client that makes it: a \`boundary\` within its boundary, and a \`rate\` within its rate, if it has one. The client may log in at once.

A repeat with the same \`public_key\` is safe: it returns the client. After a lost response with a secret, send the request again with the same \`Idempotency-Key\`. If that is refused with 409, revoke the client and add another one.`,
  roles: ADMINS,
  changes: 'store',
  administrative: ['client_id', 'role', 'boundary', 'accounts', 'rate', 'public_key'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: newClientSchema,
  answers: [
    {
      status: 201,
      description: 'The client exists.',
      content: createdClientResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    {
      status: 200,
      description: 'The same client exists already, with the same key.',
      content: clientResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_FORBIDDEN:
      'The role does not permit this, the client is limited to accounts, or the new client would have more rights than it.',
    ERR_CONFLICT: 'There is such a client, which may be revoked, or the key belongs to another request.',
  },
  handle: bodyEndpoint({
    read: (body, { readPublicKey, settings }, { caller }) =>
      readNewClient(body, {
        readPublicKey,
        boundary: settings.environment === 'sandbox' ? caller.boundary : false,
      }),
    completed: ({ boundary, accounts, rate, key }) => ({
      boundary,
      accounts,
      rate: showOwnRate(rate),
      public_key: key?.publicKey ?? null,
    }),
    find: (registration, call) => refusedScope(call) ?? excessRights(registration, makerOf(call)),
    run: create,
  }),
}

async function create(
  { key, ...rights }: NewClient,
  { access, clock, readPublicKey, secrets }: EdgeContext,
  call: GuardedCall,
): Promise<EndpointOutcome> {
  const made = key === null ? await secrets.create(rights.clientId) : null
  const client: ClientRecord = {
    ...rights,
    secretHash: made?.secretHash ?? null,
    publicKey: key?.publicKey ?? null,
    createdAtMs: clock.now(),
    revokedAtMs: null,
  }
  const outcome = await access.addClient(client, makerOf(call))
  if (isRefusedMaker(outcome)) return makerProblem(outcome)
  const secret = made === null ? {} : { client_secret: made.secret }
  if (outcome === 'created') return jsonReply(201, { ...clientMembers(client, readPublicKey), ...secret })
  const { exists } = outcome
  if (isRepeat(exists, client)) return jsonReply(200, clientMembers(exists, readPublicKey))
  return problem('conflict', 'ERR_CONFLICT', 'There is such a client, or was one. Choose another ID.', [
    { field: 'client_id', message: 'is taken' },
  ])
}

/** Whether a live client is what the request would create. A secret is shown only once. */
function isRepeat(exists: ClientRecord | 'unreadable', client: ClientRecord): exists is ClientRecord {
  if (exists === 'unreadable' || client.publicKey === null) return false
  return isDeepStrictEqual({ ...exists, createdAtMs: 0 }, { ...client, createdAtMs: 0 })
}
