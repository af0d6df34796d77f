/** The endpoints of fungible tokens. */
import { expect } from 'vitest'
import { membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { free, holdingOf, outcomeOf, registerToken } from '../../support/client-moves.ts'
import { TIMESTAMP } from './forms.ts'
import type { Suite } from './suite.ts'

export function tokensChapter(suite: Suite): void {
  const row = suite.chapter('Fungible tokens')

  row('POST /v1/fungible-tokens', '201 with the token, its supply with the issuer', async ({ transactor }) => {
    const issuer = await transactor.register('issuer@tokens')
    const fields = { symbol: 'Fresh.1_a-b', decimals: 3, issuer: issuer.accountId, total_supply: '12.500' }
    const reply = await registerToken(transactor, fields)
    expect([reply.status, reply.headers.location]).toEqual([201, '/v1/fungible-tokens/Fresh.1_a-b'])
    expect(membersOf(reply)).toEqual({
      token_id: 'Fresh.1_a-b',
      symbol: 'Fresh.1_a-b',
      decimals: 3,
      issuer: issuer.accountId,
      total_supply: '12.5',
      created_at: expect.stringMatching(TIMESTAMP),
    })
    expect(await holdingOf(transactor, issuer.accountId, 'Fresh.1_a-b')).toEqual(free('12.5'))
  })

  row(
    'POST /v1/fungible-tokens',
    '409 for a symbol that is taken, the base unit among them',
    async ({ transactor, cast }) => {
      const { accountId: issuer } = cast.alice
      for (const symbol of ['COIN', 'cOIN', 'BASE', 'base']) {
        const reply = await registerToken(transactor, { symbol, issuer, total_supply: '1' })
        expect([symbol, outcomeOf(reply)]).toEqual([symbol, '409 ERR_CONFLICT'])
      }
    },
  )

  row('GET /v1/fungible-tokens', '200 with tokens, by ID', async ({ viewer, cast }) => {
    const list = await viewer.read('/v1/fungible-tokens')
    expect(Object.keys(list).toSorted()).toEqual(['next_page_token', 'tokens', 'total_count', 'total_count_relation'])
    const tokens = list['tokens'] as readonly Members[]
    expect([tokens.length, list['next_page_token']]).toEqual([list['total_count'], ''])
    expect(tokens).toContainEqual(membersOf(cast.coin))
    const ids = tokens.map(({ token_id: tokenId }) => String(tokenId).toUpperCase())
    expect(ids).toEqual(ids.toSorted())
    expect(ids).not.toContain('BASE')
    const paged = await viewer.read('/v1/fungible-tokens?page_size=1')
    expect(paged['tokens']).toEqual(tokens.slice(0, 1))
    const next = encodeURIComponent(String(paged['next_page_token']))
    expect((await viewer.read(`/v1/fungible-tokens?page_token=${next}`))['tokens']).toEqual(tokens.slice(1))
  })

  row('GET /v1/fungible-tokens/{id}', '200 with the token; by its exact symbol', async ({ viewer, cast }) => {
    expect(await viewer.read('/v1/fungible-tokens/COIN')).toEqual(membersOf(cast.coin))
    for (const id of ['coin', 'NO-SUCH', 'BASE', '%20', '-']) {
      expect([id, outcomeOf(await viewer.get(`/v1/fungible-tokens/${id}`))]).toEqual([id, '404 ERR_NOT_FOUND'])
    }
  })
}
