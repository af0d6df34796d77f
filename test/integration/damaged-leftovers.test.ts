/** If a machine crash left a file empty, truncated or zeroed, the servers start, or the error names the remedy. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNats } from '../../infra/embedded/nats-server.ts'
import { startPostgres } from '../../infra/embedded/postgres-server.ts'
import { readRecord } from '../../infra/embedded/server-record.ts'

const EMPTY = ''
const ZEROS = '\0'.repeat(100)

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-leftovers-'))
  // PostgreSQL's user needs access.
  chmodSync(directory, 0o711)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('a postmaster.pid without a pid is removed if no process of the server runs', async () => {
  const dataDir = join(directory, 'postgres')
  await (await startPostgres({ dataDir })).stop()
  const file = join(readRecord(dataDir)?.place ?? '', 'data', 'postmaster.pid')
  for (const content of [EMPTY, ZEROS, 'x', '-7\n']) {
    writeFileSync(file, content)
    const server = await startPostgres({ dataDir })
    expect(Number(readFileSync(file, 'utf8').split('\n')[0])).toBe(server.pid)
    await server.stop()
  }
})

test('a start reports a damaged or missing record of PostgreSQL with the remedy, and does not change it', async () => {
  const dataDir = join(directory, 'postgres')
  const file = join(dataDir, 'server.json')
  const whole = readFileSync(file, 'utf8')
  for (const content of [EMPTY, ZEROS, whole.slice(0, -10)]) {
    writeFileSync(file, content)
    await expect(startPostgres({ dataDir })).rejects.toThrow(`${file} is damaged: restore it from a copy`)
    expect(readFileSync(file, 'utf8')).toBe(content)
  }
  writeFileSync(file, whole)
  expect(readRecord(dataDir)?.place).toBe(dataDir)
  rmSync(file)
  await expect(startPostgres({ dataDir })).rejects.toThrow('its server.json with the password is missing')
  writeFileSync(file, whole)
  await (await startPostgres({ dataDir })).stop()
})

test('a damaged record of nats-server is replaced', async () => {
  const storeDir = join(directory, 'nats')
  await (await startNats({ storeDir })).stop()
  for (const content of [EMPTY, ZEROS]) {
    writeFileSync(join(storeDir, 'server.json'), content)
    const said: string[] = []
    const server = await startNats({ storeDir, log: (line) => said.push(line) })
    expect(said).toContainEqual(expect.stringMatching(/server\.json is damaged: .*: created a new one$/))
    expect(readRecord(storeDir)).toMatchObject({ port: server.port })
    await server.stop()
  }
})
