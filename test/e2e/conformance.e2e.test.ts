/**
 * A running ledger replies as its OpenAPI document says, and every documented status and error code occurs. Fields and
 * resources: test/unit/api. Reads of PostgreSQL: test/contract.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERROR_CODES } from '../../api/http/error-codes.ts'
import { createOpenApiDocument } from '../../api/openapi/document.ts'
import { type Example, examplesUnder } from '../../api/openapi/examples.ts'
import { EXAMPLE_REQUEST_ID } from '../../api/docs/problem-examples.ts'
import { type HttpReply, type LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { partsOf } from '../support/client/client-forged-token.ts'
import { type Members, newAccountKeys } from '../support/client/client-keys.ts'
import { fieldsOf, outcomeOf } from '../support/client/client-moves.ts'
import { projectRoot, until } from '../support/processes/cluster-process.ts'
import { DocumentedInterface } from '../support/documented-interface.ts'
import { withSql } from '../support/postgres/replicated-postgres.ts'
import { outages } from './conformance/outage.ts'
import { startOwnEdge } from './conformance/own-edge.ts'
import { refusalsOf } from './conformance/refusals.ts'
import { Service } from './conformance/service.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const OPERATIONS = new DocumentedInterface(DOCUMENT).operations.map(({ id, method }) => [id, method] as const)
/** Those that anybody may ask for again and again. */
const OPEN = [
  ['getKeySet'],
  ['getErrorList'],
  ['getErrorPage'],
  ['getOpenApi'],
  ['getDocs'],
  ['getPlainDocs'],
  ['getGuides'],
  ['getConsole'],
] as const
/** Those of scoped clients, signed bodies, guides and assets (`test/unit/api`), of whole exports and imports (`portability`). */
const UNSEEN = [
  'createAccount 404',
  'rotateKey 404',
  'rotateKey 409',
  'dryRunTransaction 404',
  'dryRunTransaction 409',
  'submitBatch 503',
  'createHold 404',
  'captureHold 404',
  'captureHold 409',
  'releaseHold 409',
  'createFungibleToken 404',
  'createNftClass 404',
  'mintNft 404',
  'declineSettlementGroup 404',
  'declineSettlementGroup 409',
  'createWebhook 404',
  'createWebhook 409',
  'deleteWebhook 204',
  'rotateWebhookSecret 409',
  'verifyAssertion 503',
  'getLogHead 404',
  'getLogTile 200',
  'getLogTile 404',
  'createExport 200',
  'getImportKey 503',
  'createImport 200',
  'createImport 202',
  'createImport 404',
  'createImport 409',
  'getImport 200',
  'getGuide 200',
  'getGuide 304',
  'getDocsAsset 200',
  'getDocsAsset 304',
  'getConsoleAsset 200',
  'getConsoleAsset 304',
]
const REFRESH_LIFETIME_S = 30 * 86_400
const DEADLINE_MS = 180_000

let started: Service | undefined
const service = (): Service => {
  if (started === undefined) throw new Error('the ledger does not run')
  return started
}

beforeAll(async () => {
  started = await Service.start()
})
afterAll(() => started?.stop())

/** Writes this ledger's requests and answers into the examples. */
async function recordExamples(): Promise<void> {
  const errorBase = `${service().cluster.origin}/errors`
  const recorded: Example[] = []
  for (const example of examplesUnder(errorBase)) recorded.push(await service().walk.record(example))
  const text = service()
    .walk.withoutTokens(JSON.stringify(recorded, null, 2))
    .replaceAll(errorBase, '{errors}')
    .replaceAll(/"request_id": "[0-9a-f]{32}"/g, `"request_id": "${EXAMPLE_REQUEST_ID}"`)
  writeFileSync(join(projectRoot(), 'api', 'openapi', 'examples.json'), `${text}\n`)
  throw new Error('The examples are recorded: format them (npm run format), read the change, and run the test again.')
}

test('every example request of the document, in its order, gets the documented reply', async () => {
  if (process.env['LEDGER_RECORD_EXAMPLES'] === '1') await recordExamples()
  const steps = DOCUMENT['x-walkthrough']
  for (const step of steps) await service().walk.take(step)
  expect(service().walk.faults).toEqual([])
  // Otherwise nothing of this was put to the test.
  expect(steps.length).toBeGreaterThan(50)
})

test.for(OPERATIONS)('%s refuses the requests that the document excludes', async ([id]) => {
  for (const { request, outcome, headers = {}, fields } of refusalsOf(service(), service().described.byId(id))) {
    const reply = await service().ask(request)
    const about = [request.method, request.path, request.headers?.['authorization']?.slice(0, 20)].join(' ')
    expect([about, outcomeOf(reply)]).toEqual([about, expect.stringMatching(outcome)])
    for (const [name, value] of Object.entries(headers)) expect(reply.headers[name]).toContain(value)
    expect([about, new Set(fieldsOf(reply))]).toEqual([about, new Set(fields ?? fieldsOf(reply))])
  }
})

describe('replies that depend on the state of the ledger', () => {
  const client = (role = 'transactor'): LedgerClient => service().client(role)
  const THERE = '00000000-0000-4000-8000-000000000000'
  const order = { type: 'credit', amount: '1', idempotency_key: 'of conformance' }

  test.for<[what: string, outcome: string, ask: () => Promise<HttpReply>]>([
    [
      'an order of an unknown account',
      '404 ERR_NOT_FOUND',
      () => client().submit({ accountId: 'unknown@nowhere', keys: newAccountKeys() }, order),
    ],
    [
      'the log key of an account, for a client of all accounts that is no administrator',
      '403 ERR_FORBIDDEN',
      async () => {
        await client().register('logged@conformance')
        return client('viewer').get('/v1/accounts/logged@conformance/log-key')
      },
    ],
    [
      'an order for another ledger',
      '400 ERR_WRONG_LEDGER',
      async () => client().submit(await client().register('here@conformance'), { ...order, ledger_id: THERE }),
    ],
    [
      'a group of an unknown account',
      '404 ERR_NOT_FOUND',
      () => {
        const leg = { account_id: 'unknown@nowhere', amount: '1' }
        return client().post('/v1/settlement-groups', { legs: ['debit', 'credit'].map((type) => ({ ...leg, type })) })
      },
    ],
    [
      'a group of other terms under the same ID',
      '409 ERR_CONFLICT',
      () => {
        const { path, body } = service().request(service().described.byId('createSettlementGroup'))
        return client().post(path, { ...(JSON.parse(String(body)) as Members), timeout_seconds: 86_399 })
      },
    ],
    [
      'a shard that has processed fewer transactions than are named',
      '409 ERR_CONFLICT',
      () => put('/v1/shards/7/health', { health_state: 'healthy', txn_count: Number.MAX_SAFE_INTEGER }),
    ],
    ['the same client with the same key', '200', () => service().ask(newClient())],
    [
      'another client under an ID that exists',
      '409 ERR_CONFLICT',
      () => client('admin').post('/v1/clients', { client_id: 'auditor', role: 'viewer' }),
    ],
    [
      'the revocation of the client by itself',
      '409 ERR_CONFLICT',
      () =>
        service().ask({
          method: 'DELETE',
          path: '/v1/clients/operations',
          headers: client('admin').authorization(),
        }),
    ],
  ])('%s is %s', async ([, outcome, ask]) => {
    expect(outcomeOf(await ask())).toBe(outcome)
  })

  test('a refusal lists all errors of an order, or of the records of an import', async () => {
    const wrong = {
      ...order,
      account_id: 'alice',
      type: 'transfer',
      to_account_id: 'alice',
      signature: 's',
      token_id: '-',
    }
    const told = await client().post('/v1/transactions', { ...wrong, expires_at: 'soon', color: 'red' })
    expect(new Set(fieldsOf(told))).toEqual(new Set(['color', 'expires_at', 'to_account_id', 'token_id']))
    const records = ['token', 'account', 'proof'].map((record) => ({ record }))
    const reply = await client('admin').post('/v1/imports', { import_id: THERE, part: 0, records, last: true })
    expect(reply.status).toBe(400)
    const fields = ['initial_supply', 'balances', 'txn_count', 'created_at', 'updated_at', 'proof_hash', 'proof_system']
    expect(fieldsOf(reply)).toEqual(
      expect.arrayContaining(fields.map((name) => expect.stringContaining(name) as unknown)),
    )
  })

  function newClient() {
    return service().request(service().described.byId('createClient'))
  }

  function put(path: string, body: Members): Promise<HttpReply> {
    const headers = { ...client('admin').authorization(), 'content-type': 'application/json' }
    return service().ask({ method: 'PUT', path, headers, body: JSON.stringify(body) })
  }
})

describe('public resources', () => {
  test.for(OPEN)('%s has a stable entity tag', async ([id]) => {
    const request = service().request(service().described.byId(id))
    const { status, headers } = await service().ask(request)
    expect(status).toBe(200)
    const again = await service().ask({ ...request, headers: { 'if-none-match': headers.etag ?? 'none' } })
    expect([again.status, again.body]).toEqual([304, ''])
  })

  test.for([['getLogHead'], ['getLogKey'], ['getLogProof']] as const)(
    '%s succeeds as soon as the log has the first entries',
    async ([id]) => {
      const request = service().request(service().described.byId(id))
      await until(`${id} responds`, DEADLINE_MS, async () => (await service().ask(request)).status === 200)
      expect(service().answered).toContain(`${id} 200`)
    },
  )

  test('the root redirects a browser to the console', async () => {
    const { status, headers } = await service().ask({ method: 'GET', path: '/', headers: { accept: 'text/html' } })
    expect([status, headers.location]).toEqual([303, '/console'])
  })

  test('the changelog contains the running version', async () => {
    const { info } = membersOf(await service().ask({ method: 'GET', path: '/openapi.json' }))
    const changelog = readFileSync(join(projectRoot(), 'CHANGELOG.md'), 'utf8')
    expect(changelog).toContain(`## [${textOf(info as Members, 'version')}]`)
  })
})

test('D17: a refresh token expires thirty days after its last use', async () => {
  const login = service().request(service().described.byId('issueToken'))
  let tokens = membersOf(await service().ask(login))
  for (const [ageS, outcome] of [
    [REFRESH_LIFETIME_S - 60, '200'],
    [REFRESH_LIFETIME_S - 60, '200'],
    [REFRESH_LIFETIME_S, '401 ERR_UNAUTHORIZED'],
  ] as const) {
    const { sid } = partsOf(textOf(tokens, 'access_token')).claims
    // The test changes the session's age in the database instead of waiting a month.
    await withSql(
      service().cluster.databaseUrl(),
      (sql) => sql`
        UPDATE refresh_families
           SET expires_at = expires_at - ${ageS} * interval '1 second',
               rotated_at = rotated_at - ${ageS} * interval '1 second'
         WHERE session_id = ${String(sid)}`,
    )
    const body = { grant_type: 'refresh_token', refresh_token: textOf(tokens, 'refresh_token') }
    const reply = await service().ask({ ...login, body: JSON.stringify(body) })
    expect(outcomeOf(reply)).toBe(outcome)
    tokens = { ...tokens, ...membersOf(reply) }
  }
})

describe('an edge with other settings', () => {
  test('issues tokens with the configured lifetime, which other edges respect', async () => {
    await withEdge({ LEDGER_ACCESS_TOKEN_TTL_SECONDS: '1' }, async (origin) => {
      const tokens = membersOf(await service().ask(service().request(service().described.byId('issueToken')), origin))
      expect(tokens['expires_in']).toBe(1)
      const authorization = `Bearer ${textOf(tokens, 'access_token')}`
      await until('the token has expired', DEADLINE_MS, async () => {
        const reply = await service().ask({ method: 'GET', path: '/v1/shards', headers: { authorization } })
        return reply.status === 401
      })
    })
  })

  test('refuses every request of a client beyond its rate, which it shares with another such edge', async () => {
    const limited = { LEDGER_CLIENT_RATE: '0.001/50' }
    const ask = (id: string, origin: string) => service().ask(service().request(service().described.byId(id)), origin)
    await withEdge(limited, (origin) =>
      withEdge(limited, async (other) => {
        const used = await Promise.all(Array.from({ length: 50 }, () => ask('listShards', origin)))
        expect(used.map(({ status }) => status)).toEqual(used.map(() => 200))
        expect(used.at(-1)?.headers['ratelimit-policy']).toBe('"client";q=50;w=50000')
        let asked = 0
        await until('the other edge knows', DEADLINE_MS, async () => {
          asked += 1
          return (await ask('listShards', other)).status === 429
        })
        // By its own requests alone it would refuse the 51st.
        expect(asked).toBeLessThan(50)
        for (const { id, members } of service().described.operations.filter(({ members: of }) => of['x-roles'])) {
          const { status, headers, body } = await ask(id, other)
          const { outcome = null } = JSON.parse(body) as Members
          const refused = members.responses['429']?.content?.['application/problem+json']?.schema
          expect([id, status, headers['ratelimit-policy']]).toEqual([id, 429, '"client";q=50;w=50000'])
          expect(Number(headers['retry-after'])).toBeGreaterThan(900)
          expect([id, outcome]).toEqual([
            id,
            JSON.stringify(refused).includes('"required":["outcome"]') ? 'not_applied' : null,
          ])
        }
      }),
    )
  })

  test('reports that its database has no ledger', async () => {
    const url = new URL(service().cluster.databaseUrl())
    await withSql(url.toString(), (sql) => sql`CREATE DATABASE unmigrated`)
    url.pathname = '/unmigrated'
    await withEdge({ LEDGER_DATABASE_URL: url.toString() }, async (origin) => {
      const reply = await service().ask({ method: 'GET', path: '/v1/transactions' }, origin)
      expect([outcomeOf(reply), reply.headers['retry-after']]).toEqual([
        '503 ERR_NO_SHARDS',
        expect.stringMatching(/^\d+$/),
      ])
    })
  })

  async function withEdge(settings: Readonly<Record<string, string>>, use: (origin: string) => Promise<void>) {
    const edge = await startOwnEdge(service(), settings)
    try {
      await use(edge.origin)
    } finally {
      await edge.stop()
    }
  }
})

outages(service)

test('every reply matched the document', () => {
  expect(service().faults).toEqual([])
})

test('every documented status occurred, except for those that other files test', () => {
  const documented = OPERATIONS.flatMap(([id]) =>
    Object.keys(service().described.byId(id).members.responses).map((status) => `${id} ${status}`),
  )
  expect(documented.filter((one) => !service().answered.has(one))).toEqual(UNSEEN)
})

test('every error code occurred, except for that of an overloaded edge', () => {
  expect(Object.keys(ERROR_CODES).filter((code) => !service().codes.has(code))).toEqual(['ERR_OVERLOADED'])
})
