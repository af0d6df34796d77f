/** Rules of registrations beyond their fields (body-fields.test.ts). */
import { describe, expect, test } from 'vitest'
import { jwkOf } from '../../../../infra/keys/public-key.ts'
import { type LedgerReads, ReadsUnavailable } from '../../../../runtime/ports/ledger-reads.ts'
import { answering, bodyOf, createEdgeFixture, createFakeReads, refusalOf, signedIn } from '../fakes/edge-fixture.ts'
import { ACCOUNT_SHOWN } from './shown.ts'
import { ACCOUNT, JWK, KEY, WRITTEN } from './written-requests.ts'

const REGISTERED = WRITTEN.createAccount.answer

test('an account registered again with its key in another format is 200', async () => {
  const edge = answering({ ...REGISTERED, created: false })
  const body = { account_id: 'alice', public_key: JWK }
  const again = await edge.post('/v1/accounts', body, await edge.tokenFor('transactor'))
  expect([again.status, await bodyOf(again)]).toEqual([200, ACCOUNT_SHOWN])
  const operation = { registrationKey: null, key: { keyId: KEY.keyId, publicKey: KEY.publicKey } }
  expect(edge.gateway.asked).toMatchObject([{ operation }])
})

test('D2: the signed payload of a rotation is the body without signature and proof', async () => {
  const edge = answering(WRITTEN.rotateKey.answer)
  const payload = { account_id: 'al@ice', idempotency_key: 'k', public_key: KEY.pem }
  const body = { signature: 'old', proof: 'new', ...payload }
  await edge.post('/v1/accounts/al%40ice/keys', body, await edge.tokenFor('transactor'))
  expect(edge.gateway.asked).toMatchObject([
    { actor: { id: 'al@ice' }, operation: { payload: JSON.stringify(payload), signature: 'old', proof: 'new' } },
  ])
})

describe('the size of a public key', () => {
  const sized = (length: number): object => {
    const jwk = { ...jwkOf(KEY.publicKey), note: '' }
    return { ...jwk, note: 'n'.repeat(length - JSON.stringify(jwk).length) }
  }
  const tooLarge = {
    'one character too many': sized(2049),
    'numbers that print longer than they are written': { ...JWK, more: Array(1000).fill(1e20) },
    'white space around a PEM': `${KEY.pem}${' '.repeat(3000)}`,
  }

  test('2,048 characters of canonical JSON are accepted', async () => {
    const edge = answering(REGISTERED)
    const body = { account_id: 'alice', public_key: sized(2048) }
    expect((await edge.post('/v1/accounts', body, await edge.tokenFor('admin'))).status).toBe(201)
  })

  test.for(Object.entries(tooLarge))('%s: refused, and the ledger gets no request', async ([, publicKey]) => {
    const { edge, token } = await signedIn('admin')
    const body = { account_id: 'alice', public_key: publicKey, idempotency_key: 'k', signature: 's' }
    for (const path of ['/v1/accounts', '/v1/accounts/alice/keys']) {
      const refused = await refusalOf(await edge.post(path, body, token))
      expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_PUBLIC_KEY'], fields: ['public_key'] })
    }
    expect(edge.gateway.asked).toEqual([])
  })
})

test('a change of status needs `status` or `incoming`, and passes an absent one on as null', async () => {
  const edge = answering({ kind: 'status_changed', account: ACCOUNT })
  const token = await edge.tokenFor('admin')
  const nothing = await refusalOf(await edge.post('/v1/accounts/alice/status', { reason: 'x' }, token))
  expect(nothing).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['status', 'incoming'] })
  await edge.post('/v1/accounts/alice/status', { incoming: 'refuse', reason: 'audit' }, token)
  expect(edge.gateway.asked.map(({ operation }) => operation)).toEqual([
    { kind: 'change_status', status: null, incoming: 'refuse', reason: 'audit' },
  ])
})

test.for(['BASE', 'base', 'Base'])('D3: the symbol %s is reserved', async (symbol) => {
  const edge = createEdgeFixture()
  const body = { ...WRITTEN.createFungibleToken.body, symbol }
  const response = await edge.post('/v1/fungible-tokens', body, await edge.tokenFor('admin'))
  expect(await refusalOf(response)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['symbol'] })
  expect(edge.gateway.asked).toEqual([])
})

test('a malformed symbol causes no query', async () => {
  const { edge, token } = await signedIn('viewer')
  edge.reads.failure = new ReadsUnavailable('away')
  for (const id of ['%00', 'a%2Fb', 'x'.repeat(65)]) {
    expect((await edge.get(`/v1/fungible-tokens/${id}`, token)).status).toBe(404)
  }
})

describe('the schema of a class', () => {
  const { path, body } = WRITTEN.createNftClass

  test('D11: an invalid schema is 400 with the reason, and the ledger gets no request', async () => {
    const edge = createEdgeFixture()
    edge.schemas.schemaVerdict = { kind: 'invalid', reason: 'It refers to another document.' }
    const schema = { $ref: 'https://e.example' }
    const token = await edge.tokenFor('transactor')
    expect(await bodyOf(await edge.post(path, { ...body, metadata_schema: schema }, token))).toMatchObject({
      status: 400,
      type: 'https://ledger.example/errors/validation-error',
      error_codes: ['ERR_INVALID_SCHEMA'],
      errors: [{ field: 'metadata_schema', message: 'It refers to another document.' }],
    })
    expect([edge.schemas.checked, edge.gateway.asked]).toEqual([[schema], []])
  })

  test('D8: a registration is 503 `not_applied` while schemas cannot be validated', async () => {
    const edge = createEdgeFixture()
    edge.schemas.schemaVerdict = { kind: 'overloaded' }
    const response = await edge.post(path, body, await edge.tokenFor('transactor'))
    expect(response.headers.get('retry-after')).toBe('1')
    const problem = { status: 503, error_codes: ['ERR_OVERLOADED'], outcome: 'not_applied' }
    expect(await bodyOf(response)).toMatchObject(problem)
    expect(edge.gateway.asked).toEqual([])
  })
})

test('D16: beyond the counted rows, each page of a list marks its total as a lower bound', async () => {
  const pageAfter = (after: string | null) =>
    after === null ? { next: 'more', count: { total: 10_000, exact: false } } : { next: null, count: null }
  const reads: LedgerReads = {
    ...createFakeReads(),
    accounts: async (after) => ({ accounts: [], ...pageAfter(after) }),
    tokens: async (after) => ({ tokens: [], ...pageAfter(after) }),
    nftClasses: async (after) => ({ classes: [], ...pageAfter(after) }),
  }
  const { edge, token } = await signedIn('admin', { reads })
  for (const path of ['/v1/accounts', '/v1/fungible-tokens', '/v1/nft-classes']) {
    let pageToken = ''
    for (const page of [1, 2]) {
      const response = await edge.get(`${path}?page_token=${pageToken}`, token)
      const body = await bodyOf(response)
      expect([path, page, response.headers.get('x-total-count-relation')]).toEqual([path, page, 'gte'])
      expect(body).toMatchObject({ total_count: 10_000, total_count_relation: 'gte' })
      pageToken = String(body['next_page_token'])
    }
    expect(pageToken).toBe('')
  }
})
