/** E1 and E2 of sealing.ts: only the same bytes, context and key open. */
import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { wrappingKey, wrappingKeysOf } from '../../../infra/keys/wrapping-keys.ts'
import { openSealed, seal, SealBroken } from '../../../infra/keys/sealing.ts'

const key = randomBytes(32)
const secret = Buffer.from('a private key')

test('sealed bytes open in their context', () => {
  expect(openSealed(key, ['service-key', 'a'], seal(key, ['service-key', 'a'], secret))).toEqual(secret)
  expect(openSealed(key, ['empty'], seal(key, ['empty'], Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
})

test('the same text gives other bytes each time, and does not appear in them', () => {
  const first = seal(key, ['a'], secret)
  expect(seal(key, ['a'], secret).equals(first)).toBe(false)
  expect(first.includes(secret)).toBe(false)
})

test('E1: no byte can be changed', () => {
  const sealed = seal(key, ['a', 'b'], secret)
  for (let index = 0; index < sealed.length; index += 1) {
    const tampered = Buffer.from(sealed)
    tampered.writeUInt8(tampered.readUInt8(index) ^ 1, index)
    expect(() => openSealed(key, ['a', 'b'], tampered)).toThrow(SealBroken)
  }
})

test('E1: no byte can be cut off or added', () => {
  const sealed = seal(key, ['a'], secret)
  for (let length = 0; length < sealed.length; length += 1) {
    expect(() => openSealed(key, ['a'], sealed.subarray(0, length))).toThrow(SealBroken)
  }
  expect(() => openSealed(key, ['a'], Buffer.concat([sealed, Buffer.of(0)]))).toThrow(SealBroken)
})

test('E2: another context does not open it, and parts of a context cannot be shifted', () => {
  const sealed = seal(key, ['service-key', 'ab', 'c'], secret)
  const others = [
    ['service-key', 'a', 'bc'],
    ['service-key', 'abc'],
    ['shard-secret', 'ab', 'c'],
    ['service-key', 'ab'],
  ]
  for (const [purpose = '', ...identity] of others) {
    expect(() => openSealed(key, [purpose, ...identity], sealed)).toThrow(SealBroken)
  }
})

test('E1: another key does not open it, nor does the key of another use', () => {
  const [master, another] = [1, 2].map((byte) => wrappingKeysOf(createSecretKey(Buffer.alloc(32, byte))))
  if (master === undefined || another === undefined) throw new Error('there are two')
  const sealed = seal(wrappingKey(master, 'data-keys'), ['a'], secret)
  expect(() => openSealed(wrappingKey(master, 'shard-secret'), ['a'], sealed)).toThrow(SealBroken)
  expect(() => openSealed(wrappingKey(another, 'data-keys'), ['a'], sealed)).toThrow(SealBroken)
  expect(openSealed(wrappingKey(master, 'data-keys'), ['a'], sealed)).toEqual(secret)
})
