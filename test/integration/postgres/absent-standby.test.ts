/** A promoted server that still waits for the standby that it was itself. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { main } from '../../../infra/main/ledger.ts'
import { migrate } from '../../../infra/postgres/migrations/migrate.ts'
import { DEFAULT_SHARD_COUNT, TEST_MASTER_KEY_TEXT, TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { serverDirectory } from '../../support/processes/test-directory.ts'
import { silentIo } from '../../unit/cli/silent-io.ts'

test('is refused by accept-server at once, because no commit would end', async () => {
  const directory = serverDirectory('ledger-standby-')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const server = await startPostgres({ dataDir: join(directory, 'postgres'), sharedBuffersMb: 128 })
  onTestFinished(() => server.stop())
  await migrate(server.url, { shardCount: DEFAULT_SHARD_COUNT, masterKeys: TEST_MASTER_KEYS })
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  await sql`UPDATE accepted_servers SET timeline = '000000FF'`
  await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby_1)'`)
  await sql`SELECT pg_reload_conf()`
  await expect
    .poll(() => sql`SHOW synchronous_standby_names`)
    .toEqual([{ synchronous_standby_names: 'FIRST 1 (standby_1)' }])
  let said = ''
  const say = (text: string): void => void (said += text)
  const env = { LEDGER_DATABASE_URL: server.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT }
  const accept = () => main(['accept-server', '--yes'], silentIo({ env, cwd: '.', out: say, err: say }))
  expect(await accept()).toBe(1)
  expect(said).toContain('synchronous_standby_names')
  await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = ''`)
  await sql`SELECT pg_reload_conf()`
  expect(await accept()).toBe(0)
})
