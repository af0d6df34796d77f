import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { accountAddress } from '../../../actors/address.ts'
import { jwkOf } from '../../../infra/keys/public-key.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { accountView, bodyOf, createEdgeFixture, createFakeReads, newAccountKey, refusalOf } from './edge-fixture.ts'
import type { BalanceView } from '../../../runtime/ports/ledger-reads.ts'

const key = newAccountKey()
const ACCOUNT = accountView('alice', { key: { keyId: key.keyId, publicKey: key.publicKey } })
const SHOWN = {
  account_id: 'alice',
  status: 'active',
  incoming: 'accept',
  public_key: jwkOf(key.publicKey),
  key_id: key.keyId,
  shard_id: 7,
  sequence: 3,
  audit_hash: `sha256:${'ab'.repeat(32)}`,
  created_at: '2025-10-09T08:53:20.000Z',
  updated_at: '2025-10-09T08:53:21.500Z',
}

function answering(answer: Answer) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

describe('POST /v1/accounts', () => {
  const registered = { kind: 'registered', account: ACCOUNT, created: true, replayed: false, mismatch: false } as const

  test('a new account is 201, the same key again 200', async () => {
    const edge = answering(registered)
    const token = await edge.tokenFor('transactor')
    const body = { account_id: 'alice', public_key: key.pem, nickname: 'ignored' }
    const created = await edge.post('/v1/accounts', body, token, { 'idempotency-key': 'once' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe('/v1/accounts/alice')
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.gateway.asked[0]).toEqual({
      actor: accountAddress('alice'),
      caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
      operation: {
        kind: 'register',
        key: { keyId: key.keyId, publicKey: key.publicKey },
        registrationKey: 'once',
      },
    })
    edge.gateway.outcome = { kind: 'answered', answer: { ...registered, created: false } }
    const again = await edge.post('/v1/accounts', { ...body, public_key: jwkOf(key.publicKey) }, token)
    expect(again.status).toBe(200)
    expect(edge.gateway.asked[1]?.operation).toMatchObject({ registrationKey: null, key: { keyId: key.keyId } })
  })
})

describe('POST /v1/accounts/{id}/keys', () => {
  const rotated = { kind: 'rotated', account: ACCOUNT, replayed: false, mismatch: false } as const
  const body = { signature: 'old', proof: 'new', account_id: 'al@ice', public_key: key.pem, idempotency_key: 'k' }

  test('D2: what is signed is the body without signature and proof', async () => {
    const edge = answering(rotated)
    const response = await edge.post('/v1/accounts/al%40ice/keys', body, await edge.tokenFor('transactor'))
    expect(response.status).toBe(201)
    expect(await bodyOf(response)).toEqual(SHOWN)
    expect(edge.gateway.asked[0]?.actor).toEqual(accountAddress('al@ice'))
    expect(edge.gateway.asked[0]?.operation).toEqual({
      kind: 'rotate_key',
      payload: JSON.stringify({ account_id: 'al@ice', idempotency_key: 'k', public_key: key.pem }),
      signature: 'old',
      proof: 'new',
      newKey: { keyId: key.keyId, publicKey: key.publicKey },
    })
  })
})

describe('the size of a public key', () => {
  const sized = (length: number): object => {
    const jwk = { ...jwkOf(key.publicKey), note: '' }
    return { ...jwk, note: 'n'.repeat(length - JSON.stringify(jwk).length) }
  }
  const tooLarge = {
    'one character too many': sized(2049),
    'numbers that print longer than they are written': { ...jwkOf(key.publicKey), more: Array(1000).fill(1e20) },
    'white space around a PEM': `${key.pem}${' '.repeat(3000)}`,
  }

  test('2,048 characters of canonical JSON are taken', async () => {
    const edge = answering({ kind: 'registered', account: ACCOUNT, created: true, replayed: false, mismatch: false })
    const body = { account_id: 'alice', public_key: sized(2048) }
    expect((await edge.post('/v1/accounts', body, await edge.tokenFor('admin'))).status).toBe(201)
  })

  test.for(Object.entries(tooLarge))('%s: refused, and nobody is asked', async ([, publicKey]) => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('admin')
    const registration = { account_id: 'alice', public_key: publicKey }
    const rotation = { ...registration, idempotency_key: 'k', signature: 's' }
    const expected = { status: 400, codes: ['ERR_INVALID_PUBLIC_KEY'], fields: ['public_key'] }
    expect(await refusalOf(await edge.post('/v1/accounts', registration, token))).toEqual(expected)
    expect(await refusalOf(await edge.post('/v1/accounts/alice/keys', rotation, token))).toEqual(expected)
    expect(edge.gateway.asked).toEqual([])
  })
})

describe('POST /v1/accounts/{id}/status', () => {
  test('passes on what is given', async () => {
    const edge = answering({ kind: 'status_changed', account: ACCOUNT })
    const token = await edge.tokenFor('admin')
    const path = '/v1/accounts/alice/status'
    const response = await edge.post(path, { incoming: 'refuse', reason: 'audit', note: 1 }, token)
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual(SHOWN)
    expect(edge.gateway.asked[0]?.actor).toEqual(accountAddress('alice'))
    expect(edge.gateway.asked.map(({ operation }) => operation)).toEqual([
      { kind: 'change_status', status: null, incoming: 'refuse', reason: 'audit' },
    ])
  })

  test('something must change', async () => {
    const edge = createEdgeFixture()
    const response = await edge.post('/v1/accounts/alice/status', { reason: 'x' }, await edge.tokenFor('admin'))
    expect(await refusalOf(response)).toEqual({
      status: 400,
      codes: ['ERR_INVALID_FIELD'],
      fields: ['status', 'incoming'],
    })
  })
})

describe('POST /v1/accounts/{id}/erase', () => {
  test('passes the reason on, and shows a closed account that was erased', async () => {
    const erased = { ...ACCOUNT, status: 'erased', key: null } as const
    const edge = answering({ kind: 'status_changed', account: erased })
    const path = '/v1/accounts/alice/erase'
    const response = await edge.post(path, { reason: 'asked to' }, await edge.tokenFor('admin'))
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual({
      ...SHOWN,
      status: 'closed',
      erased: true,
      public_key: null,
      key_id: null,
    })
    expect(edge.gateway.asked.map(({ actor, operation }) => [actor, operation])).toEqual([
      [accountAddress('alice'), { kind: 'erase', reason: 'asked to' }],
    ])
  })

  test('the chain of an erased account has no payloads, and says why', async () => {
    const edge = createEdgeFixture()
    const entry = { sequence: 0, txnId: null, previousHash: '0'.repeat(64), auditHash: '1'.repeat(64), payload: null }
    edge.reads.accountViews.set('alice', { ...ACCOUNT, status: 'erased', key: null })
    edge.reads.chains.set('alice', { entries: [entry], next: null, total: 1 })
    const response = await edge.get('/v1/accounts/alice/audit-chain', await edge.tokenFor('viewer'))
    expect((await bodyOf(response))['entries']).toEqual([
      {
        sequence: 0,
        txn_id: null,
        previous_hash: `sha256:${'0'.repeat(64)}`,
        audit_hash: `sha256:${'1'.repeat(64)}`,
        payload: null,
        erased: true,
      },
    ])
  })
})

const BALANCES: BalanceView[] = ['USD', 'BASE', 'EUR'].map((tokenId) => ({
  tokenId,
  tokenClass: 'fungible',
  balance: '100.5',
  available: '100',
  incoming: '0',
  decimals: 18,
  updatedAtMs: 1_760_000_000_000,
}))

const BASE_SHOWN = {
  token_id: 'BASE',
  token_class: 'fungible',
  balance: '100.5',
  available: '100',
  incoming: '0',
  decimals: 18,
  updated_at: '2025-10-09T08:53:20.000Z',
}

describe('reading an account', () => {
  function fixture() {
    const edge = createEdgeFixture()
    edge.reads.accountViews.set('alice', ACCOUNT)
    edge.reads.balanceViews.set('alice', BALANCES)
    const entries = [0, 1, 2].map((sequence) => ({
      sequence,
      txnId: sequence === 0 ? null : `txn_${sequence}`,
      previousHash: String(sequence).repeat(64),
      auditHash: String(sequence + 1).repeat(64),
      payload: `{"sequence":${sequence}}`,
    }))
    edge.reads.chains.set('alice', { entries, next: null, total: 3 })
    return edge
  }

  test('GET /v1/accounts/{id} shows it, and a keyless one as such', async () => {
    const edge = fixture()
    edge.reads.accountViews.set('issuer', accountView('issuer'))
    const token = await edge.tokenFor('viewer')
    expect(await bodyOf(await edge.get('/v1/accounts/alice', token))).toEqual(SHOWN)
    expect(await bodyOf(await edge.get('/v1/accounts/issuer', token))).toMatchObject({ public_key: null, key_id: null })
  })

  test('GET /v1/accounts/{id}/balances lists by token', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const all = await bodyOf(await edge.get('/v1/accounts/alice/balances', token))
    expect((all['balances'] as { token_id: string }[]).map((balance) => balance.token_id)).toEqual([
      'BASE',
      'EUR',
      'USD',
    ])
    expect(all).toMatchObject({ account_id: 'alice', next_page_token: '' })
    expect((all['balances'] as unknown[])[0]).toEqual(BASE_SHOWN)
  })

  test('GET /v1/accounts/{id}/balances/{tokenId} shows one', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const shown = await bodyOf(await edge.get('/v1/accounts/alice/balances/BASE', token))
    expect(shown).toEqual({ account_id: 'alice', ...BASE_SHOWN })
  })

  test('GET /v1/accounts/{id}/audit-chain lists entries oldest first, with what was hashed', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const first = await bodyOf(await edge.get('/v1/accounts/alice/audit-chain?page_size=1', token))
    expect(first).toMatchObject({
      account_id: 'alice',
      entries: [
        {
          sequence: 0,
          txn_id: null,
          previous_hash: `sha256:${'0'.repeat(64)}`,
          audit_hash: `sha256:${'1'.repeat(64)}`,
          payload: '{"sequence":0}',
        },
      ],
      total_count: 3,
    })
  })

  test('GET /v1/accounts lists them as each is shown', async () => {
    const edge = fixture()
    expect(await bodyOf(await edge.get('/v1/accounts', await edge.tokenFor('admin')))).toMatchObject({
      accounts: [SHOWN],
      total_count: 1,
    })
  })

  test('D16: where there are more than are counted, a list says that its total is a lower bound, on its next page, too', async () => {
    const pageAfter = (after: string | null) =>
      after === null ? { next: 'more', count: { total: 10_000, exact: false } } : { next: null, count: null }
    const reads: LedgerReads = {
      ...createFakeReads(),
      accounts: async (after) => ({ accounts: [], ...pageAfter(after) }),
      tokens: async (after) => ({ tokens: [], ...pageAfter(after) }),
      nftClasses: async (after) => ({ classes: [], ...pageAfter(after) }),
    }
    const edge = createEdgeFixture({ reads })
    const token = await edge.tokenFor('admin')
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
})
