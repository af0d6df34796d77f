/** A client with a key signs in with an assertion (RFC 7523), once for each assertion. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { ASSERTION_TYPE } from '../../../../api/auth/client-assertions.ts'
import { publicJwkOf, readPublicKey } from '../../../../infra/keys/public-key.ts'
import { AccessStoreUnavailable } from '../../../../runtime/ports/access-store.ts'
import { bodyOf, clientOf, LEDGER_ID, refusalOf, SECRET } from '../fakes/edge-fixture.ts'
import { tokenScene } from './token-scene.ts'

const OWN = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const AUDIENCE = `urn:ledger:${LEDGER_ID}`

function scene() {
  const edge = tokenScene()
  const publicKey = readPublicKey(publicJwkOf(OWN.privateKey))?.publicKey ?? ''
  edge.access.clients.set('kim', { ...clientOf('kim', 'viewer'), secretHash: null, publicKey })
  const nowS = Math.floor(edge.clock.now() / 1_000)
  const valid: JWTPayload = { iss: 'kim', sub: 'kim', aud: AUDIENCE, exp: nowS + 60, jti: 'first' }
  const signed = (changes: Record<string, unknown> = {}, key: KeyObject = OWN.privateKey) =>
    new SignJWT({ ...valid, ...changes }).setProtectedHeader({ alg: 'ES256' }).sign(key)
  const present = (assertion: string, more: object = {}): Promise<Response> =>
    edge.ask({ client_assertion_type: ASSERTION_TYPE, client_assertion: assertion, ...more })
  return { ...edge, nowS, signed, present }
}

describe('an assertion', () => {
  test.for([
    ['the ledger by its ID', {}],
    ['the ledger by its token endpoint', { aud: 'https://ledger.example/v1/auth/token' }],
    ['an end five minutes ahead', { exp: 300 }],
    ['an end just passed, by a clock that is behind', { exp: -9 }],
  ] as const)('gets tokens if it names %s', async ([, changes]) => {
    const { signed, present, nowS, statusOf } = scene()
    const claims = 'exp' in changes ? { exp: nowS + changes.exp } : changes
    const response = await present(await signed(claims), { grant_type: 'client_credentials' })
    expect(response.status).toBe(200)
    expect(await statusOf(String((await bodyOf(response))['access_token']))).toBe(200)
  })

  test('works once, at whatever edge; another ID of the same client works', async () => {
    const { signed, present, access, nowS } = scene()
    const assertion = await signed()
    expect((await present(assertion)).status).toBe(200)
    expect((await present(assertion)).status).toBe(401)
    expect((await present(await signed({ exp: nowS + 30 }))).status).toBe(401)
    expect((await present(await signed({ jti: 'second' }))).status).toBe(200)
    expect(access.families).toHaveLength(2)
  })

  test.for([
    ['is signed by another key', {}, OTHER.privateKey],
    ['names another issuer', { iss: 'ann' }, OWN.privateKey],
    ['names another client', { iss: 'ann', sub: 'ann' }, OWN.privateKey],
    ['names no known client', { iss: 'stranger', sub: 'stranger' }, OWN.privateKey],
    ['is for another ledger', { aud: 'urn:ledger:other' }, OWN.privateKey],
    ['is for this ledger and another', { aud: [AUDIENCE, 'urn:ledger:other'] }, OWN.privateKey],
    ['has no ID', { jti: undefined }, OWN.privateKey],
    ['has an empty ID', { jti: '' }, OWN.privateKey],
    ['has an ID that is too long', { jti: 'x'.repeat(257) }, OWN.privateKey],
    ['has no end', { exp: undefined }, OWN.privateKey],
    ['is not valid yet', { nbf: 4_000_000_000 }, OWN.privateKey],
    ['names a client that is no text', { sub: ['kim'] }, OWN.privateKey],
  ] as const)('is refused if it %s', async ([, changes, key]) => {
    const { signed, present, access } = scene()
    expect((await present(await signed(changes, key))).status).toBe(401)
    expect(access.families).toEqual([])
  })

  test('is refused if it ends too late, has ended, is too long, uses another algorithm or is no JWT', async () => {
    const { signed, present, nowS } = scene()
    const hmac = new SignJWT({ iss: 'kim', sub: 'kim', aud: AUDIENCE, exp: nowS + 60, jti: 'a' })
    const bad = [
      await signed({ exp: nowS + 312 }),
      await signed({ exp: nowS - 11 }),
      await signed({ more: 'x'.repeat(4_096) }),
      await hmac.setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32)),
      'no.j.wt',
    ]
    for (const assertion of bad) expect((await present(assertion)).status).toBe(401)
  })

  test('gets the same refusal as a wrong secret, and a client with a key has no secret', async () => {
    const { signed, present, ask } = scene()
    const same = { 'x-request-id': 'same' }
    const answers = [
      await ask({ client_id: 'stranger', client_secret: 'wrong' }, same),
      await ask({ client_id: 'kim', client_secret: SECRET }, same),
      await ask({ client_assertion_type: ASSERTION_TYPE, client_assertion: await signed({}, OTHER.privateKey) }, same),
    ]
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect((await present(await signed())).status).toBe(200)
  })

  test('of a revoked client is refused', async () => {
    const { signed, present, access } = scene()
    await access.revokeClient('kim', 1)
    expect((await present(await signed())).status).toBe(401)
  })

  test('that is refused again and again is delayed, by the client that it names', async () => {
    const { signed, present, clock } = scene()
    const forged = await signed({}, OTHER.privateKey)
    for (let count = 0; count < 20; count += 1) await present(forged)
    let late: Response | undefined
    const pending = present(forged).then((response) => (late = response))
    await clock.timersSet(1)
    expect(late).toBeUndefined()
    expect((await present(await signed())).status).toBe(200)
    await clock.advance(2_000)
    expect((await pending).status).toBe(401)
  })

  test('I3: is not spent while no token can be signed or the store is away', async () => {
    const { signed, present, keys, access } = scene()
    const assertion = await signed()
    keys.failsAt = 'sign'
    expect((await present(assertion)).status).toBe(503)
    keys.failsAt = null
    access.failure = new AccessStoreUnavailable('away')
    expect((await present(assertion)).status).toBe(503)
    access.failure = null
    expect((await present(assertion)).status).toBe(200)
  })

  test.for([
    [{ client_assertion: 'a.b.c' }, ['client_assertion_type']],
    [{ client_assertion: '', client_assertion_type: ASSERTION_TYPE }, ['client_assertion']],
    [{ client_assertion: 'a.b.c', client_assertion_type: 'saml' }, ['client_assertion_type']],
  ] as const)('is malformed in %j', async ([body, fields]) => {
    expect(await refusalOf(await scene().ask(body))).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields })
  })
})
