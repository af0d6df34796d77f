/** The OpenAPI document agrees with the routes of the edge. The tests call each route and compare its replies. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { DocumentedInterface, type DocumentedOperation } from '../../../support/documented-interface.ts'
import type { queryOf } from '../../../../api/http/query.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'

interface QueryModule {
  readonly queryOf: typeof queryOf
}

/** The query parameters that routes read since the last `clear`. */
const asked = vi.hoisted(() => new Set<string>())

vi.mock('../../../../api/http/query.ts', async (load) => {
  const { queryOf: original, ...rest } = await load<QueryModule>()
  const recording: QueryModule['queryOf'] = (route, http) => {
    const query = original(route, http)
    return {
      ...query,
      value(name) {
        asked.add(name)
        return query.value(name)
      },
      checked(name, ...how) {
        asked.add(name)
        return query.checked(name, ...how)
      },
      parsed(name, ...how) {
        asked.add(name)
        return query.parsed(name, ...how)
      },
    }
  }
  return { ...rest, queryOf: recording }
})

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)
const { operations } = DESCRIBED
const guarded = operations.filter(({ members }) => members['x-roles'] !== undefined)
const withBody = operations.filter(({ members }) => members.requestBody !== undefined)

/** A well-formed value for each path parameter. */
const VALUES: Readonly<Record<string, string>> = {
  accountId: 'alice@example',
  groupId: '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a',
  txnId: 'txn_01K6ZZZZZZ0000000000000000',
  tokenId: 'EUR.x',
  classId: 'cls_01K6ZZZZZZ0000000000000000',
  instanceId: 'milkmaid',
  attestationId: 'att_01K6ZZZZZZ0000000000000000',
  shardId: '0',
  slug: 'conflict',
}

function addressOf({ path }: DocumentedOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? `no value for ${name}`)
}

async function ask(
  edge: EdgeFixture,
  operation: DocumentedOperation,
  token?: string,
  what: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string; readonly query?: string } = {},
): Promise<Response> {
  const { headers = {}, body, query = '' } = what
  return edge.app.request(`${addressOf(operation)}${query}`, {
    method: operation.method,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  })
}

function parametersOf({ members }: DocumentedOperation, place: 'query' | 'header'): readonly string[] {
  return (members.parameters ?? []).filter((one) => one.in === place).map(({ name }) => name)
}

async function tokenOf(edge: EdgeFixture, { members }: DocumentedOperation): Promise<string | undefined> {
  return members['x-roles'] === undefined ? undefined : edge.tokenFor('admin')
}

afterEach(() => asked.clear())

describe('the document and the routes', () => {
  test('the document has exactly the mounted routes', () => {
    const { app } = createEdgeFixture()
    const routes = app.routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')}`)
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(routes.toSorted())
  })

  test('the document has every endpoint of api/routes once', () => {
    const files = readdirSync('api/routes', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const texts = files.map((file) => readFileSync(`api/routes/${file}`, 'utf8'))
    const declared = texts.flatMap((text) => [...text.matchAll(/^ {2}id: '(\w+)',$/gm)].map(([, id = '']) => id))
    expect(operations.map(({ id }) => id).toSorted()).toEqual(declared.toSorted())
  })

  test('D8: a 503 has the member `outcome` exactly where the document requires it', async () => {
    const edge = createEdgeFixture()
    const tokens = new Map<string, string | undefined>()
    for (const operation of guarded) tokens.set(operation.id, await tokenOf(edge, operation))
    edge.access.failure = new Error('away')
    // The cached clients expire.
    await edge.clock.advance(60_000)
    for (const operation of guarded) {
      const response = await ask(edge, operation, tokens.get(operation.id))
      const { outcome } = await bodyOf(response)
      expect([operation.id, response.status, outcome !== undefined]).toEqual([
        operation.id,
        503,
        changesTheLedger(operation),
      ])
    }
  })

  test('D16: the documented query parameters are those that the route reads', async () => {
    const edge = createEdgeFixture()
    for (const operation of operations) {
      const named = parametersOf(operation, 'query')
      asked.clear()
      await ask(edge, operation, await tokenOf(edge, operation), {
        query: `?${named.map((name) => `${name}=x`).join('&')}`,
      })
      expect([operation.id, [...asked].toSorted()]).toEqual([operation.id, named.toSorted()])
    }
  })

  test.for(operations.map((operation) => [operation.id, operation] as const))(
    'D16: %s refuses repeated and unknown parameters',
    async ([, operation]) => {
      const edge = createEdgeFixture()
      const named = parametersOf(operation, 'query')
      const token = await tokenOf(edge, operation)
      const send = (query: string) =>
        operation.method === 'GET'
          ? ask(edge, operation, token, { query })
          : ask(edge, operation, token, { query, headers: { 'content-type': 'application/json' }, body: '{}' })
      const response = await send(`?${['unknown', ...named, ...named].map((name) => `${name}=x`).join('&')}`)
      // Outside /v1 probes and browsers add their own parameters.
      const refused = operation.path.startsWith('/v1/') ? ['unknown', ...named] : named
      const isProblem = response.headers.get('content-type') === 'application/problem+json'
      const { fields } = isProblem ? await refusalOf(response) : { fields: [] }
      expect([response.status === 400, ((fields ?? []) as string[]).toSorted()]).toEqual([
        refused.length > 0,
        refused.toSorted(),
      ])
      expect(edge.gateway.asked).toEqual([])
    },
  )

  test('the header Idempotency-Key is in the document where it is read', async () => {
    const edge = createEdgeFixture()
    for (const operation of withBody) {
      const response = await ask(edge, operation, await tokenOf(edge, operation), {
        headers: { 'content-type': 'application/json', 'idempotency-key': 'x'.repeat(256) },
        body: '{}',
      })
      const { fields } = await refusalOf(response)
      const isRead = ((fields ?? []) as string[]).includes('Idempotency-Key')
      expect([operation.id, isRead]).toEqual([
        operation.id,
        parametersOf(operation, 'header').includes('Idempotency-Key'),
      ])
    }
  })

  test('an operation requires a body exactly if the document has one', async () => {
    const edge = createEdgeFixture()
    for (const operation of operations.filter(({ method }) => method !== 'GET')) {
      const response = await ask(edge, operation, await tokenOf(edge, operation))
      expect([operation.id, response.status === 415]).toEqual([operation.id, withBody.includes(operation)])
    }
  })
})

function changesTheLedger({ members }: DocumentedOperation): boolean {
  const { required = [] } = members.responses['503']?.content?.['application/problem+json']?.schema ?? {}
  return (required as readonly string[]).includes('outcome')
}
