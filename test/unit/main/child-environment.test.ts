/** Goal: E1 and E2 of the environment that `ledger up` gives its parts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CommandIo } from '../../../infra/cli/command.ts'
import { configurationOf } from '../../../infra/cli/configured.ts'
import { childEnvironment, type ChildPlace } from '../../../infra/main/child-environment.ts'

const directory = mkdtempSync(join(tmpdir(), 'ledger-child-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
writeFileSync(join(directory, 'password'), 'from-the-file\n')

const EVERY_FILE = {
  LEDGER_DATABASE_URL: 'postgres://ledger@db:5432/ledger?sslmode=verify-full',
  LEDGER_DATABASE_PASSWORD_FILE: 'password',
  LEDGER_NATS_URL: 'tls://one:4222,tls://two:4222',
  LEDGER_NATS_CREDENTIALS_FILE: 'nats.nk',
  LEDGER_NATS_CA_FILE: 'ca.pem',
  LEDGER_NATS_CERT_FILE: 'nats.pem',
  LEDGER_NATS_KEY_FILE: 'nats.key',
  LEDGER_MASTER_KEY_FILE: 'master.key',
  LEDGER_PREVIOUS_MASTER_KEY_FILE: 'previous.keys',
  LEDGER_TRUSTED_LEDGERS_FILE: 'trusted.json',
  LEDGER_BASE_URL: 'https://ledger.example.com',
  LEDGER_SHARDS: '16',
}

function configurationIn(env: Readonly<Record<string, string | undefined>>) {
  const io: CommandIo = {
    env,
    cwd: directory,
    readInput: () => Promise.reject(new Error('nothing is read')),
    out: () => undefined,
    err: () => undefined,
  }
  return configurationOf(io)
}

const PLACE: ChildPlace = {
  command: 'edge',
  number: 2,
  databaseUrl: 'postgres://ledger:own-password@127.0.0.1:5000/ledger',
  natsUrls: ['nats://127.0.0.1:4222'],
  port: 8081,
  baseUrl: 'http://127.0.0.1:8080',
  metricsPort: undefined,
}

test.for(['node', 'edge'] as const)(
  'E1, E2: where all is given by files, a part (%s) reads what was read',
  (command) => {
    const configuration = configurationIn(EVERY_FILE)
    const { databaseUrl = '', nats } = configuration
    const place = { ...PLACE, command, databaseUrl, natsUrls: nats.urls ?? [] }
    const env = childEnvironment(configuration, EVERY_FILE, place)
    expect(configurationIn(env)).toEqual({ ...configuration, nodeId: `${command}-2`, port: 8081, portGiven: true })
    expect(JSON.stringify(env)).not.toContain('from-the-file')
  },
)

test('E1: where nothing is given, a part is told the addresses of what the launcher runs', () => {
  const env = childEnvironment(configurationIn({}), { LEDGER_DATABASE_URL: '' }, PLACE)
  expect(configurationIn(env)).toMatchObject({
    databaseUrl: PLACE.databaseUrl,
    nats: { urls: PLACE.natsUrls },
    errorBase: `${PLACE.baseUrl}/errors`,
  })
})

test('E2: the auditor is told nothing of NATS, and no part the secrets of clients', () => {
  const secret = { LEDGER_BOOTSTRAP_CLIENTS: '[]' }
  const env = { ...EVERY_FILE, ...secret }
  const configuration = configurationIn(env)
  for (const command of ['node', 'edge', 'auditor'] as const) {
    expect(childEnvironment(configuration, env, { ...PLACE, command })).not.toHaveProperty('LEDGER_BOOTSTRAP_CLIENTS')
  }
  const ofAuditor = childEnvironment(configuration, env, { ...PLACE, command: 'auditor' })
  expect(Object.keys(ofAuditor).filter((name) => name.startsWith('LEDGER_NATS'))).toEqual([])
})
