/**
 * Goal: D17, row by row: every route that the edge mounts is open to exactly the roles that this table names, and a route
 * that is not in it fails the test. The table is written by hand, from the decisions and not from the code.
 */
import { describe, expect, test } from 'vitest'
import { ROLES, type Role } from '../../../../actors/account/commands.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'
import { bodyOf, createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'

const EVERYBODY: readonly Role[] = ['viewer', 'transactor', 'admin']
const SUBMITTERS: readonly Role[] = ['transactor', 'admin']
const ADMINS: readonly Role[] = ['admin']
const NO_TOKEN = 'no token'
/** In Hono's pattern. */
const PATH_VALUE = /:\w+(?:\{[^}]*\})?/g

/** `{}`: a value of the path. */
const WHO_MAY: Readonly<Record<string, readonly Role[] | typeof NO_TOKEN>> = {
  'POST /v1/auth/token': NO_TOKEN,
  'POST /v1/transactions': SUBMITTERS,
  'POST /v1/transactions/dry-run': SUBMITTERS,
  'GET /v1/transactions': EVERYBODY,
  'GET /v1/transactions/{}': EVERYBODY,
  'GET /v1/transactions/{}/receipt': EVERYBODY,
  'GET /v1/transactions/group/{}': EVERYBODY,
  'POST /v1/accounts': SUBMITTERS,
  'GET /v1/accounts': ADMINS,
  'GET /v1/accounts/{}': EVERYBODY,
  'POST /v1/accounts/{}/keys': SUBMITTERS,
  'POST /v1/accounts/{}/status': ADMINS,
  'POST /v1/accounts/{}/erase': ADMINS,
  'GET /v1/accounts/{}/actor': ADMINS,
  'POST /v1/accounts/{}/actor/pause': ADMINS,
  'POST /v1/accounts/{}/actor/resume': ADMINS,
  'GET /v1/accounts/{}/audit-chain': EVERYBODY,
  'GET /v1/accounts/{}/state': EVERYBODY,
  'GET /v1/accounts/{}/balances': EVERYBODY,
  'GET /v1/accounts/{}/balances/{}': EVERYBODY,
  'GET /v1/accounts/{}/nfts': EVERYBODY,
  'POST /v1/fungible-tokens': SUBMITTERS,
  'GET /v1/fungible-tokens': EVERYBODY,
  'GET /v1/fungible-tokens/{}': EVERYBODY,
  'POST /v1/settlement-groups': SUBMITTERS,
  'GET /v1/settlement-groups/{}': EVERYBODY,
  // Besides administrators, the client that registered a group may revert it.
  'POST /v1/settlement-groups/{}/revert': SUBMITTERS,
  // Also for an account: its key signs.
  'POST /v1/settlement-groups/{}/decline': SUBMITTERS,
  'GET /v1/accounts/{}/expectations': EVERYBODY,
  'POST /v1/nft-classes': SUBMITTERS,
  'GET /v1/nft-classes': EVERYBODY,
  'GET /v1/nft-classes/{}': EVERYBODY,
  'POST /v1/nft-classes/{}/instances': SUBMITTERS,
  'GET /v1/nft-classes/{}/instances': EVERYBODY,
  'GET /v1/nft-classes/{}/instances/{}': EVERYBODY,
  'GET /v1/nft-classes/{}/instances/{}/history': EVERYBODY,
  'GET /v1/nft-classes/{}/instances/{}/provenance': EVERYBODY,
  'POST /v1/attestations': SUBMITTERS,
  'GET /v1/attestations': EVERYBODY,
  'GET /v1/attestations/{}': EVERYBODY,
  // And of these, only who submitted it.
  'POST /v1/attestations/{}/revoke': SUBMITTERS,
  'POST /v1/assertions/proof-of-liabilities': EVERYBODY,
  'POST /v1/assertions/proof-of-provenance': EVERYBODY,
  'POST /v1/assertions/proof-of-compliance': EVERYBODY,
  'POST /v1/assertions/verify': EVERYBODY,
  'GET /v1/accounts/{}/liability-proof': EVERYBODY,
  'POST /v1/transactions/batch': SUBMITTERS,
  'POST /v1/exports': ADMINS,
  'GET /v1/imports/key': EVERYBODY,
  'POST /v1/imports': ADMINS,
  'GET /v1/imports/{}': ADMINS,
  'GET /v1/shards': EVERYBODY,
  'GET /v1/shards/{}': EVERYBODY,
  'PUT /v1/shards/{}/health': ADMINS,
  'GET /': NO_TOKEN,
  'GET /healthz': NO_TOKEN,
  'GET /readyz': NO_TOKEN,
  'GET /.well-known/jwks.json': NO_TOKEN,
  'GET /errors/{}': NO_TOKEN,
  'GET /openapi.json': NO_TOKEN,
  'GET /docs': NO_TOKEN,
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
    const row = WHO_MAY[route.name] ?? []
    const allowed = row === NO_TOKEN || row.includes(role)
    return { ...route, role, allowed, needed: row === NO_TOKEN ? '' : row.join(' or ') }
  }),
)

/** A request that is well formed as far as nothing of it was looked at. */
async function requestBy(role: Role, method: string, text = '{}', type = 'application/json'): Promise<RequestInit> {
  const headers = { authorization: `Bearer ${await edge.tokenFor(role)}`, 'content-type': type }
  return { method, headers, ...(method === 'GET' || method === 'HEAD' ? {} : { body: text }) }
}

describe('the table', () => {
  test('has a row for every route that is mounted, and no other', () => {
    expect(routes.map(({ name }) => name).toSorted()).toEqual(Object.keys(WHO_MAY).toSorted())
  })

  test('is what the document says', () => {
    const { operations } = new DocumentedInterface(createOpenApiDocument('https://ledger.example/errors'))
    for (const { method, path, members } of operations) {
      const name = `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      expect([name, members['x-roles'] ?? NO_TOKEN]).toEqual([name, WHO_MAY[name]])
    }
  })
})

describe('D17: who may do what', () => {
  test.for(cases.filter(({ allowed }) => allowed))('$role may: $name', async ({ role, method, url }) => {
    const response = await edge.app.request(url, await requestBy(role, method))
    expect([401, 403, 405]).not.toContain(response.status)
    // Of all that a 404 can mean, not this: the route is there.
    expect(await response.text()).not.toContain('There is nothing under this address.')
  })

  test.for(cases.filter(({ allowed }) => !allowed))(
    '$role may not, and asks nothing of the ledger: $name',
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
    'HEAD is no way around: $role, $name',
    async ({ role, url }) => {
      expect((await edge.app.request(url, await requestBy(role, 'HEAD'))).status).toBe(403)
    },
  )

  test.for(routes)('E1: without a token: $name', async ({ name, method, url }) => {
    expect((await edge.app.request(url, { method })).status === 401).toBe(WHO_MAY[name] !== NO_TOKEN)
  })
})
