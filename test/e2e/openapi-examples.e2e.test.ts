/** Goal: the examples of the OpenAPI document are what a new ledger really answers, request by request. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenApiDocument } from '../../api/openapi/openapi-types.ts'
import { LedgerClient, send } from '../support/client.ts'
import { type Cluster, startCluster } from '../support/cluster-process.ts'
import { DocumentedInterface } from '../support/documented-interface.ts'
import { ExampleWalk } from './openapi-walk.ts'

/** The one client whose secret stands in an example; the others have secrets of their own. */
const CLIENTS = [
  { client_id: 'payments-backend', client_secret: 'example-secret-of-payments-backend', role: 'transactor' },
  { client_id: 'auditor', client_secret: randomBytes(32).toString('base64url'), role: 'viewer' },
  { client_id: 'operations', client_secret: randomBytes(32).toString('base64url'), role: 'admin' },
] as const

let cluster: Cluster | undefined

beforeAll(async () => {
  cluster = await startCluster({ env: { LEDGER_BOOTSTRAP_CLIENTS: JSON.stringify(CLIENTS) } })
})

afterAll(() => cluster?.stop())

test('every example of the document, sent in its order, gets the answer that stands beside it', async () => {
  const { origin = '' } = cluster ?? {}
  const reply = await send(origin, { method: 'GET', path: '/openapi.json' })
  expect(reply.status).toBe(200)
  const document = JSON.parse(reply.body) as OpenApiDocument
  const walk = new ExampleWalk(origin, new DocumentedInterface(document), await tokensOf(origin))
  const steps = document['x-walkthrough']
  for (const step of steps) await walk.take(step)
  expect(walk.faults).toEqual([])
  // Otherwise nothing of this was put to the test.
  expect(steps.length).toBeGreaterThan(50)
})

async function tokensOf(origin: string): Promise<ReadonlyMap<string, string>> {
  const tokens = new Map<string, string>()
  for (const { client_id: clientId, client_secret: clientSecret, role } of CLIENTS) {
    const client = await LedgerClient.login(origin, { clientId, clientSecret })
    tokens.set(role, client.token)
    client.close()
  }
  return tokens
}
