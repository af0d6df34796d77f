/** The holder of an account gets the proof of inclusion in a stored run. An erased account has no proof. */
import { expect, test } from 'vitest'
import { AssertionUnavailable } from '../../../../runtime/ports/assertion-source.ts'
import { accountView, bodyOf, createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'

const SIBLING = { hash: '0a'.repeat(32), sum: '2.5' }
const ROOT = 'ab'.repeat(32)

function fixture() {
  const edge = createEdgeFixture()
  edge.reads.accountViews.set('alice', accountView('alice'))
  const { liabilities } = edge.assertions.found
  const shares = [{ index: 3, amount: '7.5', nonce: '0c'.repeat(16), siblings: [SIBLING] }]
  const totals = [{ tokenId: 'BASE', root: '0b'.repeat(32), total: '12345678901234567890' }]
  const proofs = [{ tokenId: 'BASE', amount: '7.5', shares }]
  edge.assertions.found.proof = { liabilities, totals, proofs, next: null }
  return edge
}

test('a liability proof shows the shares with their paths, all totals, and the signed assertion, to any client', async () => {
  const edge = fixture()
  const response = await edge.get('/v1/accounts/alice/liability-proof', await edge.tokenFor('viewer'))
  expect(response.status).toBe(200)
  const body = await bodyOf(response)
  const { assertion, ...rest } = body
  const siblings = [{ hash: `sha256:${SIBLING.hash}`, sum: '2.5' }]
  const shares = [{ index: 3, amount: '7.5', nonce: '0c'.repeat(16), siblings }]
  expect(rest).toEqual({
    account_id: 'alice',
    merkle_root: `sha256:${ROOT}`,
    totals: [{ token_id: 'BASE', root: `sha256:${'0b'.repeat(32)}`, total: '12345678901234567890' }],
    proofs: [{ token_id: 'BASE', amount: '7.5', shares }],
    next_page_token: '',
  })
  expect(assertion).toMatchObject({ assertion_type: 'proof-of-liabilities', requester: 'client-viewer' })
  const checked = await edge.post('/v1/assertions/verify', assertion, await edge.tokenFor('viewer'))
  expect(await bodyOf(checked)).toMatchObject({ valid: true })
  expect(edge.assertions.asked).toEqual([{ accountId: 'alice', merkleRoot: null, after: null, limit: 100 }])
})

test('a liability proof shows the named run, and further pages stay in the run of the first page', async () => {
  const edge = fixture()
  const token = await edge.tokenFor('viewer')
  const { proof } = edge.assertions.found
  if (proof === undefined) throw new Error('there is no proof')
  edge.assertions.found.proof = { ...proof, next: 'BASE' }
  for (const named of ['', `&merkle_root=sha256:${ROOT}`]) {
    const first = await bodyOf(await edge.get(`/v1/accounts/alice/liability-proof?page_size=1${named}`, token))
    const next = `page_token=${encodeURIComponent(String(first['next_page_token']))}`
    expect((await edge.get(`/v1/accounts/alice/liability-proof?page_size=2&${next}${named}`, token)).status).toBe(200)
    expect(edge.assertions.asked.splice(0)).toEqual([
      { accountId: 'alice', merkleRoot: named === '' ? null : ROOT, after: null, limit: 1 },
      { accountId: 'alice', merkleRoot: ROOT, after: 'BASE', limit: 2 },
    ])
    edge.reads.accountViews.set('bob', accountView('bob'))
    expect((await edge.get(`/v1/accounts/bob/liability-proof?${next}${named}`, token)).status).toBe(400)
  }
})

test('a liability proof is 404 for an erased account, although stored runs contain its balances', async () => {
  const edge = fixture()
  const token = await edge.tokenFor('viewer')
  edge.reads.accountViews.set('alice', accountView('alice', { status: 'closed' }))
  expect((await edge.get('/v1/accounts/alice/liability-proof', token)).status).toBe(200)
  edge.reads.accountViews.set('alice', accountView('alice', { status: 'erased' }))
  for (const named of ['', `?merkle_root=sha256:${ROOT}`]) {
    const refused = await edge.get(`/v1/accounts/alice/liability-proof${named}`, token)
    expect(await refusalOf(refused)).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
  }
  expect(edge.assertions.asked).toHaveLength(1)
})

test('a liability proof is 404 for an unknown root, 400 for a malformed root, and 503 if the run cannot be read', async () => {
  const edge = fixture()
  const token = await edge.tokenFor('viewer')
  const get = (path: string) => edge.get(`/v1/accounts/${path}`, token)
  for (const root of ['', 'ab', ROOT, `sha256:${ROOT.toUpperCase()}`, `sha256:${ROOT}0`]) {
    expect(await refusalOf(await get(`alice/liability-proof?merkle_root=${root}`))).toEqual({
      status: 400,
      codes: ['ERR_INVALID_QUERY'],
      fields: ['merkle_root'],
    })
  }
  edge.assertions.failure = new AssertionUnavailable('a page is broken')
  expect((await get('alice/liability-proof')).status).toBe(503)
  edge.assertions.failure = null
  edge.assertions.found.proof = undefined
  expect((await get('alice/liability-proof')).status).toBe(404)
})
