/** E1 to E3: the environment and secrets that `ledger up` gives its parts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { configurationOf } from '../../../infra/cli/common/configured.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { partKeyText } from '../../../infra/keys/part-key.ts'
import { childEnvironment, type ChildPlace } from '../../../infra/launcher/child-environment.ts'
import { silentIo } from '../cli/silent-io.ts'

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
  return configurationOf(silentIo({ env, cwd: directory }))
}

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64url')
const PART_KEY = partKeyText({ current: readMasterKey(MASTER_KEY), previous: [] }, 'edge')

const PLACE: ChildPlace = {
  command: 'edge',
  number: 2,
  databaseUrl: 'postgres://ledger:own-password@127.0.0.1:5000/ledger',
  natsUrls: ['nats://127.0.0.1:4222'],
  port: 8081,
  baseUrl: 'http://127.0.0.1:8080',
  metricsPort: undefined,
  partKey: PART_KEY,
}

/** All secrets and variables of a part. */
function givenTo(
  configuration: ReturnType<typeof configurationIn>,
  env: Readonly<Record<string, string>>,
  place: ChildPlace,
): Readonly<Record<string, string>> {
  const given = childEnvironment(configuration, env, place)
  return { ...given.env, ...given.secrets }
}

test.for(['node', 'edge'] as const)(
  'E1, E2: a part (%s) gets the values that the launcher read from files',
  (command) => {
    const configuration = configurationIn(EVERY_FILE)
    const { databaseUrl = '', nats } = configuration
    const place = { ...PLACE, command, databaseUrl, natsUrls: nats.urls ?? [] }
    const env = givenTo(configuration, EVERY_FILE, place)
    const read = configurationIn(env)
    expect(read).toEqual({
      ...configuration,
      nodeId: `${command}-2`,
      port: 8081,
      portGiven: true,
      masterKeyFile: undefined,
      previousMasterKeyFile: undefined,
      partKey: read.partKey,
    })
    expect(read.partKey?.part).toBe('edge')
    expect(JSON.stringify(env)).not.toContain('from-the-file')
  },
)

test('E1: by default a part gets the addresses of the embedded servers', () => {
  const env = givenTo(configurationIn({}), { LEDGER_DATABASE_URL: '' }, PLACE)
  expect(configurationIn(env)).toMatchObject({
    databaseUrl: PLACE.databaseUrl,
    nats: { urls: PLACE.natsUrls },
    errorBase: `${PLACE.baseUrl}/errors`,
  })
})

test('E2: the auditor gets no NATS variables, and no part gets secrets of clients', () => {
  const secret = { LEDGER_BOOTSTRAP_CLIENTS: '[]' }
  const env = { ...EVERY_FILE, ...secret }
  const configuration = configurationIn(env)
  for (const command of ['node', 'edge', 'auditor'] as const) {
    expect(givenTo(configuration, env, { ...PLACE, command })).not.toHaveProperty('LEDGER_BOOTSTRAP_CLIENTS')
  }
  const ofAuditor = givenTo(configuration, env, { ...PLACE, command: 'auditor' })
  expect(Object.keys(ofAuditor).filter((name) => name.startsWith('LEDGER_NATS'))).toEqual([])
})

test.for(['node', 'edge', 'auditor'] as const)(
  'E2, E3: the %s gets its part key and no master key, and its environment has no secret',
  (command) => {
    const env = {
      LEDGER_MASTER_KEY: MASTER_KEY,
      LEDGER_PREVIOUS_MASTER_KEY: MASTER_KEY,
      LEDGER_DATABASE_URL: 'postgres://ledger:database-password@db:5432/ledger',
      LEDGER_NATS_URL: 'nats://ledger:nats-password@nats:4222',
    }
    const configuration = configurationIn(env)
    const { databaseUrl = '', nats } = configuration
    const given = childEnvironment(configuration, env, { ...PLACE, command, databaseUrl, natsUrls: nats.urls ?? [] })
    expect(Object.keys(given.secrets)).toContain('LEDGER_PART_KEY')
    expect(given.secrets['LEDGER_DATABASE_URL']).toBe(env.LEDGER_DATABASE_URL)
    const inEnvironment = JSON.stringify(given.env)
    for (const secret of ['password', 'lpk1', MASTER_KEY]) expect(inEnvironment).not.toContain(secret)
    expect(JSON.stringify(given)).not.toContain(MASTER_KEY)
  },
)
