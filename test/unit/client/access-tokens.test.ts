/** Rules T1 to T3 of access tokens. */
import { type JWTPayload, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { type AccountKey, exportPem, generateKey, LedgerClient, type Tokens } from '../../../api/client/index.ts'
import { type Answer, fakeLedger, json, problem, tokens } from './fake-ledger.ts'

const LIFE_MS = 3_600_000
const page = (): Response => json({ shards: [] })
const refused = (): Response => problem(401, 'ERR_UNAUTHORIZED')
const saved: Tokens = { accessToken: 'access-saved', refreshToken: 'refresh-saved', renewAtMs: 60_000 }

function opened(answers: readonly Answer[], options = {}) {
  const fake = fakeLedger(answers, options)
  const bodies = (): readonly unknown[] =>
    fake.sent.filter(({ path }) => path === '/v1/auth/token').map(({ body }) => JSON.parse(body ?? '') as unknown)
  const used = (): readonly unknown[] =>
    fake.sent.map(({ headers }) => headers.get('authorization')).filter((given) => given !== null)
  return { ...fake, ledger: new LedgerClient(fake.options), bodies, used }
}

const LOGIN = { client_id: 'me', client_secret: 'secret' }

describe('access tokens', () => {
  test('T1: a token is renewed with the refresh token, a minute before it expires', async () => {
    const { ledger, pass, bodies, used } = opened([tokens('1'), page(), page(), tokens('2'), page()])
    await ledger.call('listShards')
    pass(LIFE_MS - 60_001)
    await ledger.call('listShards')
    pass(1)
    await ledger.call('listShards')
    expect(bodies()).toEqual([LOGIN, { grant_type: 'refresh_token', refresh_token: 'refresh-1' }])
    expect(used()).toEqual(['Bearer access-1', 'Bearer access-1', 'Bearer access-2'])
  })

  test('T1: requests at the same time share one renewal', async () => {
    const { ledger, bodies } = opened([tokens('1'), page(), page()])
    await Promise.all([ledger.call('listShards'), ledger.call('listShards')])
    expect(bodies()).toEqual([LOGIN])
  })

  test('T2: after a refused refresh token the credentials are used', async () => {
    const { ledger, pass, bodies, used } = opened([tokens('1'), page(), refused(), tokens('2'), page()])
    await ledger.call('listShards')
    pass(LIFE_MS)
    await ledger.call('listShards')
    expect(bodies()).toMatchObject([LOGIN, { refresh_token: 'refresh-1' }, LOGIN])
    expect(used()).toEqual(['Bearer access-1', 'Bearer access-2'])
  })

  test('T2: without credentials a refused refresh token is an error that asks for a login', async () => {
    const tokenStore = { load: () => ({ ...saved, renewAtMs: 0 }), save: () => undefined }
    const { ledger } = opened([refused()], { tokenStore, credentials: undefined })
    await expect(ledger.call('listShards')).rejects.toMatchObject({ code: 'ERR_UNAUTHORIZED', status: 401 })
    const without = opened([], { credentials: undefined })
    await expect(without.ledger.call('listShards')).rejects.toMatchObject({
      message: expect.stringMatching(/log in again/),
    })
  })

  test('T2: tokens that another process has saved meanwhile are used', async () => {
    let stored = { ...saved, renewAtMs: 0 }
    const tokenStore = { load: () => stored, save: () => undefined }
    const refuse = (): Promise<Response> => {
      stored = { ...saved, accessToken: 'access-other' }
      return Promise.resolve(refused())
    }
    const { ledger, used } = opened([refuse, page()], { tokenStore })
    await ledger.call('listShards')
    expect(used()).toEqual(['Bearer access-other'])
  })

  test('stored tokens are used, and new ones are stored', async () => {
    const kept: Tokens[] = []
    const tokenStore = { load: () => saved, save: (given: Tokens) => void kept.push(given) }
    const { ledger, pass, used } = opened([page(), tokens('2'), page()], { tokenStore })
    await ledger.call('listShards')
    pass(60_000)
    await ledger.call('listShards')
    expect(used()).toEqual(['Bearer access-saved', 'Bearer access-2'])
    expect(kept).toEqual([{ accessToken: 'access-2', refreshToken: 'refresh-2', renewAtMs: 60_000 + LIFE_MS - 60_000 }])
  })

  test('T2: after a lost response the refresh token is not sent again', async () => {
    const { ledger, pass, bodies } = opened([tokens('1'), page(), new TypeError('fetch failed'), tokens('2'), page()])
    await ledger.call('listShards')
    pass(LIFE_MS)
    await ledger.call('listShards')
    expect(bodies()).toMatchObject([LOGIN, { refresh_token: 'refresh-1' }, LOGIN])
  })

  test('T2: nor is it after the credentials did not arrive either', async () => {
    const lost = new TypeError('fetch failed')
    const answers = [tokens('1'), page(), lost, lost, tokens('2'), page()]
    const { ledger, pass, bodies } = opened(answers, { retry: { attempts: 1 } })
    await ledger.call('listShards')
    pass(LIFE_MS)
    await expect(ledger.call('listShards')).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
    await ledger.call('listShards')
    expect(bodies()).toMatchObject([LOGIN, { refresh_token: 'refresh-1' }, LOGIN, LOGIN])
  })

  test('T2: without credentials it is, because the ledger accepts it for some seconds', async () => {
    const tokenStore = { load: () => ({ ...saved, renewAtMs: 0 }), save: () => undefined }
    const answers = [new TypeError('fetch failed'), tokens('2'), page()]
    const { ledger, bodies } = opened(answers, { tokenStore, credentials: undefined })
    await expect(ledger.call('listShards')).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
    await ledger.call('listShards')
    expect(bodies()).toMatchObject([{ refresh_token: 'refresh-saved' }, { refresh_token: 'refresh-saved' }])
  })

  test('T2: after a refused token those of another process are used, also if they end earlier', async () => {
    let stored: Tokens = saved
    const tokenStore = { load: () => stored, save: () => undefined }
    const refuse = (): Promise<Response> => {
      stored = { accessToken: 'access-other', refreshToken: 'refresh-other', renewAtMs: 30_000 }
      return Promise.resolve(refused())
    }
    const { ledger, bodies, used } = opened([refuse, page()], { tokenStore })
    await ledger.call('listShards')
    expect([bodies(), used()]).toEqual([[], ['Bearer access-saved', 'Bearer access-other']])
  })

  test('T3: after a refused token that could not be saved, the older saved one is not used', async () => {
    const save = () => Promise.reject(new Error('the disk is full'))
    const answers = [refused(), tokens('1'), page(), refused(), tokens('2'), page()]
    const { ledger, used } = opened(answers, { tokenStore: { load: () => saved, save } })
    await ledger.call('listShards')
    await ledger.call('listShards')
    expect(used()).toEqual(['Bearer access-saved', 'Bearer access-1', 'Bearer access-1', 'Bearer access-2'])
  })

  test('T2: newer tokens of another process are used before a refresh token is sent', async () => {
    let stored: Tokens = saved
    const tokenStore = { load: () => stored, save: () => undefined }
    const { ledger, pass, bodies, used } = opened([page(), page()], { tokenStore })
    await ledger.call('listShards')
    pass(60_000)
    stored = { accessToken: 'access-other', refreshToken: 'refresh-other', renewAtMs: 120_000 }
    await ledger.call('listShards')
    expect([bodies(), used()]).toEqual([[], ['Bearer access-saved', 'Bearer access-other']])
  })

  test('T2: of newer tokens that expire, too, the refresh token is used', async () => {
    let stored: Tokens = saved
    const tokenStore = { load: () => stored, save: () => undefined }
    const { ledger, pass, bodies } = opened([page(), tokens('2'), page()], { tokenStore })
    await ledger.call('listShards')
    stored = { accessToken: 'access-other', refreshToken: 'refresh-other', renewAtMs: 120_000 }
    pass(120_000)
    await ledger.call('listShards')
    expect(bodies()).toEqual([{ grant_type: 'refresh_token', refresh_token: 'refresh-other' }])
  })

  test('T3: tokens that cannot be saved are used, and older saved ones do not replace them', async () => {
    const tokenStore = {
      load: () => ({ ...saved, renewAtMs: 0 }),
      save: () => Promise.reject(new Error('the disk is full')),
    }
    const { ledger, pass, bodies, used } = opened([tokens('1'), page(), tokens('2'), page()], { tokenStore })
    await ledger.call('listShards')
    pass(LIFE_MS)
    await ledger.call('listShards')
    expect(used()).toEqual(['Bearer access-1', 'Bearer access-2'])
    expect(bodies()).toMatchObject([{ refresh_token: 'refresh-saved' }, { refresh_token: 'refresh-1' }])
  })
})

describe('a client with a key', () => {
  const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

  async function claimsOf(body: unknown, key: AccountKey): Promise<JWTPayload> {
    const { client_assertion_type: type, client_assertion: assertion = '' } = body as Record<string, string>
    expect(type).toBe(ASSERTION)
    const { payload } = await jwtVerify(assertion, key.publicKey, { currentDate: new Date(0), algorithms: ['ES256'] })
    return payload
  }

  test('signs an assertion for the ledger, and a new one for each attempt', async () => {
    const key = await generateKey({ extractable: false })
    const credentials = { clientId: 'me', clientKey: key }
    const { ledger, bodies } = opened([problem(503, 'ERR_OVERLOADED'), tokens('1'), page()], { credentials })
    await ledger.call('listShards')
    const [first, second] = await Promise.all(bodies().map((body) => claimsOf(body, key)))
    expect(first).toMatchObject({ iss: 'me', sub: 'me', aud: 'urn:ledger:this-ledger', exp: 120 })
    expect(second?.jti).not.toBe(first?.jti)
    expect(JSON.stringify(bodies())).not.toContain('client_secret')
  })

  test('signs for the address where the ID of the ledger is not known, with a key as PEM', async () => {
    const key = await generateKey()
    const options = { ledgerId: undefined, credentials: { clientId: 'me', clientKey: await exportPem(key) } }
    const { ledger, bodies } = opened([tokens('1'), page()], options)
    await ledger.call('listShards')
    expect(await claimsOf(bodies()[0], key)).toMatchObject({ aud: 'https://ledger.example/v1/auth/token' })
  })
})
