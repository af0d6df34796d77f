/** Used keys stay in the bounded cache; others are imported each time. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createImportedKeys, type ImportedKeys } from '../../../infra/keys/imported-keys.ts'
import { readPublicKey } from '../../../infra/keys/public-key.ts'

const MINUTE_MS = 60_000

function newKey(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return readPublicKey(publicKey.export({ format: 'pem', type: 'spki' }).toString())?.publicKey ?? ''
}

const KEYS: readonly string[] = Array.from({ length: 30 }, newKey)

function cachedOf(imported: ImportedKeys, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => imported.cached(key) !== undefined)
}

async function readAll(imported: ImportedKeys, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect((await imported.read(key))?.asymmetricKeyType).toBe('ec')
}

test('an imported key is cached as the same object', async () => {
  const imported = createImportedKeys(10)
  const [one = '', other = ''] = KEYS
  expect(imported.cached(one)).toBeUndefined()
  const read = await imported.read(one)
  expect(imported.cached(one)).toBe(read)
  expect(imported.cached(other)).toBeUndefined()
})

test('an invalid key gives undefined and is not cached', async () => {
  const imported = createImportedKeys(10)
  for (const none of ['', 'A', 'A'.repeat(44), Buffer.alloc(33, 2).toString('hex')]) {
    expect(await imported.read(none)).toBeUndefined()
    expect(imported.cached(none)).toBeUndefined()
  }
})

test('I1: a full cache keeps its used keys, and other keys are imported each time', async () => {
  let nowMs = 0
  const imported = createImportedKeys(10, () => nowMs)
  const [first, others] = [KEYS.slice(0, 10), KEYS.slice(10)]
  await readAll(imported, first)
  for (let minute = 1; minute <= 30; minute += 1) {
    nowMs = minute * MINUTE_MS
    expect(cachedOf(imported, first)).toEqual(first)
    await readAll(imported, others)
  }
  expect(cachedOf(imported, others)).toEqual([])
})

test('I1: only keys that were not used for ten minutes are evicted', async () => {
  let nowMs = 0
  const imported = createImportedKeys(10, () => nowMs)
  await readAll(imported, KEYS.slice(0, 10))
  nowMs = 6 * MINUTE_MS
  const used = KEYS.slice(0, 4)
  expect(cachedOf(imported, used)).toEqual(used)
  nowMs = 11 * MINUTE_MS
  await readAll(imported, KEYS.slice(10))
  expect(cachedOf(imported, used)).toEqual(used)
  expect(cachedOf(imported, KEYS.slice(4, 10))).toEqual([])
  expect(cachedOf(imported, KEYS.slice(10))).toHaveLength(6)
})
