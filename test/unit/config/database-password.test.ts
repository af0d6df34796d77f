/** Any password in the file becomes part of the database URL, and no message shows it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { CommandFailed } from '../../../infra/cli/common/command.ts'
import { configurationOf } from '../../../infra/cli/common/configured.ts'
import { silentIo } from '../cli/silent-io.ts'

const directory = mkdtempSync(join(tmpdir(), 'ledger-password-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const URL_WITHOUT = 'postgres://ledger_node@db:5432/ledger?sslmode=verify-full'

function databaseUrl(env: Readonly<Record<string, string>>): string | undefined {
  return configurationOf(silentIo({ env, cwd: directory })).databaseUrl
}

function failure(env: Readonly<Record<string, string>>): string {
  try {
    databaseUrl(env)
  } catch (error) {
    if (error instanceof CommandFailed) return error.message
    throw error
  }
  return 'did not fail'
}

describe('LEDGER_DATABASE_PASSWORD_FILE', () => {
  test.for(['simple', 'p@ss:w/ord?&#%20 ü'])('%s is the password of the address', (password) => {
    writeFileSync(join(directory, 'password'), `${password}\n`)
    const url = new URL(
      databaseUrl({ LEDGER_DATABASE_URL: URL_WITHOUT, LEDGER_DATABASE_PASSWORD_FILE: 'password' }) ?? '',
    )
    expect(decodeURIComponent(url.password)).toBe(password)
    url.password = ''
    expect(url.toString()).toBe(URL_WITHOUT)
  })

  test.for([
    {},
    { LEDGER_DATABASE_URL: 'postgres://db/ledger' },
    { LEDGER_DATABASE_URL: 'postgres://ledger_node:hidden-word@db/ledger' },
  ])('%o has no place for it, and is refused without a quote', (env) => {
    writeFileSync(join(directory, 'password'), 'from-the-file')
    const message = failure({ ...env, LEDGER_DATABASE_PASSWORD_FILE: 'password' })
    expect(message).toContain('LEDGER_DATABASE_PASSWORD_FILE needs a LEDGER_DATABASE_URL')
    expect(message).not.toMatch(/hidden-word|from-the-file/)
  })

  test('a missing or empty file is refused', () => {
    writeFileSync(join(directory, 'empty'), '\n')
    expect(failure({ LEDGER_DATABASE_URL: URL_WITHOUT, LEDGER_DATABASE_PASSWORD_FILE: 'nowhere' })).toContain(
      'cannot be read',
    )
    expect(failure({ LEDGER_DATABASE_URL: URL_WITHOUT, LEDGER_DATABASE_PASSWORD_FILE: 'empty' })).toContain('is empty')
  })
})
