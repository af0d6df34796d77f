/** Goal: what a repeat costs does not grow with the keys that its account had, nor with how often it was repeated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import { lookUp } from '../../../infra/postgres/store/look-up.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { type KeyAddress, keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import {
  type Change,
  creditAccount,
  openAccount,
  partOf,
  questionOf,
  rotateAccount,
} from '../../support/postgres/ledger-rows.ts'
import { createPostgresHarness, type PostgresHarness } from '../../support/postgres/ledger-store-postgres.ts'

const KEYS = 4
const USES_OF_EACH = 5

const publicKeyOf = (rotations: number) => `${'next-'.repeat(rotations)}public-key-of-alice`
const use = (operation: 'transaction' | 'key_rotation', idempotencyKey: string): KeyAddress => ({
  shardId: 3,
  accountId: 'alice',
  operation,
  idempotencyKey,
})

describe('repeats of what an account did under several keys', () => {
  let harness: PostgresHarness
  /** Each with the public key that it was accepted under. */
  const uses = new Map<KeyAddress, string>()

  beforeAll(async () => {
    harness = await createPostgresHarness()
    const { store } = await harness.open()
    const taken = await store.acquire(3, 0, 1)
    if (taken.kind !== 'owned') throw new Error('the shard was not acquired')
    const opened = openAccount(3, 'alice')
    const changes: Change[] = [opened]
    const last = (): AccountState => (changes.at(-1) ?? opened).account
    for (let rotations = 0; rotations < KEYS; rotations += 1) {
      for (let count = 0; count < USES_OF_EACH; count += 1) {
        changes.push(creditAccount(last(), `credit ${rotations} ${count}`))
        uses.set(use('transaction', `credit ${rotations} ${count}`), publicKeyOf(rotations))
      }
      if (rotations === KEYS - 1) continue
      changes.push(rotateAccount(last(), `rotation ${rotations}`))
      uses.set(use('key_rotation', `rotation ${rotations}`), publicKeyOf(rotations))
    }
    for (const change of changes) await store.commit({ shards: [partOf(taken.token, change)] })
  })
  afterAll(() => harness.close())

  /** `opened`: places of the account's keys, each as often as it was opened. */
  async function watchedVault() {
    const vault = await vaultOf(harness.url)
    const opened: string[] = []
    const open: RowVault['open'] = (name, place, bytes, own) => {
      if (place.startsWith('account_keys')) opened.push(place)
      return vault.open(name, place, bytes, own)
    }
    return { vault: { ...vault, open }, opened }
  }

  test('each verifies under its own key, and every key of the account is opened once at most', async () => {
    const { vault, opened } = await watchedVault()
    const { keys } = await lookUp(harness.sql, questionOf({ keys: [...uses.keys()] }), vault)
    expect(new Map([...keys].map(([address, { key }]) => [address, key.publicKey]))).toEqual(
      new Map([...uses].map(([address, publicKey]) => [keyAddressOf(address), publicKey])),
    )
    expect(opened).toHaveLength(KEYS)
    expect(new Set(opened).size).toBe(KEYS)
  })

  test('of one that repeats what it did last, no other key is opened', async () => {
    const { vault, opened } = await watchedVault()
    const last = use('transaction', `credit ${KEYS - 1} 0`)
    const { keys } = await lookUp(harness.sql, questionOf({ keys: [last] }), vault)
    expect(keys.get(keyAddressOf(last))?.key.publicKey).toBe(publicKeyOf(KEYS - 1))
    expect(opened).toHaveLength(1)
  })
})
