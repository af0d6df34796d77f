/** An export and the proof of liabilities include the holds of pending transactions in the balances of an account. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { formatQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { eachOwed } from '../../infra/liabilities/liability-accounts.ts'
import { shardKeyName } from '../../infra/vault/key-name.ts'
import { DEFAULT_SHARD_COUNT, vaultOf } from '../support/postgres/ledger-database.ts'
import { contentOf, Received, withExportsLedger } from './exports-ledger.ts'

const ledger = withExportsLedger(async ({ parties, told }) => {
  // An exchange offer without a matching one holds the given amount, and supply headroom for the received one.
  await parties.submit(told.alice, {
    type: 'exchange',
    group_id: randomUUID(),
    to_account_id: told.bob.accountId,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    amount: '1',
    token_id: 'GOLD-told',
    receive: { amount: '1', token_id: 'silver-told' },
  })
  await parties.delivered()
})

async function balancesOf(accountId: string): Promise<Readonly<Record<string, string>>> {
  const balances = (await ledger().reads.balances(accountId)) ?? []
  return Object.fromEntries(balances.map(({ tokenId, balance }) => [tokenId, balance]))
}

test('the offer is pending', async () => {
  expect(await ledger().sql`SELECT FROM pending_transactions`).toHaveLength(1)
})

test('an export has the full balances of accounts with a pending transaction', async () => {
  const { told, exports } = ledger()
  const all = await Received.of(ledger(), await contentOf(exports))
  for (const { accountId } of [told.alice, told.bob]) {
    expect(all.balances(accountId)).toMatchObject(await balancesOf(accountId))
  }
})

test('the liabilities to an account include the holds of its pending transaction', async () => {
  const { sql, told, url } = ledger()
  const { accountId } = told.alice
  const vault = await vaultOf(url)
  const owed = new Map<string, Quantity>()
  await sql.begin('isolation level repeatable read read only', async (look) => {
    const shards = Array.from({ length: DEFAULT_SHARD_COUNT }, (_, shardId) => shardKeyName(shardId))
    await vault.keys.fetch(look, shards)
    await eachOwed(look, vault, { first: 0, end: DEFAULT_SHARD_COUNT }, (of, tokenId, units) => {
      if (of === accountId) owed.set(tokenId, (owed.get(tokenId) ?? ZERO) + units)
    })
  })
  const balances = await balancesOf(accountId)
  expect(Object.keys(balances)).toContain('GOLD-told')
  const said = Object.keys(balances).map((tokenId) => [tokenId, formatQuantity(owed.get(tokenId) ?? ZERO)])
  expect(Object.fromEntries(said)).toEqual(balances)
})
