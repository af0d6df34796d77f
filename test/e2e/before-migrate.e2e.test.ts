/** Goal: an edge that finds no ledger yet says so to everybody under /v1, whoever asks and whatever (D15). */
import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpReply, membersOf, send } from '../support/client.ts'
import { until } from '../support/cluster-process.ts'
import { freePort } from '../support/free-ports.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'
import { ProblemCheck } from './problem-check.ts'
import { buildOnce, freshDirectory, PROGRAM } from './start-harness.ts'

const DEADLINE_MS = 180_000
const NO_SHARDS = { status: 503, slug: 'shard-unavailable', code: 'ERR_NO_SHARDS' }

let database: LedgerDatabase
let child: ChildProcess
let dataDir: string
let origin: string

const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<HttpReply> =>
  send(origin, { method, path, headers, ...(body === undefined ? {} : { body }) })

beforeAll(async () => {
  await buildOnce()
  database = await createLedgerDatabase({ migrated: false })
  dataDir = await freshDirectory()
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  child = spawn(process.execPath, [PROGRAM, 'edge'], {
    env: {
      PATH: process.env['PATH'],
      LEDGER_PORT: String(port),
      LEDGER_DATA_DIR: dataDir,
      LEDGER_DATABASE_URL: database.url,
      // Nobody is there, and nobody is asked before there is a ledger.
      LEDGER_NATS_URL: 'nats://127.0.0.1:1',
    },
    stdio: 'ignore',
  })
  await until('the edge answers', DEADLINE_MS, () =>
    ask('GET', '/healthz').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

afterAll(async () => {
  child.kill('SIGTERM')
  await until('the edge has ended', DEADLINE_MS, () => child.exitCode !== null || child.signalCode !== null)
  await Promise.all([database.drop(), rm(dataDir, { recursive: true, force: true })])
})

test('D15: every request under /v1 is ERR_NO_SHARDS and provably not applied, with a token or without, wrong or right', async () => {
  const problems = new ProblemCheck()
  const json = { 'content-type': 'application/json' }
  const login = JSON.stringify({ client_id: 'admin', client_secret: 'secret' })
  for (const [what, reply] of [
    ['a login', ask('POST', '/v1/auth/token', json, login)],
    ['a submission', ask('POST', '/v1/transactions', { ...json, authorization: 'Bearer x.y.z' }, '{}')],
    ['a submission that is no JSON', ask('POST', '/v1/transactions', { 'content-type': 'text/plain' }, '{')],
    ['a read', ask('GET', '/v1/transactions')],
    ['the shards', ask('GET', '/v1/shards', { authorization: 'Bearer x.y.z' })],
    ['what is said of a shard', ask('PUT', '/v1/shards/1/health', json, '{"health_state":"draining"}')],
    ['no route', ask('GET', '/v1/nowhere')],
    ['no method', ask('DELETE', '/v1/transactions')],
  ] as const) {
    const answer = await reply
    problems.check(what, answer, NO_SHARDS)
    expect([what, membersOf(answer)['outcome'], answer.headers['retry-after']]).toEqual([what, 'not_applied', '1'])
  }
  expect(problems.faults).toEqual([])
})

test('it is alive and not ready, and its problems are explained', async () => {
  const ready = await ask('GET', '/readyz')
  expect([ready.status, membersOf(ready)['status']]).toEqual([503, 'not_ready'])
  const page = await ask('GET', '/errors/shard-unavailable')
  expect([page.status, page.body.includes('ERR_NO_SHARDS')]).toEqual([200, true])
  expect((await ask('GET', '/errors/nothing')).status).toBe(404)
})
