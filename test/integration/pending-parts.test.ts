/** Goal: what an account waits for is part of it for everyone who reads accounts whole: nothing is missing, nothing is damaged. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { eachOwed } from '../../infra/liabilities/liability-accounts.ts'
import { shardKeyName } from '../../infra/vault/key-name.ts'
import { DEFAULT_SHARD_COUNT, vaultOf } from '../support/postgres/ledger-database.ts'
import { contentOf, createExportsLedger, type ExportsLedger, Received } from './exports-ledger.ts'

let ledger: ExportsLedger

beforeAll(async () => {
  ledger = await createExportsLedger()
  const { parties, told } = ledger
  // An offer without a mirror: it holds the given amount, and room for the received one.
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
afterAll(() => ledger?.close())

async function shown(accountId: string): Promise<Readonly<Record<string, string>>> {
  const balances = (await ledger.reads.balances(accountId)) ?? []
  return Object.fromEntries(balances.map(({ tokenId, balance }) => [tokenId, balance]))
}

test('there is a transaction that is pending', async () => {
  expect(await ledger.sql`SELECT FROM pending_transactions`).toHaveLength(1)
})

test('an export has its account, with all that it holds', async () => {
  const { alice, bob } = ledger.told
  const all = await Received.of(ledger, await contentOf(ledger.exports))
  for (const { accountId } of [alice, bob]) {
    expect(all.balances(accountId)).toMatchObject(await shown(accountId))
  }
})

test('what it reserves is owed to its account', async () => {
  const { accountId } = ledger.told.alice
  const vault = await vaultOf(ledger.url)
  const owed = new Map<string, Quantity>()
  await ledger.sql.begin('isolation level repeatable read read only', async (look) => {
    const shards = Array.from({ length: DEFAULT_SHARD_COUNT }, (_, shardId) => shardKeyName(shardId))
    await vault.keys.fetch(look, shards)
    await eachOwed(look, vault, { first: 0, end: DEFAULT_SHARD_COUNT }, (of, tokenId, units) => {
      if (of === accountId) owed.set(tokenId, (owed.get(tokenId) ?? ZERO) + units)
    })
  })
  const balances = await shown(accountId)
  expect(Object.keys(balances)).toContain('GOLD-told')
  const said = Object.keys(balances).map((tokenId) => [tokenId, formatQuantity(owed.get(tokenId) ?? ZERO)])
  expect(Object.fromEntries(said)).toEqual(balances)
})
