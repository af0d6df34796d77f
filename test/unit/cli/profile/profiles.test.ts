/** Profiles are private files of the user, found by name. */
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CommandIo } from '../../../../infra/cli/common/command.ts'
import { profileName, profilePath, readProfile, storeProfile } from '../../../../infra/cli/profile/profiles.ts'
import { configDirectory } from '../../../../infra/cli/profile/config-directory.ts'
import { silentIo } from '../silent-io.ts'

const PROFILE = {
  name: 'books',
  url: 'https://ledger.example',
  clientId: 'books',
  proof: { clientSecret: 'a secret' },
  ledgerId: '0e0f6a3c-3f0c-4a3e-9f39-2b1f9a7a4d11',
}

function userWith(env: Record<string, string> = {}): CommandIo {
  return silentIo({ env: { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'ledger-profile-')), ...env } })
}

test('a stored profile is read again, and only its user can read it', () => {
  const io = userWith()
  const path = storeProfile(PROFILE, io)
  expect(path).toBe(join(configDirectory(io), 'profiles', 'books.json'))
  expect(readProfile({ profile: 'books' }, io)).toEqual(PROFILE)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(configDirectory(io)).mode & 0o777).toBe(0o700)
  expect(statSync(join(configDirectory(io), 'profiles')).mode & 0o777).toBe(0o700)
})

test('--profile comes before LEDGER_PROFILE, which comes before the default', () => {
  expect(profileName({ profile: 'a' }, userWith({ LEDGER_PROFILE: 'b' }))).toBe('a')
  expect(profileName({}, userWith({ LEDGER_PROFILE: 'b' }))).toBe('b')
  expect(profileName({}, userWith({ LEDGER_PROFILE: '' }))).toBe('default')
})

test.each(['../x', '.hidden', 'a/b', '', 'a'.repeat(65)])('the name %j is refused', (profile) => {
  expect(() => profileName({ profile }, userWith())).toThrow('--profile must be 1 to 64 letters')
})

test('the directory is that of XDG, or in the home directory; a relative one counts as missing', () => {
  expect(configDirectory(silentIo({ env: { XDG_CONFIG_HOME: '/config', HOME: '/home/a' } }))).toBe('/config/ledger')
  expect(configDirectory(silentIo({ env: { HOME: '/home/a' } }))).toBe('/home/a/.config/ledger')
  expect(configDirectory(silentIo({ env: { XDG_CONFIG_HOME: 'here', HOME: '/home/a' } }))).toBe(
    '/home/a/.config/ledger',
  )
})

test('a file that others can read, and a directory that others can write to, are refused with the remedy', () => {
  const io = userWith()
  const path = storeProfile(PROFILE, io)
  chmodSync(path, 0o640)
  expect(() => readProfile({ profile: 'books' }, io)).toThrow(`run chmod 600 ${path}`)
  chmodSync(path, 0o600)
  chmodSync(configDirectory(io), 0o770)
  expect(() => readProfile({ profile: 'books' }, io)).toThrow(`run chmod 700 ${configDirectory(io)}`)
})

test('a missing profile names the login, and a damaged one does not show its secret', () => {
  const io = userWith()
  expect(() => readProfile({}, io)).toThrow('there is no profile default: run ledger login first')
  expect(() => readProfile({ profile: 'x' }, io)).toThrow('run ledger login --profile x first')
  const path = storeProfile(PROFILE, io)
  writeFileSync(path, readFileSync(path, 'utf8').replace('url', 'uri'))
  expect(() => readProfile({ profile: 'books' }, io)).toThrow(`the profile ${profilePath('books', io)} is damaged: run`)
})
