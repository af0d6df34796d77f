/** Keys of accounts are private files, and no key is overwritten. */
import { chmodSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createKeyFiles, readKeyFile } from '../../../../infra/cli/profile/key-files.ts'
import { silentIo } from '../silent-io.ts'

const LEDGER = '0e0f6a3c-3f0c-4a3e-9f39-2b1f9a7a4d11'

function keyFiles(ledgerId = LEDGER, home = mkdtempSync(join(tmpdir(), 'ledger-keys-'))) {
  return createKeyFiles(ledgerId, silentIo({ env: { XDG_CONFIG_HOME: home } }))
}

test('a made key is read again, and only its user can read it', () => {
  const files = keyFiles()
  const { path, keyId } = files.make('alice@example:1')
  expect(files.read('alice@example:1').keyId).toBe(keyId)
  expect(files.find('bob')).toBeUndefined()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('a second key of an account is refused, and a missing one names the option', () => {
  const files = keyFiles()
  const { path } = files.make('alice')
  expect(() => files.make('alice')).toThrow(`${path} cannot be written: it already exists`)
  expect(() => files.read('bob')).toThrow('there is no key of bob here')
})

test('keys that others can read are refused', () => {
  const files = keyFiles()
  const { path } = files.make('alice')
  chmodSync(path, 0o644)
  expect(() => files.read('alice')).toThrow(`run chmod 600 ${path}`)
})

test('ledgers have separate keys', () => {
  const home = mkdtempSync(join(tmpdir(), 'ledger-keys-'))
  keyFiles(LEDGER, home).make('alice')
  expect(keyFiles(LEDGER.replace('0', '1'), home).find('alice')).toBeUndefined()
})

test('a rotation uses one next key until the ledger has accepted it, and keeps the retired key', () => {
  const files = keyFiles()
  const first = files.make('alice')
  const next = files.makeNext('alice')
  expect(() => files.makeNext('alice')).toThrow('it already exists')
  expect(files.findNext('alice')?.keyId).toBe(next.keyId)
  expect(files.read('alice').keyId).toBe(first.keyId)
  const retired = files.replace('alice') ?? ''
  expect(files.read('alice').keyId).toBe(next.keyId)
  expect(files.findNext('alice')).toBeUndefined()
  expect(readKeyFile(retired).keyId).toBe(first.keyId)
  expect(files.all('alice')).toHaveLength(2)
})

test('J3: the file of any ID is in the directory of its ledger', () => {
  const files = keyFiles()
  const directory = dirname(files.pathOf('alice'))
  const ids = ['../../x', '/etc/x', '..', '', 'a/b', 'a\0b', 'A'.repeat(128), 'alice~next', 'x%y', '.hidden', 'a:b']
  const paths = ids.map((id) => files.make(id).path)
  expect(paths.map((path) => dirname(path))).toEqual(ids.map(() => directory))
  expect(files.pathOf('alice@example')).toBe(join(directory, 'alice@example.pem'))
})

test('J3: accounts whose IDs differ in case only have files that differ in more', () => {
  const files = keyFiles()
  const paths = ['alice', 'Alice', 'ALICE', 'alicE'].map((id) => files.make(id).path.toLowerCase())
  expect(new Set(paths).size).toBe(4)
  expect(files.all('Alice').map(({ keyId }) => keyId)).toEqual([files.read('Alice').keyId])
})
