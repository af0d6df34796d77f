/** The statuses: when each is said. 503 stands with the outages, at the end. */
import { expect } from 'vitest'
import type { HttpReply } from '../../support/client.ts'
import { openTokenForge, partsOf } from '../../support/client-forged-token.ts'
import { newAccountKeys, signed } from '../../support/client-keys.ts'
import { changeStatus, keyed, outcomeOf, registerToken } from '../../support/client-moves.ts'
import { mint, registerClass } from '../../support/client-nfts.ts'
import { withToken } from './authentication.ts'
import { bodied, endpoints, entitled } from './endpoints.ts'
import { BODY_LIMIT_BYTES, NO_ATTESTATION, NO_CLASS, NO_TXN } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function statusChapter(suite: Suite): void {
  const row = suite.chapter('Status codes')

  row('400', 'a body, a query or an account ID that is not valid', async ({ transactor, viewer }) => {
    expect(outcomeOf(await transactor.post('/v1/accounts', '{"account_id":'))).toBe('400 ERR_INVALID_FIELD')
    expect(outcomeOf(await transactor.post('/v1/accounts', ''))).toBe('400 ERR_INVALID_FIELD')
    expect(outcomeOf(await transactor.post('/v1/accounts', '[]'))).toBe('400 ERR_INVALID_FIELD')
    expect(outcomeOf(await transactor.post('/v1/accounts', '{"a":1,"a":2}'))).toBe('400 ERR_INVALID_FIELD')
    expect(outcomeOf(await transactor.post('/v1/accounts', Buffer.from([0x22, 0xff, 0x22])))).toBe(
      '400 ERR_INVALID_FIELD',
    )
    expect((await transactor.post('/v1/accounts', '{}')).status).toBe(400)
    expect(outcomeOf(await viewer.get('/v1/transactions?page_size=0'))).toBe('400 ERR_INVALID_QUERY')
    expect(outcomeOf(await viewer.get('/v1/accounts/a%20b/state'))).toBe('400 ERR_INVALID_ACCOUNT_ID')
  })

  row('401', 'a token that is missing, malformed or expired', async (stage) => {
    const { ask, viewer } = stage
    for (const headers of [
      {},
      { authorization: viewer.token },
      { authorization: 'Bearer x' },
      { authorization: 'Basic eA==' },
    ]) {
      const reply = await ask({ method: 'GET', path: '/v1/transactions', headers })
      expect([headers, outcomeOf(reply)]).toEqual([headers, '401 ERR_UNAUTHORIZED'])
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer realm=/)
    }
    const { header, claims } = partsOf(viewer.token)
    const forge = await openTokenForge(stage.cluster)
    try {
      const nowS = Math.floor(Date.now() / 1000)
      const expired = await forge.sign(header, { ...claims, iat: nowS - 3700, exp: nowS - 100 })
      const reply = await withToken(stage, expired)
      expect(outcomeOf(reply)).toBe('401 ERR_UNAUTHORIZED')
      expect(reply.headers['www-authenticate']).toContain('error="invalid_token"')
    } finally {
      await forge.close()
    }
  })

  row('403', 'a role that does not permit it; a signature of another key; an account without one', async (stage) => {
    const { viewer, transactor, ungranted, cast } = stage
    const credit = keyed({ type: 'credit', amount: '1' })
    expect(outcomeOf(await viewer.submit(cast.alice, credit))).toBe('403 ERR_FORBIDDEN')
    const body = { account_id: cast.alice.accountId, ...credit }
    const forged = await transactor.post('/v1/transactions', signed(body, cast.bob.keys.privateKey))
    expect(outcomeOf(forged)).toBe('403 ERR_SIGNATURE_MISMATCH')
    expect(outcomeOf(await ungranted.submit(cast.alice, credit))).toBe('403 ERR_FORBIDDEN')
    const issuer = { accountId: 'keyless@status', keys: newAccountKeys() }
    await registerToken(transactor, { symbol: 'KEYLESS', issuer: issuer.accountId, total_supply: '1' })
    expect(outcomeOf(await transactor.submit(issuer, credit))).toBe('403 ERR_FORBIDDEN')
    const mintOther = keyed({ type: 'mint', amount: '1', token_id: 'COIN' })
    expect(outcomeOf(await transactor.submit(cast.bob, mintOther))).toBe('403 ERR_NOT_ISSUER')
  })

  row(
    '404',
    'a resource that is not there, an account on no shard, a token that is not held',
    async ({ transactor, cast }) => {
      const { accountId } = cast.carol
      for (const path of [
        '/v1/accounts/nobody@nowhere',
        '/v1/accounts/nobody@nowhere/state',
        `/v1/accounts/${accountId}/balances/COIN`,
        `/v1/transactions/${NO_TXN}`,
        '/v1/fungible-tokens/NO-SUCH',
        `/v1/nft-classes/${NO_CLASS}`,
        `/v1/nft-classes/${cast.classId}/instances/none`,
        `/v1/attestations/${NO_ATTESTATION}`,
        '/v1/shards/256',
        '/v1/no-such-thing',
      ]) {
        expect([path, outcomeOf(await transactor.get(path))]).toEqual([path, '404 ERR_NOT_FOUND'])
      }
      const nobody = { accountId: 'nobody@nowhere', keys: cast.alice.keys }
      const reply = await transactor.submit(nobody, keyed({ type: 'credit', amount: '1' }))
      expect(outcomeOf(reply)).toBe('404 ERR_NOT_FOUND')
    },
  )

  row(
    '409',
    'a duplicate mint, class name, symbol; a key that is another; a state that does not permit it',
    async (stage) => {
      const { transactor, admin, cast } = stage
      const { alice, bob, classId, className } = cast
      const other = { account_id: alice.accountId, public_key: newAccountKeys().jwk }
      const replies: readonly (readonly [string, HttpReply])[] = [
        ['mint', await mint(transactor, alice, classId, { instance_id: 'deed-1' })],
        ['class', await registerClass(transactor, { name: className, issuer: alice.accountId })],
        ['symbol', await registerToken(transactor, { symbol: 'COIN', issuer: alice.accountId, total_supply: '1' })],
        ['account', await transactor.post('/v1/accounts', other)],
        ['close', await changeStatus(admin, bob, { status: 'closed' })],
      ]
      for (const [what, reply] of replies) expect([what, outcomeOf(reply)]).toEqual([what, '409 ERR_CONFLICT'])
    },
  )

  row(
    '413',
    'a body of one byte above 1 MB, on every endpoint that takes one, before anything else of it is judged',
    async (stage) => {
      for (const endpoint of bodied(stage)) {
        const [largest, larger] = [BODY_LIMIT_BYTES, BODY_LIMIT_BYTES + 1].map((size) => ' '.repeat(size))
        expect([endpoint.path, (await sent(stage, endpoint, largest ?? '')).status]).toEqual([endpoint.path, 400])
        const reply = await sent(stage, endpoint, larger ?? '', 'text/plain')
        expect([endpoint.path, outcomeOf(reply)]).toEqual([endpoint.path, '413 ERR_PAYLOAD_TOO_LARGE'])
      }
    },
  )

  row(
    '415',
    'a content type that is not application/json, or none, on every endpoint that takes a body',
    async (stage) => {
      for (const endpoint of bodied(stage)) {
        const { method, path } = endpoint
        const client = entitled(stage, endpoint)
        const untyped = await client.ask({ method, path, headers: client.authorization(), body: '{}' })
        expect([path, outcomeOf(untyped)]).toEqual([path, '415 ERR_UNSUPPORTED_CONTENT_TYPE'])
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'application/jsonx',
          'application/json-patch+json',
        ]) {
          const reply = await sent(stage, endpoint, '{}', type)
          expect([endpoint.path, type, outcomeOf(reply)]).toEqual([
            endpoint.path,
            type,
            '415 ERR_UNSUPPORTED_CONTENT_TYPE',
          ])
        }
        for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
          expect([endpoint.path, type, (await sent(stage, endpoint, '[', type)).status]).toEqual([
            endpoint.path,
            type,
            400,
          ])
        }
      }
      const packed = await stage.transactor.post('/v1/accounts', '{}', { 'content-encoding': 'gzip' })
      expect(outcomeOf(packed)).toBe('415 ERR_UNSUPPORTED_CONTENT_TYPE')
    },
  )

  row('404', 'and 405 with Allow, where there is another method', async (stage) => {
    const methods = new Map<string, string[]>()
    for (const { path, method } of endpoints(stage)) methods.set(path, [...(methods.get(path) ?? []), method])
    for (const [path, allowed] of methods) {
      const reply = await stage.ask({ method: 'DELETE', path, headers: stage.admin.authorization() })
      const names = ['GET', 'POST', 'PUT'].filter((method) => allowed.includes(method))
      const allow = [...names.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS'].join(', ')
      expect([path, outcomeOf(reply), reply.headers.allow]).toEqual([path, '405 ERR_METHOD_NOT_ALLOWED', allow])
    }
  })
}

function sent(
  stage: Stage,
  endpoint: ReturnType<typeof bodied>[number],
  body: string,
  type = 'application/json',
): Promise<HttpReply> {
  const client = entitled(stage, endpoint)
  const headers = { ...client.authorization(), 'content-type': type }
  return client.ask({ method: endpoint.method, path: endpoint.path, headers, body })
}
