/** Goal: keys that are used are kept, and never more than there is room for; keys that have no room are read all the same. */
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

function keptOf(imported: ImportedKeys, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => imported.known(key) !== undefined)
}

async function readAll(imported: ImportedKeys, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect((await imported.read(key))?.asymmetricKeyType).toBe('ec')
}

test('what was read is kept, the same object each time', async () => {
  const imported = createImportedKeys(10)
  const [one = '', other = ''] = KEYS
  expect(imported.known(one)).toBeUndefined()
  const read = await imported.read(one)
  expect(imported.known(one)).toBe(read)
  expect(imported.known(other)).toBeUndefined()
})

test('what is no key is undefined, and is not kept', async () => {
  const imported = createImportedKeys(10)
  for (const none of ['', 'A', 'A'.repeat(44), Buffer.alloc(33, 2).toString('hex')]) {
    expect(await imported.read(none)).toBeUndefined()
    expect(imported.known(none)).toBeUndefined()
  }
})

test('I1: where all is full, those that are there stay, and the others are read each time', async () => {
  let nowMs = 0
  const imported = createImportedKeys(10, () => nowMs)
  const [first, others] = [KEYS.slice(0, 10), KEYS.slice(10)]
  await readAll(imported, first)
  for (let minute = 1; minute <= 30; minute += 1) {
    nowMs = minute * MINUTE_MS
    expect(keptOf(imported, first)).toEqual(first)
    await readAll(imported, others)
  }
  expect(keptOf(imported, others)).toEqual([])
})

test('I1: what was not used for ten minutes makes room, and nothing else does', async () => {
  let nowMs = 0
  const imported = createImportedKeys(10, () => nowMs)
  await readAll(imported, KEYS.slice(0, 10))
  nowMs = 6 * MINUTE_MS
  const used = KEYS.slice(0, 4)
  expect(keptOf(imported, used)).toEqual(used)
  nowMs = 11 * MINUTE_MS
  await readAll(imported, KEYS.slice(10))
  expect(keptOf(imported, used)).toEqual(used)
  expect(keptOf(imported, KEYS.slice(4, 10))).toEqual([])
  expect(keptOf(imported, KEYS.slice(10))).toHaveLength(6)
})
