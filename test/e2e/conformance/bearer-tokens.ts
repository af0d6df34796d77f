/** Bearer tokens: where they are needed, how long they live, what they are made of. */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import postgres from 'postgres'
import { expect } from 'vitest'
import { membersOf, send, textOf } from '../../support/client.ts'
import { openTokenForge, partsOf } from '../../support/client-forged-token.ts'
import type { Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { until } from '../../support/cluster-process.ts'
import { askToken, credentialsOf, refreshed, withToken } from './authentication.ts'
import { startOwnEdge } from './own-edge.ts'
import { endpoints } from './endpoints.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export const REFRESH_LIFETIME_S = 30 * 86_400
const DEADLINE_MS = 180_000
/** Headers of a request that proves nothing. */
const NO_TOKENS = [
  {},
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: 'Bearer a.b.c' },
  { authorization: 'Basic dmlld2VyOnNlY3JldA==' },
]

export function bearerTokensChapter(suite: Suite): void {
  const row = suite.chapter('Bearer tokens')

  row(
    'needed everywhere',
    'but for the token itself: without one, or with a wrong one, every endpoint is 401',
    async (stage) => {
      for (const { method, path } of endpoints(stage)) {
        if (path === '/v1/auth/token') continue
        const headers = { 'content-type': 'application/json' }
        const bodied = method === 'GET' ? {} : { body: '{}' }
        for (const token of NO_TOKENS) {
          const reply = await stage.ask({ method, path, headers: { ...headers, ...token }, ...bodied })
          expect([method, path, token, outcomeOf(reply)]).toEqual([method, path, token, '401 ERR_UNAUTHORIZED'])
          expect(reply.headers['www-authenticate']).toMatch(/^Bearer /)
        }
      }
      expect(outcomeOf(await stage.ask({ method: 'GET', path: '/v1/no-such-thing' }))).toBe('401 ERR_UNAUTHORIZED')
    },
  )

  row('access token lifetime', '3,600 s: just before its end it is good, just after 401', async (stage) => {
    const token = textOf(membersOf(await askToken(stage, credentialsOf(stage, 'viewer'))), 'access_token')
    const { header, claims } = partsOf(token)
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600)
    const forge = await openTokenForge(stage.cluster)
    try {
      const nowS = Math.floor(Date.now() / 1000)
      const ending = (exp: number): Promise<string> => forge.sign(header, { ...claims, iat: exp - 3600, exp })
      expect((await withToken(stage, await ending(nowS + 30))).status).toBe(200)
      expect(outcomeOf(await withToken(stage, await ending(nowS - 1)))).toBe('401 ERR_UNAUTHORIZED')
    } finally {
      await forge.close()
    }
  })

  row('access token lifetime', 'is the deployment’s to choose: an edge that gives one second', async (stage) => {
    const edge = await startOwnEdge(stage, { LEDGER_ACCESS_TOKEN_TTL_SECONDS: '1' })
    try {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(credentialsOf(stage, 'viewer'))
      const tokens = membersOf(await send(edge.origin, { method: 'POST', path: '/v1/auth/token', headers, body }))
      expect(tokens['expires_in']).toBe(1)
      const token = textOf(tokens, 'access_token')
      expect(partsOf(token).claims).toMatchObject({ exp: Number(partsOf(token).claims['iat']) + 1 })
      await until('the token has expired', DEADLINE_MS, async () => (await withToken(stage, token)).status === 401)
      expect((await refreshed(stage, tokens)).status).toBe(200)
    } finally {
      await edge.stop()
    }
  })

  row(
    'refresh token lifetime',
    '30 days from each use: just before its end it is good, just after 401',
    async (stage) => {
      let tokens = membersOf(await askToken(stage, credentialsOf(stage, 'viewer')))
      for (let use = 0; use < 2; use += 1) {
        await letTimePass(stage, tokens, REFRESH_LIFETIME_S - 60)
        const reply = await refreshed(stage, tokens)
        expect(reply.status).toBe(200)
        tokens = membersOf(reply)
      }
      await letTimePass(stage, tokens, REFRESH_LIFETIME_S)
      expect(outcomeOf(await refreshed(stage, tokens))).toBe('401 ERR_UNAUTHORIZED')
    },
  )

  row('algorithm', 'ES256, by a published key', async (stage) => {
    const token = textOf(membersOf(await askToken(stage, credentialsOf(stage, 'viewer'))), 'access_token')
    const { header, signature } = partsOf(token)
    expect(header).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    const { kty, crv, x, y } = await stage.publishedKey('token', textOf(header, 'kid'))
    const key = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' })
    const signedText = Buffer.from(token.slice(0, token.lastIndexOf('.')))
    const bytes = Buffer.from(signature, 'base64url')
    expect(verify('sha256', signedText, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true)
  })

  row('refresh', 'a new access token and a new refresh token', async (stage) => {
    const first = membersOf(await askToken(stage, credentialsOf(stage, 'transactor')))
    const second = membersOf(await refreshed(stage, first))
    expect(second['access_token']).not.toBe(first['access_token'])
    expect(second['refresh_token']).not.toBe(first['refresh_token'])
    const tokens = [first, second].map((one) => textOf(one, 'access_token'))
    for (const token of tokens) expect((await withToken(stage, token)).status).toBe(200)
  })

  row('refresh needs no secret', 'the client asks with its refresh token alone', async (stage) => {
    const first = membersOf(await askToken(stage, credentialsOf(stage, 'transactor')))
    const reply = await refreshed(stage, first)
    const sent = JSON.parse(String(stage.requestOf(reply).body)) as Members
    expect([reply.status, Object.keys(sent).toSorted()]).toEqual([200, ['grant_type', 'refresh_token']])
    expect(partsOf(textOf(membersOf(reply), 'access_token')).claims).toMatchObject({ role: 'transactor' })
  })
}

/** Nobody waits a month: the record of the refresh token is as old as if that had been done. */
export async function letTimePass({ cluster }: Stage, tokens: Members, seconds: number): Promise<void> {
  const sessionId = textOf(partsOf(textOf(tokens, 'access_token')).claims, 'sid')
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  try {
    const aged = await sql`
      UPDATE refresh_families
      SET expires_at = expires_at - ${seconds} * interval '1 second',
          rotated_at = rotated_at - ${seconds} * interval '1 second'
      WHERE session_id = ${sessionId} RETURNING session_id`
    expect(aged).toHaveLength(1)
  } finally {
    await sql.end()
  }
}
