/** A command in the wrong directory fails with the reason, and creates nothing there. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfiguration } from '../../../infra/config/configuration.ts'
import { existingMasterKeys, openMasterKeys } from '../../../infra/ledger/ledger-secrets.ts'
import { commandLine } from './cli-fixture.ts'

test.for([
  ['shards'],
  ['drain', 'node-1'],
  ['accept-server'],
  ['client', 'list'],
  ['webhooks', 'list'],
  ['keys', 'rotate', '--purpose', 'token'],
  ['keys', 'rotate-master'],
  ['checkpoint'],
  ['verify', '--checkpoint', 'saved'],
] as const)('ledger %j creates no ledger in an empty directory', async (args) => {
  const { cwd, run } = commandLine()
  const { code, out, err } = await run(args)
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(
    `there is no ledger in ${join(cwd, '.ledger')}: run this where the ledger runs, or set LEDGER_DATA_DIR`,
  )
  expect(readdirSync(cwd)).toEqual([])
})

test.for([['migrate'], ['client', 'list'], ['backup', 'backups', '--recipient-key', 'key.jwk']] as const)(
  'ledger %j names the PostgreSQL that cannot be reached, and the variable',
  async (args) => {
    const { run, write } = commandLine()
    const { out: key } = await run(['keygen', '--out', 'key.pem'])
    write('key.jwk', key)
    const { code, err } = await run(args, '', { LEDGER_DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/ledger' })
    expect([code, err]).toEqual([
      1,
      `ledger ${args[0]}${args[0] === 'client' ? ' list' : ''}: PostgreSQL at 127.0.0.1:1 cannot be reached (ECONNREFUSED): start it, or correct LEDGER_DATABASE_URL\n`,
    ])
  },
)

test('a start that failed before it created the data left no ledger', async () => {
  const { cwd, run } = commandLine()
  const directory = join(cwd, '.ledger', 'postgres')
  mkdirSync(directory, { recursive: true })
  const record = { port: null, password: 'x', place: directory, made: false, launcher: null }
  writeFileSync(join(directory, 'server.json'), JSON.stringify(record))
  expect((await run(['shards'])).err).toContain('there is no ledger in')
  expect(existsSync(join(directory, 'data'))).toBe(false)
})

async function keysOf(
  env: Readonly<Record<string, string>>,
  cwd: string,
  open: typeof existingMasterKeys = existingMasterKeys,
): Promise<unknown> {
  const read = readConfiguration(env, cwd)
  if (!read.ok) throw new Error(read.error.join('\n'))
  return open(read.value.configuration)
}

test('a lost master key is not replaced by a new one', async () => {
  const { cwd } = commandLine()
  const dataDir = join(cwd, '.ledger')
  mkdirSync(join(dataDir, 'postgres', 'data'), { recursive: true })
  await expect(keysOf({}, cwd, openMasterKeys)).rejects.toThrow(
    `${join(dataDir, 'master.key')} is missing, and ${dataDir} has a ledger: restore your copy`,
  )
  expect(readdirSync(dataDir)).toEqual(['postgres'])
})

test('existingMasterKeys generates no key, and errors about files name the variable', async () => {
  const { cwd, write } = commandLine()
  await expect(keysOf({}, cwd)).rejects.toThrow(
    `There is no master key: set LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE`,
  )
  expect(readdirSync(cwd)).toEqual([])
  const key = write('master.key', Buffer.alloc(32, 7).toString('base64url'))
  await expect(keysOf({ LEDGER_MASTER_KEY_FILE: key }, cwd)).resolves.toBeDefined()
  await expect(keysOf({ LEDGER_MASTER_KEY_FILE: 'none' }, cwd)).rejects.toThrow(/^LEDGER_MASTER_KEY_FILE: /)
  const both = { LEDGER_MASTER_KEY_FILE: key, LEDGER_PREVIOUS_MASTER_KEY_FILE: 'none' }
  await expect(keysOf(both, cwd)).rejects.toThrow(/^LEDGER_PREVIOUS_MASTER_KEY_FILE: /)
})
