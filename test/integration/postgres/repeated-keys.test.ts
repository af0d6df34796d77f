/** The cost of a replayed request does not grow with the key rotations of its account or with the number of replays. */
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
import { own } from './store-steps.ts'

const KEYS = 4
const USES_OF_EACH = 5

const publicKeyOf = (rotations: number) => `${'next-'.repeat(rotations)}public-key-of-alice`
const use = (operation: 'transaction' | 'key_rotation', idempotencyKey: string): KeyAddress => ({
  shardId: 3,
  accountId: 'alice',
  operation,
  idempotencyKey,
})

describe('replays of requests of an account with several keys', () => {
  let harness: PostgresHarness
  /** Requests with the public key of the account at that time. */
  const uses = new Map<KeyAddress, string>()

  beforeAll(async () => {
    harness = await createPostgresHarness()
    const { store } = await harness.open()
    const token = await own({ store }, 3)
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
    for (const change of changes) await store.commit({ shards: [partOf(token, change)] })
  })
  afterAll(() => harness.close())

  /** `opened` lists the place of each account key that the vault opens. */
  async function watchedVault() {
    const vault = await vaultOf(harness.url)
    const opened: string[] = []
    const open: RowVault['open'] = (name, place, bytes, own) => {
      if (place.startsWith('account_keys')) opened.push(place)
      return vault.open(name, place, bytes, own)
    }
    return { vault: { ...vault, open }, opened }
  }

  test('each has the key of its time, and the look-up opens every key of the account at most once', async () => {
    const { vault, opened } = await watchedVault()
    const { keys } = await lookUp(harness.sql, questionOf({ keys: [...uses.keys()] }), vault)
    expect(new Map([...keys].map(([address, { key }]) => [address, key.publicKey]))).toEqual(
      new Map([...uses].map(([address, publicKey]) => [keyAddressOf(address), publicKey])),
    )
    expect(opened).toHaveLength(KEYS)
    expect(new Set(opened).size).toBe(KEYS)
  })

  test('the look-up of a request of the current key opens no other key', async () => {
    const { vault, opened } = await watchedVault()
    const last = use('transaction', `credit ${KEYS - 1} 0`)
    const { keys } = await lookUp(harness.sql, questionOf({ keys: [last] }), vault)
    expect(keys.get(keyAddressOf(last))?.key.publicKey).toBe(publicKeyOf(KEYS - 1))
    expect(opened).toHaveLength(1)
  })
})
