/** The endpoints of accounts, which only read. */
import { expect } from 'vitest'
import type { LedgerClient } from '../../support/client.ts'
import { fieldsOf, outcomeOf } from '../../support/client-moves.ts'
import { SHA_256, TIMESTAMP } from './forms.ts'
import type { Suite } from './suite.ts'

const NOBODY = '/v1/accounts/nobody@nowhere'

export function accountsChapter(suite: Suite): void {
  const row = suite.chapter('Accounts')

  // Its 503 stands with the status codes: no shard has lost its owner yet.
  row(
    'GET /v1/accounts/{id}/state',
    '200 with account_id, audit_hash and updated_at; 404 on no shard',
    async ({ viewer, cast }) => {
      expect(await viewer.read(`/v1/accounts/${cast.carol.accountId}/state`)).toEqual({
        account_id: cast.carol.accountId,
        audit_hash: expect.stringMatching(SHA_256),
        updated_at: expect.stringMatching(TIMESTAMP),
      })
      await expectNotFound(viewer, `${NOBODY}/state`)
    },
  )

  row('GET /v1/accounts/{id}/balances', '200 with account_id and balances, by token', async ({ viewer, cast }) => {
    const common = { token_class: 'fungible', incoming: '0', updated_at: expect.stringMatching(TIMESTAMP) }
    const { accountId } = cast.bob
    expect(await viewer.read(`/v1/accounts/${accountId}/balances`)).toEqual({
      account_id: accountId,
      balances: [
        { token_id: 'BASE', balance: '1', available: '1', decimals: 18, ...common },
        { token_id: 'COIN', balance: '25', available: '25', decimals: 2, ...common },
        { token_id: 'OTHER', balance: '10', available: '10', decimals: 2, ...common },
      ],
      next_page_token: '',
    })
    expect(await viewer.read(`/v1/accounts/${cast.carol.accountId}/balances`)).toMatchObject({ balances: [] })
    const first = await viewer.read(`/v1/accounts/${accountId}/balances?page_size=1`)
    const rest = await viewer.read(
      `/v1/accounts/${accountId}/balances?page_token=${encodeURIComponent(String(first['next_page_token']))}`,
    )
    expect([first['balances'], rest['balances']]).toMatchObject([
      [{ token_id: 'BASE' }],
      [{ token_id: 'COIN' }, { token_id: 'OTHER' }],
    ])
    await expectNotFound(viewer, `${NOBODY}/balances`)
  })

  row(
    'GET /v1/accounts/{id}/balances/{tokenId}',
    '200 with account_id; 404 when the account holds none',
    async ({ viewer, cast }) => {
      const path = `/v1/accounts/${cast.bob.accountId}/balances`
      expect(await viewer.read(`${path}/COIN`)).toEqual({
        account_id: cast.bob.accountId,
        token_id: 'COIN',
        token_class: 'fungible',
        balance: '25',
        available: '25',
        incoming: '0',
        decimals: 2,
        updated_at: expect.stringMatching(TIMESTAMP),
      })
      for (const missing of [
        `${path}/NO-SUCH`,
        `${path}/coin`,
        `/v1/accounts/${cast.carol.accountId}/balances/COIN`,
        `${NOBODY}/balances/COIN`,
      ]) {
        await expectNotFound(viewer, missing)
      }
    },
  )

  row('GET /v1/accounts/{id}/nfts', '200 with account_id and nfts', async ({ viewer, cast }) => {
    expect(await viewer.read(`/v1/accounts/${cast.bob.accountId}/nfts`)).toEqual({
      account_id: cast.bob.accountId,
      nfts: [
        {
          class_id: cast.classId,
          instance_id: 'deed-1',
          class_name: cast.className,
          status: 'active',
          metadata: { colour: 'blue', weight: 2.5 },
          acquired_at: expect.stringMatching(TIMESTAMP),
        },
      ],
      next_page_token: '',
    })
    expect(await viewer.read(`/v1/accounts/${cast.carol.accountId}/nfts`)).toMatchObject({ nfts: [] })
    await expectNotFound(viewer, `${NOBODY}/nfts`)
  })

  row('invalid account ID', 'is 400 on each of them', async ({ viewer }) => {
    for (const rest of ['state', 'balances', 'balances/COIN', 'nfts']) {
      const reply = await viewer.get(`/v1/accounts/a%20b/${rest}`)
      expect([rest, outcomeOf(reply), fieldsOf(reply)]).toEqual([rest, '400 ERR_INVALID_ACCOUNT_ID', ['account_id']])
    }
  })
}

async function expectNotFound(client: LedgerClient, path: string): Promise<void> {
  expect([path, outcomeOf(await client.get(path))]).toEqual([path, '404 ERR_NOT_FOUND'])
}
