/**
 * D17: every mounted route admits exactly the roles in this table. A route without a row fails the test. The table is
 * written by hand from the decisions, not from the code.
 */
import { describe, expect, test } from 'vitest'
import { ROLES, type Role } from '../../../../actors/account/commands.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'
import { bodyOf, createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'

const ALL_ROLES: readonly Role[] = ['viewer', 'transactor', 'admin']
const SUBMITTERS: readonly Role[] = ['transactor', 'admin']
const ADMINS: readonly Role[] = ['admin']
const NO_TOKEN = 'no token'
/** In Hono's pattern. */
const PATH_VALUE = /:\w+(?:\{[^}]*\})?/g

/** `{}`: a value of the path. */
const ALLOWED: Readonly<Record<string, readonly Role[] | typeof NO_TOKEN>> = {
  'POST /v1/auth/token': NO_TOKEN,
  'POST /v1/transactions': SUBMITTERS,
  'POST /v1/transactions/dry-run': SUBMITTERS,
  'GET /v1/events': ALL_ROLES,
  'GET /v1/transactions': ALL_ROLES,
  'GET /v1/transactions/{}': ALL_ROLES,
  'GET /v1/transactions/{}/receipt': ALL_ROLES,
  'GET /v1/transactions/group/{}': ALL_ROLES,
  'POST /v1/accounts': SUBMITTERS,
  'GET /v1/accounts': ADMINS,
  'GET /v1/accounts/{}': ALL_ROLES,
  'POST /v1/accounts/{}/keys': SUBMITTERS,
  'POST /v1/accounts/{}/status': ADMINS,
  'POST /v1/accounts/{}/erase': ADMINS,
  'GET /v1/accounts/{}/actor': ADMINS,
  'POST /v1/accounts/{}/actor/pause': ADMINS,
  'POST /v1/accounts/{}/actor/resume': ADMINS,
  'GET /v1/accounts/{}/audit-chain': ALL_ROLES,
  'GET /v1/accounts/{}/audit-chain/{}/proof': ALL_ROLES,
  // Besides administrators, the clients that are limited to accounts.
  'GET /v1/accounts/{}/log-key': ALL_ROLES,
  'GET /v1/accounts/{}/state': ALL_ROLES,
  'GET /v1/accounts/{}/balances': ALL_ROLES,
  'GET /v1/accounts/{}/balances/{}': ALL_ROLES,
  'GET /v1/accounts/{}/statements': ALL_ROLES,
  'GET /v1/accounts/{}/nfts': ALL_ROLES,
  'GET /v1/accounts/{}/holds': ALL_ROLES,
  'POST /v1/holds': SUBMITTERS,
  'POST /v1/holds/{}/captures': SUBMITTERS,
  // Besides administrators, the beneficiary: its key signs.
  'POST /v1/holds/{}/release': SUBMITTERS,
  'GET /v1/holds/{}': ALL_ROLES,
  'POST /v1/fungible-tokens': SUBMITTERS,
  'GET /v1/fungible-tokens': ALL_ROLES,
  'GET /v1/fungible-tokens/{}': ALL_ROLES,
  'POST /v1/settlement-groups': SUBMITTERS,
  'GET /v1/settlement-groups/{}': ALL_ROLES,
  // Besides administrators, the client that registered a group may revert it.
  'POST /v1/settlement-groups/{}/revert': SUBMITTERS,
  // Also for an account: its key signs.
  'POST /v1/settlement-groups/{}/decline': SUBMITTERS,
  'GET /v1/accounts/{}/expectations': ALL_ROLES,
  'POST /v1/nft-classes': SUBMITTERS,
  'GET /v1/nft-classes': ALL_ROLES,
  'GET /v1/nft-classes/{}': ALL_ROLES,
  'POST /v1/nft-classes/{}/instances': SUBMITTERS,
  'GET /v1/nft-classes/{}/instances': ALL_ROLES,
  'GET /v1/nft-classes/{}/instances/{}': ALL_ROLES,
  'GET /v1/nft-classes/{}/instances/{}/history': ALL_ROLES,
  'GET /v1/nft-classes/{}/instances/{}/provenance': ALL_ROLES,
  'POST /v1/attestations': SUBMITTERS,
  'GET /v1/attestations': ALL_ROLES,
  'GET /v1/attestations/{}': ALL_ROLES,
  // Of these, only the client that submitted the attestation may revoke it.
  'POST /v1/attestations/{}/revoke': SUBMITTERS,
  // An administrator manages all webhooks, a transactor those that it registered.
  'POST /v1/webhooks': SUBMITTERS,
  'GET /v1/webhooks': SUBMITTERS,
  'GET /v1/webhooks/{}': SUBMITTERS,
  'DELETE /v1/webhooks/{}': SUBMITTERS,
  'GET /v1/webhooks/{}/deliveries': SUBMITTERS,
  'POST /v1/webhooks/{}/test': SUBMITTERS,
  'POST /v1/webhooks/{}/enable': SUBMITTERS,
  'POST /v1/webhooks/{}/rotate-secret': SUBMITTERS,
  'POST /v1/assertions/proof-of-liabilities': ALL_ROLES,
  'POST /v1/assertions/proof-of-provenance': ALL_ROLES,
  'POST /v1/assertions/proof-of-compliance': ALL_ROLES,
  'POST /v1/assertions/verify': ALL_ROLES,
  'GET /v1/accounts/{}/liability-proof': ALL_ROLES,
  'POST /v1/transactions/batch': SUBMITTERS,
  'GET /v1/clients': ADMINS,
  'POST /v1/clients': ADMINS,
  'DELETE /v1/clients/{}': ADMINS,
  'POST /v1/exports': ADMINS,
  'GET /v1/imports/key': ALL_ROLES,
  'POST /v1/imports': ADMINS,
  'GET /v1/imports/{}': ADMINS,
  'GET /v1/shards': ALL_ROLES,
  'GET /v1/shards/{}': ALL_ROLES,
  'PUT /v1/shards/{}/health': ADMINS,
  'GET /v1/admin/audit-chain': ADMINS,
  'GET /': NO_TOKEN,
  'GET /healthz': NO_TOKEN,
  'GET /readyz': NO_TOKEN,
  'GET /.well-known/jwks.json': NO_TOKEN,
  'GET /errors/{}': NO_TOKEN,
  'GET /openapi.json': NO_TOKEN,
  'GET /docs': NO_TOKEN,
  'GET /docs/plain': NO_TOKEN,
  'GET /docs/guides': NO_TOKEN,
  'GET /docs/guides/{}': NO_TOKEN,
  'GET /docs/assets/{}/{}': NO_TOKEN,
  'GET /console': NO_TOKEN,
  'GET /console/assets/{}/{}': NO_TOKEN,
  'GET /errors': NO_TOKEN,
  'GET /log/checkpoint': NO_TOKEN,
  'GET /log/key': NO_TOKEN,
  'GET /log/tile/{}/{}': NO_TOKEN,
}

interface MountedRoute {
  readonly name: string
  readonly method: string
  readonly url: string
}

const edge = createEdgeFixture()
const routes: readonly MountedRoute[] = edge.app.routes.map(({ method, path }) => ({
  name: `${method} ${path.replaceAll(PATH_VALUE, '{}')}`,
  method,
  url: path.replaceAll(PATH_VALUE, 'x'),
}))
/** Each role with each route. */
const cases = ROLES.flatMap((role) =>
  routes.map((route) => {
    const row = ALLOWED[route.name] ?? []
    const allowed = row === NO_TOKEN || row.includes(role)
    return { ...route, role, allowed, needed: row === NO_TOKEN ? '' : row.join(' or ') }
  }),
)

async function requestBy(role: Role, method: string, text = '{}', type = 'application/json'): Promise<RequestInit> {
  const headers = { authorization: `Bearer ${await edge.tokenFor(role)}`, 'content-type': type }
  return { method, headers, ...(method === 'GET' || method === 'HEAD' ? {} : { body: text }) }
}

describe('the table', () => {
  test('has a row for every route that is mounted, and no other', () => {
    expect(routes.map(({ name }) => name).toSorted()).toEqual(Object.keys(ALLOWED).toSorted())
  })

  test('equals the roles in the OpenAPI document', () => {
    const { operations } = new DocumentedInterface(createOpenApiDocument('https://ledger.example/errors'))
    for (const { method, path, members } of operations) {
      const name = `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      expect([name, members['x-roles'] ?? NO_TOKEN]).toEqual([name, ALLOWED[name]])
    }
  })
})

describe('D17: roles and routes', () => {
  test.for(cases.filter(({ allowed }) => allowed))('$role may: $name', async ({ role, method, url }) => {
    const response = await edge.app.request(url, await requestBy(role, method))
    expect([401, 403, 405]).not.toContain(response.status)
    // A 404 may come from the handler, but not from a missing route.
    expect(await response.text()).not.toContain('There is nothing under this address.')
  })

  test.for(cases.filter(({ allowed }) => !allowed))(
    '$role may not, and the ledger gets no request: $name',
    async ({ role, needed, method, url }) => {
      const asked = edge.gateway.asked.length
      const answers = [
        await edge.app.request(url, await requestBy(role, method)),
        // The role comes before the size, the type and the text of a body.
        await edge.app.request(url, await requestBy(role, method, '{', 'text/plain')),
      ]
      for (const answer of answers) {
        // D14: the problem lists the permitted roles.
        const { detail } = await bodyOf(answer.clone())
        expect(detail).toBe(`The client has the role ${role}. This needs the role ${needed}.`)
        expect(await refusalOf(answer)).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
      }
      expect(edge.gateway.asked).toHaveLength(asked)
    },
  )

  test.for(cases.filter(({ allowed, method }) => !allowed && method === 'GET'))(
    'HEAD is forbidden like GET: $role, $name',
    async ({ role, url }) => {
      expect((await edge.app.request(url, await requestBy(role, 'HEAD'))).status).toBe(403)
    },
  )

  test.for(routes)('E1: without a token: $name', async ({ name, method, url }) => {
    expect((await edge.app.request(url, { method })).status === 401).toBe(ALLOWED[name] !== NO_TOKEN)
  })
})
