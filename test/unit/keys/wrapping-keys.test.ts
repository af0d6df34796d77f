/** W1 and W2 of wrapping-keys.ts, and the keys of each part. */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import {
  type KeyRing,
  PARTS,
  ringOfPart,
  USES_OF_PART,
  WRAPPING_USES,
  wrappingKey,
  WrappingKeyMissing,
  type WrappingKeys,
} from '../../../infra/keys/wrapping-keys.ts'

function masterKey(byte: number): WrappingKeys {
  return readMasterKey(Buffer.alloc(32, byte).toString('base64url'))
}

function hexOf(held: WrappingKeys, use: Parameters<typeof wrappingKey>[1]): string {
  return wrappingKey(held, use).export().toString('hex')
}

const ring: KeyRing = { current: masterKey(1), previous: [masterKey(2)] }

test('W1: each use of each master key has its own key', () => {
  const all = [masterKey(1), masterKey(2)].flatMap((held) => WRAPPING_USES.map((use) => hexOf(held, use)))
  expect(new Set(all).size).toBe(2 * WRAPPING_USES.length)
  expect(hexOf(masterKey(1), 'data-keys')).toBe(hexOf(masterKey(1), 'data-keys'))
  for (const key of all) expect(key).toHaveLength(64)
})

test('W1: wrapping keys stay what they were in earlier releases', () => {
  expect(hexOf(masterKey(0), 'shard-secret')).toBe('122887268b4d7907edaef83c6b97e73fcfbf3f52753255d457358c8710ed40de')
})

test('W1: the ID of a master key is stable, distinct, and no part of a key', () => {
  const [first, second] = [masterKey(1), masterKey(2)]
  expect(first.masterKeyId).toMatch(/^[0-9a-f]{16}$/)
  expect(first.masterKeyId).toBe(masterKey(1).masterKeyId)
  expect(first.masterKeyId).not.toBe(second.masterKeyId)
  for (const use of WRAPPING_USES) expect(hexOf(first, use)).not.toContain(first.masterKeyId)
})

test('W2: a ring reveals no key in logs or JSON', () => {
  const shown = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring)
  for (const use of WRAPPING_USES) expect(shown).not.toContain(hexOf(ring.current, use).slice(0, 8))
})

describe.for(PARTS)('the ring of part %s', (part) => {
  const held = ringOfPart(ring, part)

  test('has the keys of the part from each master key, and no other key', () => {
    for (const [narrow, whole] of [
      [held.current, ring.current],
      [held.previous[0], ring.previous[0]],
    ] as const) {
      if (narrow === undefined || whole === undefined) throw new Error('there are two')
      expect(Object.keys(narrow.keys).sort()).toEqual([...USES_OF_PART[part]].sort())
      for (const use of USES_OF_PART[part]) expect(hexOf(narrow, use)).toBe(hexOf(whole, use))
    }
  })

  test('refuses a use without a key', () => {
    const others = WRAPPING_USES.filter((use) => !USES_OF_PART[part].includes(use))
    expect(others.length).toBeGreaterThan(0)
    for (const use of others) expect(() => wrappingKey(held.current, use)).toThrow(WrappingKeyMissing)
  })
})

test('no key signs for two parts, and nodes cannot derive secrets of edges', () => {
  const { node, edge, auditor } = USES_OF_PART
  const isSigning = (use: string): boolean => /^(?:token|receipt|assertion|attestation|import)-keys$/.test(use)
  expect(node.filter(isSigning)).toEqual(['receipt-keys'])
  expect(edge.filter(isSigning).sort()).toEqual(['assertion-keys', 'attestation-keys', 'import-keys', 'token-keys'])
  expect(auditor.filter(isSigning)).toEqual([])
  for (const use of ['root-secret', 'public-keys'] as const) {
    expect([node, edge, auditor].map((uses) => uses.includes(use))).toEqual([false, true, false])
  }
})
