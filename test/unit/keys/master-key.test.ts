/** Goal: M1 to M3 of master-key.ts. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  deriveKey,
  loadMasterKey,
  loadMasterKeys,
  loadOrCreateMasterKey,
  masterKeyIdOf,
  MasterKeyUnusable,
  readMasterKey,
  readMasterKeys,
} from '../../../infra/keys/master-key.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'master-key-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('M1: the key shows nothing when it is logged or written as JSON', () => {
  const bytes = Buffer.alloc(32, 0xab)
  const key = readMasterKey(bytes.toString('base64url'))
  const shown = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify({ key })
  expect(shown).not.toMatch(/ab.?ab|q6ur/i)
})

test('only 32 bytes are a master key, and the refusal does not repeat them', () => {
  expect(() => readMasterKey('')).toThrow(MasterKeyUnusable)
  for (const size of [16, 31, 33, 64]) {
    const text = randomBytes(size).toString('base64url')
    expect(() => readMasterKey(text)).toThrow(MasterKeyUnusable)
    expect(() => readMasterKey(text)).not.toThrow(text)
  }
  expect(() => readMasterKey('not base64 at all!')).toThrow(MasterKeyUnusable)
  expect(readMasterKey(` ${randomBytes(32).toString('base64')}\n`).symmetricKeySize).toBe(32)
})

test('M2: a use has one key, and other uses and other masters have others', () => {
  const [first, second] = [readMasterKey(encoded(1)), readMasterKey(encoded(2))]
  expect(deriveKey(first, 'data-keys')).toEqual(deriveKey(readMasterKey(encoded(1)), 'data-keys'))
  expect(deriveKey(first, 'data-keys')).not.toEqual(deriveKey(first, 'service-keys'))
  expect(deriveKey(first, 'data-keys')).not.toEqual(deriveKey(second, 'data-keys'))
  expect(deriveKey(first, 'data-keys')).toHaveLength(32)
})

test('M2: derived keys stay what they were in earlier releases', () => {
  expect(deriveKey(readMasterKey(encoded(0)), 'shard-secret').toString('hex')).toBe(
    '122887268b4d7907edaef83c6b97e73fcfbf3f52753255d457358c8710ed40de',
  )
})

test("M2: the ID of a master key is always the same, is nobody else's, and is no part of a key made from it", () => {
  const [first, second] = [readMasterKey(encoded(1)), readMasterKey(encoded(2))]
  expect(masterKeyIdOf(first)).toMatch(/^[0-9a-f]{16}$/)
  expect(masterKeyIdOf(first)).toBe(masterKeyIdOf(readMasterKey(encoded(1))))
  expect(masterKeyIdOf(first)).not.toBe(masterKeyIdOf(second))
  expect(deriveKey(first, 'master-key-id').toString('hex')).not.toContain(masterKeyIdOf(first))
})

test('several keys are read with commas or white space between them, and at most eight', async () => {
  const several = [1, 2, 3].map(encoded)
  for (const text of [several.join(','), several.join('\n'), `\n${several.join(' , ')}\n`]) {
    expect(readMasterKeys(text).map(masterKeyIdOf)).toEqual(several.map(readMasterKey).map(masterKeyIdOf))
  }
  for (const text of ['', ' , ', `${encoded(1)},short`, Array<string>(9).fill(encoded(1)).join(',')]) {
    expect(() => readMasterKeys(text)).toThrow(MasterKeyUnusable)
  }
  expect(readMasterKeys(Array<string>(8).fill(encoded(1)).join(','))).toHaveLength(8)
  await writeFile(join(directory, 'earlier'), `${several.join('\n')}\n`)
  expect(await loadMasterKeys(join(directory, 'earlier'))).toHaveLength(3)
  await expect(loadMasterKeys(join(directory, 'none'))).rejects.toThrow(MasterKeyUnusable)
})

test('M3: the first start makes the file for its owner only, and every later one reads it', async () => {
  const path = join(directory, 'keys', 'master')
  const made = await loadOrCreateMasterKey(path)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readFile(path, 'utf8')).trim()).toHaveLength(43)
  expect((await loadOrCreateMasterKey(path)).equals(made)).toBe(true)
  expect((await loadMasterKey(path)).equals(made)).toBe(true)
  expect(await readdir(join(directory, 'keys'))).toEqual(['master'])
})

test('M3: processes that start at once agree on one key', async () => {
  const path = join(directory, 'master')
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateMasterKey(path)))
  expect(first).toBeDefined()
  for (const other of others) expect(first?.equals(other)).toBe(true)
})

test('a damaged file is refused and not replaced', async () => {
  const path = join(directory, 'master')
  await writeFile(path, 'half a k')
  await expect(loadOrCreateMasterKey(path)).rejects.toThrow(MasterKeyUnusable)
  expect(await readFile(path, 'utf8')).toBe('half a k')
})

test('a missing file is refused where none may be made', async () => {
  await expect(loadMasterKey(join(directory, 'none'))).rejects.toThrow(MasterKeyUnusable)
})

function encoded(byte: number): string {
  return Buffer.alloc(32, byte).toString('base64url')
}
