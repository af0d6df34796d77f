/** P1: an ID such as `..` in a path is read as an ID, and not as a step of a URL. */
import { expect, test } from 'vitest'
import { ProblemCheck } from '../../support/problem-check.ts'
import type { HttpReply } from '../../support/client/client.ts'
import { sendRaw } from '../../support/client/client-raw.ts'
import { portOf } from '../../support/processes/served-app.ts'
import { createEdgeFixture } from '../api/fakes/edge-fixture.ts'

const INVALID_ACCOUNT = { status: 400, slug: 'invalid-request', code: 'ERR_INVALID_ACCOUNT_ID' }
const INVALID_GROUP = { status: 400, slug: 'invalid-request', code: 'ERR_INVALID_GROUP_ID' }
const NOT_FOUND = { status: 404, slug: 'not-found', code: 'ERR_NOT_FOUND' }
const UNAUTHORIZED = { status: 401, slug: 'unauthorized', code: 'ERR_UNAUTHORIZED' }

const ONE = ['.', '%2e', '%2E'] as const
const SEGMENTS = [...ONE, ...ONE.flatMap((first) => ONE.map((second) => `${first}${second}`))]

async function serving() {
  const edge = createEdgeFixture()
  const port = await portOf(edge.app)
  const ask = (target: string, ...headers: readonly string[]): Promise<HttpReply> =>
    sendRaw(
      `http://127.0.0.1:${port}`,
      [`GET ${target} HTTP/1.1`, 'Host: ledger', 'Connection: close', ...headers, '', ''].join('\r\n'),
    )
  return { ask, authorization: `Authorization: Bearer ${await edge.tokenFor('viewer')}` }
}

test('D1, D7: each escape of a dot segment is a malformed ID for a client with a token', async () => {
  const { ask, authorization } = await serving()
  const problems = new ProblemCheck()
  for (const segment of SEGMENTS) {
    for (const [target, expected] of [
      [`/v1/accounts/${segment}`, INVALID_ACCOUNT],
      [`/v1/accounts/${segment}/balances?page_size=1`, INVALID_ACCOUNT],
      [`/v1/accounts/${segment}/state`, INVALID_ACCOUNT],
      [`http://ledger/v1/accounts/${segment}/state`, INVALID_ACCOUNT],
      [`/v1/transactions/group/${segment}`, INVALID_GROUP],
      [`/v1/transactions/${segment}`, NOT_FOUND],
      [`/v1/fungible-tokens/${segment}`, NOT_FOUND],
      [`/${segment}/healthz`, NOT_FOUND],
    ] as const) {
      problems.check(target, await ask(target, authorization), expected)
    }
    problems.check('no token', await ask(`/v1/accounts/${segment}`), UNAUTHORIZED)
  }
  expect(problems.faults).toEqual([])
})

test('a query and a name that only begins with a dot are no dot segments', async () => {
  const { ask, authorization } = await serving()
  expect((await ask('/healthz?path=/../x')).status).toBe(200)
  expect((await ask('/.well-known/jwks.json')).status).toBe(200)
  expect((await ask('/v1/transactions?token_class=/%2e%2e/&page_size=1', authorization)).status).toBe(200)
  const reply = await ask('/v1/accounts/..alice', authorization)
  expect(JSON.parse(reply.body)).toMatchObject({ status: 404, instance: '/v1/accounts/..alice' })
})
