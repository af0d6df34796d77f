/** The digest of an account's balances and holds depends on them only, not on caches. */
import { describe, expect, test } from 'vitest'
import { Balances } from '../../../actors/account/balances.ts'
import type { AccountState, Balance } from '../../../actors/account/state.ts'
import { parseQuantity, ZERO } from '../../../actors/money.ts'
import { balanceFrom, balanceText, digestOfTexts, partsDigest } from '../../../infra/postgres/rows/account-parts.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import { afterSteps, registerCommand } from '../../support/accounts.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'

const NAME = accountKeyName('alice')
const VAULT = sealingVault([NAME])

function balanceOf(amount: string): Balance {
  return { balance: parseQuantity(amount), reserved: ZERO, incoming: ZERO, room: ZERO, updatedAtMs: 1 }
}

function holding(balances: ReadonlyMap<string, Balance>): AccountState {
  return { ...afterSteps(registerCommand()), balances: Balances.of(balances) }
}

function tokens(count: number): ReadonlyMap<string, Balance> {
  return new Map(Array.from({ length: count }, (_, index) => [`TOKEN-${index}`, balanceOf(`${index + 1}.5`)]))
}

function freshDigest({ balances }: AccountState): string {
  const texts = [...balances].map(([tokenId, balance]) => ['balance', tokenId, balanceText(balance)] as const)
  return digestOfTexts(texts, VAULT, NAME)
}

describe.each([1, 4, 5, 40])('an account with %i balances', (count) => {
  test('has the same digest the first time, again, and from the texts alone', () => {
    const account = holding(tokens(count))
    const first = partsDigest(account, VAULT, NAME)
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(partsDigest(account, VAULT, NAME)).toBe(first)
    expect(freshDigest(account)).toBe(first)
  })

  test('has another digest after a change, and the first one after the change is undone', () => {
    const account = holding(tokens(count))
    const first = partsDigest(account, VAULT, NAME)
    const { balances } = account
    const changed = holding(new Map([...balances, ['TOKEN-0', balanceOf('7')]]))
    const renamed = holding(new Map([...balances].map(([id, balance]) => [id === 'TOKEN-0' ? 'OTHER' : id, balance])))
    const gone = holding(new Map([...balances].filter(([id]) => id !== 'TOKEN-0')))
    const digests = [account, changed, renamed, gone].map((each) => partsDigest(each, VAULT, NAME))
    expect(new Set(digests).size).toBe(4)
    expect(digests).toEqual([account, changed, renamed, gone].map(freshDigest))
    expect(partsDigest(holding(new Map(balances)), VAULT, NAME)).toBe(first)
  })
})

test('has another digest under another key, also for cached parts', () => {
  const other = sealingVault([NAME])
  const account = holding(tokens(40))
  const mine = partsDigest(account, VAULT, NAME)
  expect(partsDigest(account, other, NAME)).not.toBe(mine)
  expect(partsDigest(account, VAULT, NAME)).toBe(mine)
})

test('a balance round-trips, and all zero balances have one value', () => {
  const balance = balanceOf('12.5')
  const read = balanceFrom(balanceText(balance))
  expect(balanceText(read)).toBe(balanceText(balance))
  expect([read.reserved, read.incoming, read.room].every((quantity) => quantity === ZERO)).toBe(true)
})
