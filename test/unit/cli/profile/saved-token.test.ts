/** The access token of a profile is kept between commands, and a command succeeds without it. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerUser } from '../replying-ledger.ts'

test('a token that cannot be kept is a warning', async () => {
  const { run, directory } = await ledgerUser({ '/v1/accounts/alice': { account_id: 'alice' } })
  await run('account', 'show', 'alice')
  const kept = join(directory, 'tokens', 'default.json')
  expect(readFileSync(kept, 'utf8')).toContain('"access_token":"token"')
  rmSync(kept)
  // In the place of the file that replaces it.
  mkdirSync(`${kept}.${process.pid}.new`)
  const { code, out, err } = await run('account', 'show', 'alice')
  expect([code, out]).toEqual([0, 'account_id  alice\n'])
  expect(err).toContain('warning: the access token cannot be kept: ')
})
