/** The endpoint that gives tokens. */
import { expect } from 'vitest'
import { type HttpReply, membersOf, textOf } from '../../support/client.ts'
import { partsOf } from '../../support/client-forged-token.ts'
import type { Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import type { ClientName, Stage } from './stage.ts'
import { sorted } from './sorted.ts'
import type { Suite } from './suite.ts'

export function authenticationChapter(suite: Suite): void {
  const row = suite.chapter('Authentication token')

  row('POST /v1/auth/token', 'credentials give access_token, token_type, expires_in, refresh_token', async (stage) => {
    const reply = await askToken(stage, credentialsOf(stage, 'viewer'))
    const body = membersOf(reply)
    expect(reply.status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
    })
    const token = textOf(body, 'access_token')
    expect(token.split('.')).toHaveLength(3)
    expect(partsOf(token).claims).toMatchObject({ sub: stage.credentials.viewer.clientId, role: 'viewer' })
    expect((await withToken(stage, token)).status).toBe(200)
    expect(reply.headers['cache-control']).toBe('no-store')
    const named = { ...credentialsOf(stage, 'viewer'), grant_type: 'client_credentials', unknown: 'is ignored' }
    expect((await askToken(stage, named)).status).toBe(200)
  })

  row('POST /v1/auth/token', 'the refresh form gives the same members, without the secret', async (stage) => {
    const first = membersOf(await askToken(stage, credentialsOf(stage, 'viewer')))
    const reply = await refreshed(stage, first)
    expect(reply.status).toBe(200)
    expect(membersOf(reply)).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
    })
    const token = textOf(membersOf(reply), 'access_token')
    expect(partsOf(token).claims).toMatchObject({ sub: stage.credentials.viewer.clientId, role: 'viewer' })
    expect((await withToken(stage, token)).status).toBe(200)
  })

  row('POST /v1/auth/token', 'an unknown client and a wrong secret are the same 401', async (stage) => {
    const { client_id: clientId, client_secret: secret } = credentialsOf(stage, 'viewer')
    const refused = await Promise.all([
      askToken(stage, { client_id: 'nobody', client_secret: secret ?? '' }),
      askToken(stage, { client_id: clientId ?? '', client_secret: 'wrong' }),
      askToken(stage, { grant_type: 'refresh_token', refresh_token: 'wrong' }),
    ])
    expect(refused.map(outcomeOf)).toEqual(['401 ERR_UNAUTHORIZED', '401 ERR_UNAUTHORIZED', '401 ERR_UNAUTHORIZED'])
    const [unknown, wrong] = refused.map((reply) => ({ ...membersOf(reply), request_id: 'any' }))
    expect(unknown).toEqual(wrong)
  })

  row('refresh rotation', 'each use brings another refresh token, and the used one is worth nothing', async (stage) => {
    const first = membersOf(await askToken(stage, credentialsOf(stage, 'viewer')))
    const second = membersOf(await refreshed(stage, first))
    expect(second['refresh_token']).not.toBe(first['refresh_token'])
    expect(outcomeOf(await refreshed(stage, first))).toBe('401 ERR_UNAUTHORIZED')
    const third = await refreshed(stage, second)
    expect(third.status).toBe(200)
    const rivals = await Promise.all(Array.from({ length: 5 }, () => refreshed(stage, membersOf(third))))
    expect(sorted(rivals.map(({ status }) => status))).toEqual(['200', '401', '401', '401', '401'])
  })
}

export function credentialsOf({ credentials }: Stage, name: ClientName): Readonly<Record<string, string>> {
  return { client_id: credentials[name].clientId, client_secret: credentials[name].clientSecret }
}

export function askToken({ ask }: Stage, body: Members): Promise<HttpReply> {
  const headers = { 'content-type': 'application/json' }
  return ask({ method: 'POST', path: '/v1/auth/token', headers, body: JSON.stringify(body) })
}

/** By the refresh token of an earlier answer. */
export function refreshed(stage: Stage, tokens: Members): Promise<HttpReply> {
  return askToken(stage, { grant_type: 'refresh_token', refresh_token: textOf(tokens, 'refresh_token') })
}

/** A read that everybody may make. */
export function withToken({ ask }: Stage, token: string): Promise<HttpReply> {
  return ask({ method: 'GET', path: '/v1/fungible-tokens', headers: { authorization: `Bearer ${token}` } })
}
