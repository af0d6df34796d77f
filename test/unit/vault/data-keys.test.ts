/** Data keys are wrapped for their own name, and cached for a bounded time. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { SealBroken } from '../../../infra/keys/sealing.ts'
import { createKeyCache } from '../../../infra/vault/key-cache.ts'
import { accountKeyName, partsOf, shardKeyName } from '../../../infra/vault/key-name.ts'
import { MasterKeyMissing } from '../../../infra/keys/master-seal.ts'
import { createKeyWrapping, newDataKey } from '../../../infra/vault/key-wrapping.ts'

const master = () => readMasterKey(randomBytes(32).toString('base64url'))
const [ALICE, BOB] = [accountKeyName('alice'), accountKeyName('bob')]

test('a wrapped key opens for its own name only', () => {
  const wrapping = createKeyWrapping({ current: master(), previous: [] })
  const key = newDataKey()
  const wrapped = wrapping.wrap(ALICE, key)
  expect(wrapping.unwrap(ALICE, wrapped)).toEqual(key)
  expect(() => wrapping.unwrap(BOB, wrapped)).toThrow(SealBroken)
  expect(wrapped.wrapped.includes(key)).toBe(false)
})

test('keys of an earlier master key open while it is given, and new keys are under the current one', () => {
  const [old, current] = [master(), master()]
  const before = createKeyWrapping({ current: old, previous: [] })
  const both = createKeyWrapping({ current, previous: [old] })
  const after = createKeyWrapping({ current, previous: [] })
  const key = newDataKey()
  const wrapped = before.wrap(ALICE, key)
  expect(both.unwrap(ALICE, wrapped)).toEqual(key)
  expect(() => after.unwrap(ALICE, wrapped)).toThrow(MasterKeyMissing)
  expect(after.unwrap(ALICE, both.wrap(ALICE, key))).toEqual(key)
  expect(() => before.unwrap(ALICE, both.wrap(ALICE, key))).toThrow(MasterKeyMissing)
})

test('a key leaves the cache after ten minutes, even if it is used', () => {
  let nowMs = 0
  const cache = createKeyCache(() => nowMs)
  const key = newDataKey()
  cache.put(ALICE, key)
  for (; nowMs < 600_000; nowMs += 60_000) expect(cache.get(ALICE)).toBe(key)
  expect(cache.get(ALICE)).toBeUndefined()
})

test('holds() is false for a key that expires within the longest use', () => {
  let nowMs = 0
  const cache = createKeyCache(() => nowMs)
  expect(cache.holds(ALICE)).toBe(false)
  cache.put(ALICE, newDataKey())
  expect(cache.holds(ALICE)).toBe(true)
  nowMs = 575_000
  expect([cache.holds(ALICE), cache.get(ALICE) === undefined]).toEqual([false, false])
})

test('beyond the bound the oldest unused keys are evicted', () => {
  let nowMs = 0
  const cache = createKeyCache(() => nowMs)
  const names = Array.from({ length: 100_002 }, (_, index) => accountKeyName(String(index)))
  for (const name of names.slice(0, 100_000)) cache.put(name, newDataKey())
  nowMs = 40_000
  expect(cache.holds(accountKeyName('0'))).toBe(true)
  for (const name of names.slice(100_000)) cache.put(name, newDataKey())
  expect(names.filter((name) => cache.get(name) === undefined)).toEqual(names.slice(1, 3))
})

test('a used key stays, for any number of new keys', () => {
  const cache = createKeyCache(() => 0)
  cache.put(ALICE, newDataKey())
  for (let index = 0; index < 100_010; index += 1) cache.put(accountKeyName(String(index)), newDataKey())
  expect(cache.get(ALICE)).toBeDefined()
})

test('a key name has a scope and a reference', () => {
  expect(partsOf(shardKeyName(7))).toEqual({ scope: 'shard', ref: '7' })
  expect(partsOf(ALICE)).toEqual({ scope: 'account', ref: 'alice' })
})
