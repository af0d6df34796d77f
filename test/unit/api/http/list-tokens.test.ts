/**
 * D16: clients keep page tokens across releases. Each list must therefore accept a token whose scope is as written here.
 * The MAC of the token covers the scope.
 */
import { expect, test } from 'vitest'
import { createPageTokens } from '../../../../api/http/page-token.ts'
import { bodyOf, signedIn, GROUP_ID } from '../fakes/edge-fixture.ts'
import { CLASS_ID } from '../routes/written-requests.ts'

const ROOT = 'ab'.repeat(32)
const FEED = {
  account_id: 'alice',
  date_from: '2026-01-01T00:00:00Z',
  date_to: '2026-01-02T00:00:00Z',
  type: 'credit',
  token_id: 'EUR.x',
  token_class: 'fungible',
  group_id: GROUP_ID.toUpperCase(),
  amount_min: '1.0',
  amount_max: '2',
  status: 'completed',
  idempotency_key: 'k',
  order: 'asc',
}
const FEED_SCOPE = ['alice', 1767225600000, 1767312000000, 'credit', 'EUR.x', 'fungible', GROUP_ID, '1.0', '2']
const ATTESTED = { subject_class: 'a', subject_instance: 'b', asset_class: 'c', source: 'd', status: 'e' }
const NFT = `/v1/nft-classes/${CLASS_ID}/instances`

const LISTS: readonly (readonly [path: string, scope: string, rest?: readonly (string | number | null)[]])[] = [
  ['/v1/accounts', '/v1/accounts'],
  ['/v1/accounts/alice/audit-chain', '/v1/accounts/audit-chain', ['alice']],
  ['/v1/accounts/alice/balances', '/v1/accounts/balances', ['alice']],
  ['/v1/accounts/alice/nfts', '/v1/accounts/nfts', ['alice']],
  ['/v1/accounts/alice/expectations', '/v1/accounts/expectations', ['alice']],
  ['/v1/accounts/alice/liability-proof', '/v1/accounts/liability-proof', ['alice', null]],
  [`/v1/accounts/alice/liability-proof?merkle_root=sha256:${ROOT}`, '/v1/accounts/liability-proof', ['alice', ROOT]],
  ['/v1/attestations', '/v1/attestations', [null, null, null, null, null]],
  [`/v1/attestations?${query(ATTESTED)}`, '/v1/attestations', ['a', 'b', 'c', 'd', 'e']],
  ['/v1/clients', '/v1/clients'],
  ['/v1/fungible-tokens', '/v1/fungible-tokens'],
  ['/v1/nft-classes', '/v1/nft-classes'],
  [NFT, '/v1/nft-classes/instances', [CLASS_ID]],
  [`${NFT}/ruby%3A1/history`, '/v1/nft-classes/instances/history', [CLASS_ID, 'ruby:1']],
  [`${NFT}/ruby/provenance`, '/v1/nft-classes/instances/provenance', [CLASS_ID, 'ruby', 10]],
  [`${NFT}/ruby/provenance?max_depth=007`, '/v1/nft-classes/instances/provenance', [CLASS_ID, 'ruby', 7]],
  ['/v1/shards', '/v1/shards'],
  ['/v1/transactions', '/v1/transactions', [...Array<null>(11).fill(null), 'desc']],
  [`/v1/transactions?${query(FEED)}`, '/v1/transactions', [...FEED_SCOPE, 'completed', 'k', 'asc']],
  [`/v1/transactions/group/${GROUP_ID.toUpperCase()}`, '/v1/transactions/group', [GROUP_ID]],
  ['/v1/webhooks', '/v1/webhooks'],
]

function query(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString()
}

test.for(LISTS)(
  'D16: %s accepts its page tokens of earlier releases, and none of another list',
  async ([path, ...scope]) => {
    const { edge, token } = await signedIn('admin')
    const tokens = createPageTokens(new Uint8Array(32).fill(5))
    const errorsOf = async ([list, rest = []]: readonly [string, (readonly unknown[])?]) => {
      const pageToken = tokens.write(JSON.stringify([list, 'client-admin', ...rest]), { cursor: '0', count: null })
      const address = `${path}${path.includes('?') ? '&' : '?'}page_token=${pageToken}`
      return (await bodyOf(await edge.get(address, token)))['error_codes'] ?? ['none']
    }
    expect([['none'], ['ERR_NOT_FOUND']]).toContainEqual(await errorsOf(scope))
    expect(await errorsOf(['/v1/others'])).toEqual(['ERR_INVALID_QUERY'])
  },
)
