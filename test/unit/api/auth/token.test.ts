/** The edge issues tokens for a client's secret or refresh token. Refusals are cheap and reveal nothing. */
import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { SESSION_RATE } from '../../../../api/auth/session-limit.ts'
import { createClientAddress } from '../../../../infra/system/client-address.ts'
import { AccessStoreOverloaded, AccessStoreUnavailable } from '../../../../runtime/ports/access-store.ts'
import { bodyOf, clientOf, LEDGER_ID, refusalOf, SECRET } from '../fakes/edge-fixture.ts'
import { CREDENTIALS, tokenScene } from './token-scene.ts'

const WRONG = { client_secret: 'wrong' }
/** A well-formed refresh token that was never issued. */
const STRANGE = `rt_${'x'.repeat(43)}.YW5u`
const UNAVAILABLE = { status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] }
const OVERLOADED = { status: 503, codes: ['ERR_OVERLOADED'] }

describe('a token request', () => {
  test('returns an ES256 token of RFC 9068 with every claim, and a refresh token', async () => {
    const scene = tokenScene()
    const response = await scene.login({ grant_type: 'client_credentials', scope: ['ignored'] })
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const body = await bodyOf(response)
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'refresh_token'])
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
    const token = String(body['access_token'])
    const jwks = (await bodyOf(await scene.get('/.well-known/jwks.json'))) as never
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), { currentDate: new Date(scene.clock.now()) })
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: scene.keys.current('token') })
    expect(payload).toMatchObject({ aud: LEDGER_ID, sub: 'ann', role: 'transactor' })
    expect(payload['sid']).toBe(scene.access.families[0]?.sessionId)
    expect(Number(payload.exp) - Number(payload.iat)).toBe(3600)
    expect([payload.iss, payload.jti].map((claim) => typeof claim)).toEqual(['string', 'string'])
  })

  test('stores and logs the refresh token only as a hash', async () => {
    const scene = tokenScene()
    const { refresh } = await scene.issued()
    expect(scene.access.families[0]?.tokenHash).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify([scene.access.families, scene.log])).not.toContain(refresh)
  })

  test('accepts a refresh token once, and keeps its session', async () => {
    const scene = tokenScene()
    const first = await scene.issued()
    const session = scene.access.families[0]?.sessionId
    const second = await bodyOf(await scene.refresh(first.refresh))
    expect(second['refresh_token']).not.toBe(first.refresh)
    expect(scene.access.families[0]?.sessionId).toBe(session)
    expect(await scene.statusOf(String(second['access_token']))).toBe(200)
    expect((await scene.refresh(first.refresh)).status).toBe(401)
    expect((await scene.refresh(second['refresh_token'])).status).toBe(200)
    await scene.access.revokeClient('ann', 1)
    expect((await scene.refresh((await scene.issued()).refresh)).status).toBe(401)
  })

  test('I6: is 503 once the client has begun and renewed many sessions, until some time has passed', async () => {
    const scene = tokenScene()
    scene.access.clients.set('bob', clientOf('bob', 'viewer'))
    const renewed = async (token: unknown, times: number): Promise<unknown> => {
      let next = token
      for (let done = 0; done < times; done += 1) next = (await bodyOf(await scene.refresh(next)))['refresh_token']
      return next
    }
    const { refresh } = await scene.issued()
    const last = await renewed(refresh, SESSION_RATE.burst - 1)
    expect(await refusalOf(await scene.login())).toMatchObject(OVERLOADED)
    expect(await refusalOf(await scene.refresh(last))).toMatchObject(OVERLOADED)
    expect(scene.access.families).toHaveLength(1)
    expect((await scene.login({ client_id: 'bob' })).status).toBe(200)
    await scene.clock.advance(1_000 / SESSION_RATE.perSecond)
    expect((await scene.refresh(last)).status).toBe(200)
  })

  test('I6: of a sender without credentials takes no session of the client that it names', async () => {
    const scene = tokenScene()
    const refusals = Array.from({ length: SESSION_RATE.burst + 1 }, () => scene.refresh(STRANGE))
    expect((await scene.login()).status).toBe(200)
    // They are delayed.
    await scene.clock.advance(2_000)
    expect(new Set((await Promise.all(refusals)).map(({ status }) => status))).toEqual(new Set([401, 503]))
  })

  test.for([
    [{}, ['client_id', 'client_secret']],
    [{ client_id: 'ann' }, ['client_secret']],
    [{ client_id: '', client_secret: 1 }, ['client_id', 'client_secret']],
    [{ grant_type: 'refresh_token' }, ['refresh_token']],
    [{ grant_type: 'password', ...CREDENTIALS }, ['grant_type']],
    [{ refresh_token: 'rt_x' }, ['client_id', 'client_secret']],
  ] as const)('is refused with %j', async ([body, fields]) => {
    expect(await refusalOf(await tokenScene().ask(body))).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields })
  })

  test('accepts a body of a hundred members, and refuses one that is costly to parse', async () => {
    const extra = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra${index}`, index]))
    expect((await tokenScene().login(extra(98))).status).toBe(200)
    for (const costly of [extra(99), { deep: Array.from({ length: 200 }, () => []) }]) {
      const refused = await refusalOf(await tokenScene().login(costly))
      expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['body'] })
    }
  })

  test('as a form, which OAuth libraries send, is 415 and explains the JSON to send', async () => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...CREDENTIALS }).toString()
    const response = await tokenScene().ask(form, { 'content-type': 'application/x-www-form-urlencoded' })
    const { status, error_codes: codes, detail } = await bodyOf(response)
    expect([status, codes]).toEqual([415, ['ERR_UNSUPPORTED_CONTENT_TYPE']])
    expect(detail).toMatch(/^Content-Type must be application\/json\. Send the credentials as JSON .*client_secret/)
  })
})

describe('a refusal', () => {
  test('is the same for an unknown client, a wrong secret, a revoked client and every refused refresh', async () => {
    const scene = tokenScene()
    scene.access.clients.set('old', { ...clientOf('old', 'admin'), revokedAtMs: 1 })
    scene.access.clients.set('changed', clientOf('changed', 'admin'))
    scene.access.unreadable.add('changed')
    const answers = new Set<string>()
    const refused = async (body: object): Promise<void> => {
      const response = await scene.ask(body, { 'x-request-id': 'same' })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/Bearer/),
      ])
      answers.add(await response.text())
    }
    for (const id of ['nobody', 'old', 'changed']) await refused({ client_id: id, client_secret: SECRET })
    await refused({ ...CREDENTIALS, ...WRONG })
    await refused({ grant_type: 'refresh_token', refresh_token: 'rt_x' })
    for (const kind of [null, 'unknown', 'expired', 'revoked', 'reused'] as const) {
      scene.access.refreshOutcome = kind === null ? null : { kind }
      await refused({ grant_type: 'refresh_token', refresh_token: STRANGE })
    }
    expect(answers.size).toBe(1)
    expect(scene.secretChecks.known).toEqual([false, true, false, true])
  })

  test('D17: is delayed after 20 failures and stays 401; the right secret is never delayed', async () => {
    const scene = tokenScene()
    for (let count = 0; count < 20; count += 1) expect((await scene.login(WRONG)).status).toBe(401)
    let late: Response | undefined
    const pending = scene.login(WRONG).then((response) => (late = response))
    await scene.clock.timersSet(1)
    expect(late).toBeUndefined()
    expect((await scene.login()).status).toBe(200)
    expect((await scene.login({ ...WRONG, client_id: 'bob' })).status).toBe(401)
    await scene.clock.advance(2000)
    expect((await pending).status).toBe(401)
  })

  test('D17: is delayed by at most 2 s, and the count restarts after a minute', async () => {
    const scene = tokenScene()
    const all = Array.from({ length: 60 }, () => scene.login(WRONG))
    await scene.clock.timersSet(40)
    await scene.clock.advance(2000)
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([401]))
    await scene.clock.advance(60_000)
    expect((await scene.login(WRONG)).status).toBe(401)
    expect(scene.clock.pending()).toBe(0)
  })

  test('for an impossible client name needs no look-up, but still costs a check of the secret', async () => {
    const scene = tokenScene()
    const long = 'x'.repeat(1000)
    scene.access.clients.set(long, clientOf(long, 'admin'))
    expect((await scene.login({ client_id: long })).status).toBe(401)
    expect(scene.secretChecks.known).toEqual([false])
    const asked = vi.spyOn(scene.access, 'findClient')
    for (const name of ['\0', 'an\0', '\0'.repeat(64)]) {
      const token = `rt_${'x'.repeat(43)}.${Buffer.from(name).toString('base64url')}`
      expect((await scene.refresh(token)).status).toBe(401)
    }
    expect(asked).not.toHaveBeenCalled()
  })

  test('is logged, and the secret checked, under the address that a trusted proxy names', async () => {
    const clientAddress = createClientAddress([{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }])
    const scene = tokenScene({ clientAddress })
    for (const [peer, address] of [
      ['192.0.2.7', '192.0.2.7'],
      ['10.0.0.1', '203.0.113.9'],
    ] as const) {
      const request = new Request('http://localhost/v1/auth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1, 203.0.113.9' },
        body: JSON.stringify({ ...CREDENTIALS, ...WRONG }),
      })
      await scene.clock.advance(10_000)
      const response = await scene.app.fetch(request, { incoming: { socket: { remoteAddress: peer } } })
      expect([response.status, scene.secretChecks.addresses.at(-1)]).toEqual([401, address])
      expect(scene.log.at(-1)).toMatchObject({ event: 'logins_refused', fields: { top_address: address } })
    }
  })

  test('is logged in bulk: a thousand give two lines, with counts by cause and without secrets', async () => {
    const scene = tokenScene()
    for (let login = 0; login < 1_000; login += 1) await scene.login({ client_id: `guess-${login}`, ...WRONG })
    await scene.refresh('rt_x')
    await scene.clock.advance(10_000)
    expect((await scene.login()).status).toBe(200)
    const line = (fields: object) => ({
      level: 'warn',
      event: 'logins_refused',
      fields: { addresses: 1, top_address: '', ...fields },
    })
    expect(scene.log).toEqual([
      line({ top_address_count: 1, credentials_count: 1 }),
      line({ top_address_count: 1_000, credentials_count: 999, malformed_count: 1 }),
    ])
  })

  test('due to overload or an unavailable store is 503, not 401', async () => {
    const scene = tokenScene()
    const refused = async (response: Response, expected: object): Promise<void> => {
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await response.clone().text()).not.toContain('db.internal')
      expect(await refusalOf(response)).toMatchObject(expected)
    }
    scene.secretChecks.failure = new Error('busy')
    await refused(await scene.login(), OVERLOADED)
    scene.access.failure = new AccessStoreOverloaded('too many')
    for (const response of [await scene.login(), await scene.refresh(STRANGE)]) await refused(response, OVERLOADED)
    scene.access.failure = new AccessStoreUnavailable('connect ECONNREFUSED db.internal')
    await refused(await scene.login(), UNAVAILABLE)
  })
})

describe('an attacker who changed rows of clients or sessions', () => {
  test('gets no token for an unreadable client, and does not affect other clients', async () => {
    const scene = tokenScene()
    scene.access.clients.set('bob', clientOf('bob', 'viewer'))
    const pairs = [await scene.issued(), await scene.issued({ client_id: 'bob' })]
    scene.access.unreadable.add('ann')
    for (const [index, expected] of [401, 200].entries()) {
      const { access = '', refresh } = pairs[index] ?? {}
      expect([(await scene.refresh(refresh)).status, await scene.statusOf(access)]).toEqual([expected, expected])
    }
  })

  test('I4: gets no token for a session moved to another client, or for a self-made refresh token', async () => {
    const scene = tokenScene()
    scene.access.clients.set('boss', clientOf('boss', 'admin'))
    const { refresh: own } = await scene.issued()
    const [family] = scene.access.families
    if (family === undefined) throw new Error('there is no session')
    const made = own.replace(/[^.]+$/, Buffer.from('boss').toString('base64url'))
    const tokenHash = createHash('sha256').update(made).digest('hex')
    for (const [token, moved] of [
      [own, {}],
      [made, {}],
      [made, { tokenHash }],
    ] as const) {
      scene.access.families[0] = { ...family, clientId: 'boss', ...moved }
      expect((await scene.refresh(token)).status).toBe(401)
    }
  })
})

describe('an outage spends no refresh token and begins no session', () => {
  test.for(['current', 'sign'] as const)('I3: of the token key at %s', async (at) => {
    const scene = tokenScene()
    const { refresh } = await scene.issued()
    scene.keys.failsAt = at
    for (const response of [await scene.refresh(refresh), await scene.login()]) expect(response.status).toBe(503)
    expect(scene.access.families).toHaveLength(1)
    scene.keys.failsAt = null
    expect((await scene.refresh(refresh)).status).toBe(200)
  })

  test('I3: of the store during the look-up of the client', async () => {
    const scene = tokenScene()
    const { refresh } = await scene.issued()
    vi.spyOn(scene.access, 'findClient').mockRejectedValueOnce(new AccessStoreUnavailable('away'))
    expect((await scene.refresh(refresh)).status).toBe(503)
    await scene.clock.advance(10_001)
    expect((await scene.refresh(refresh)).status).toBe(200)
  })

  test('E4: of the trusted clock; the edge also accepts no token, and serves requests without one', async () => {
    let trusted = true
    const scene = tokenScene({ clockTrusted: () => trusted })
    const { access, refresh } = await scene.issued()
    trusted = false
    const answers = [await scene.login(), await scene.refresh(refresh)]
    for (const path of ['/v1/transactions', '/v1/nowhere']) answers.push(await scene.get(path, access))
    for (const answer of answers) expect(await refusalOf(answer)).toMatchObject(UNAVAILABLE)
    expect(scene.access.families).toHaveLength(1)
    const submission = await scene.post('/v1/transactions', {}, access)
    expect(submission.headers.get('retry-after')).not.toBeNull()
    expect(await bodyOf(submission)).toMatchObject({ status: 503, outcome: 'not_applied' })
    expect(scene.gateway.asked).toEqual([])
    expect((await scene.get('/.well-known/jwks.json')).status).toBe(200)
    trusted = true
    expect([await scene.statusOf(access), (await scene.refresh(refresh)).status]).toEqual([200, 200])
  })
})
