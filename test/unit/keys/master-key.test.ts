/** M1 and M2 of master-key.ts. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  KeyUnusable,
  loadMasterKey,
  loadMasterKeys,
  loadOrCreateMasterKey,
  readMasterKey,
  readMasterKeys,
  readGivenMasterKey,
} from '../../../infra/keys/master-key.ts'
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'master-key-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('M1: the key reveals nothing in logs or JSON', () => {
  const bytes = Buffer.alloc(32, 0xab)
  const key = readMasterKey(bytes.toString('base64url'))
  const shown = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify({ key })
  expect(shown).not.toMatch(/ab.?ab|q6ur/i)
})

test('only 32 bytes are a master key, and the error does not quote them', () => {
  expect(() => readMasterKey('')).toThrow(KeyUnusable)
  for (const size of [16, 31, 33, 64]) {
    const text = randomBytes(size).toString('base64url')
    expect(() => readMasterKey(text)).toThrow(KeyUnusable)
    expect(() => readMasterKey(text)).not.toThrow(text)
  }
  expect(() => readMasterKey('not base64 at all!')).toThrow(KeyUnusable)
  const [bytes, other] = [randomBytes(32), randomBytes(32)]
  const read = readMasterKey(` ${bytes.toString('base64')}
`)
  expect(read.masterKeyId).toBe(readMasterKey(bytes.toString('base64url')).masterKeyId)
  expect(read.masterKeyId).not.toBe(readMasterKey(other.toString('base64url')).masterKeyId)
})

test('a key outside is named by its reference', () => {
  expect(readGivenMasterKey(' outside:pkcs11:token=a%20b;object=m\n')).toEqual({
    outside: 'pkcs11:token=a%20b;object=m',
  })
  expect(readMasterKeys(`${encoded(1)} outside:k`)[1]).toEqual({ outside: 'k' })
  for (const text of ['outside:', 'outside:a b', 'outside:a,b', `outside:${'k'.repeat(513)}`]) {
    expect(() => readGivenMasterKey(text)).toThrow(KeyUnusable)
  }
  expect(() => readMasterKey('outside:k')).toThrow(KeyUnusable)
})

test('several keys are read with commas or white space between them, and at most eight', async () => {
  const several = [1, 2, 3].map(encoded)
  for (const text of [several.join(','), several.join('\n'), `\n${several.join(' , ')}\n`]) {
    const ids = readMasterKeys(text).map((key) => ('outside' in key ? key.outside : idOf(key)))
    expect(ids).toEqual(several.map(readMasterKey).map(idOf))
  }
  for (const text of ['', ' , ', `${encoded(1)},short`, Array<string>(9).fill(encoded(1)).join(',')]) {
    expect(() => readMasterKeys(text)).toThrow(KeyUnusable)
  }
  expect(readMasterKeys(Array<string>(8).fill(encoded(1)).join(','))).toHaveLength(8)
  await writeFile(join(directory, 'earlier'), `${several.join('\n')}\n`)
  expect(await loadMasterKeys(join(directory, 'earlier'))).toHaveLength(3)
  await expect(loadMasterKeys(join(directory, 'none'))).rejects.toThrow(KeyUnusable)
})

test('M2: the first start creates the file for its owner only, and every later one reads it', async () => {
  const path = join(directory, 'keys', 'master')
  const made = await loadOrCreateMasterKey(path)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readFile(path, 'utf8')).trim()).toHaveLength(43)
  expect(idOf(await loadOrCreateMasterKey(path))).toBe(idOf(made))
  expect(idOf(await loadMasterKey(path))).toBe(idOf(made))
  expect(await readdir(join(directory, 'keys'))).toEqual(['master'])
})

test('M2: processes that start at once agree on one key', async () => {
  const path = join(directory, 'master')
  const made = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateMasterKey(path)))
  expect(new Set(made.map(idOf)).size).toBe(1)
})

test('a damaged file is refused and not replaced', async () => {
  const path = join(directory, 'master')
  await writeFile(path, 'half a k')
  await expect(loadOrCreateMasterKey(path)).rejects.toThrow(
    new KeyUnusable(`${path} has no master key (base64url of 32 bytes): restore the file from a copy.`),
  )
  expect(await readFile(path, 'utf8')).toBe('half a k')
})

test('loadMasterKey refuses a missing file', async () => {
  await expect(loadMasterKey(join(directory, 'none'))).rejects.toThrow(KeyUnusable)
})

function idOf({ masterKeyId }: WrappingKeys): string {
  return masterKeyId
}

function encoded(byte: number): string {
  return Buffer.alloc(32, byte).toString('base64url')
}
