/** `ledger logout` removes the secret and the token of one profile, and no key. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LEDGER_ID, ledgerUser } from './replying-ledger.ts'

test('the secret and the token are removed, and keys of accounts stay', async () => {
  const { run, directory } = await ledgerUser({ '/v1/accounts/alice': { account_id: 'alice' } }, ['alice'])
  await run('account', 'show', 'alice')
  expect(readdirSync(join(directory, 'tokens'))).toEqual(['default.json'])
  const { code, out, err } = await run('logout')
  expect([code, out]).toEqual([
    0,
    `profile       default\nremoved_file  ${join(directory, 'profiles', 'default.json')}\n`,
  ])
  expect(err).toBe(`keys of accounts are still in ${join(directory, 'keys')}\n`)
  const left = ['profiles', 'tokens', join('keys', LEDGER_ID)].map((name) => readdirSync(join(directory, name)))
  expect(left).toEqual([[], [], ['alice.pem']])
  expect((await run('account', 'show', 'alice')).err).toContain('there is no profile default: run ledger login first')
})

test('a missing profile is named, and other profiles stay', async () => {
  const { run, directory } = await ledgerUser({})
  expect(await run('logout', '--profile', 'other')).toMatchObject({
    code: 1,
    err: 'ledger logout: there is no profile other\n',
  })
  expect(readdirSync(join(directory, 'profiles'))).toEqual(['default.json'])
})
