/** backup.yaml agrees with compose.yaml, beside which it is given. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { readConfiguration } from '../../../infra/config/configuration.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import { commandLine } from '../cli/cli-fixture.ts'

interface Service {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly secrets: readonly (string | { readonly source: string; readonly target: string })[]
  readonly networks: readonly string[]
  readonly volumes: readonly string[]
  readonly healthcheck: { readonly test: readonly [string, string] }
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly networks: Readonly<Record<string, unknown>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const read = (name: string): Compose =>
  parse(readFileSync(join(projectRoot(), 'infra', 'deploy', name), 'utf8'), { merge: true, strict: true }) as Compose

const main = read('compose.yaml')
const beside = read('backup.yaml')
const { backup } = beside.services

test('the backup runs as its own role, and is confined as a part of the ledger is', async () => {
  const { command = [], environment = {}, ...rest } = backup ?? {}
  const { code, out } = await commandLine().run([command[0] ?? '', '--help'])
  expect([code, command.filter((word) => word.startsWith('--') && !out.includes(word))]).toEqual([0, []])
  const configured = readConfiguration(environment, '/')
  if (!configured.ok) throw new Error(configured.error.join('\n'))
  const { configuration, warnings } = configured.value
  expect([warnings, configuration.environment, configuration.databaseUrl]).toEqual([
    [],
    'production',
    'postgres://ledger_backup@postgres:5432/ledger?sslmode=verify-full',
  ])
  const part = main.services['node-1'] as unknown
  const shared = ['image', 'init', 'read_only', 'tmpfs', 'cap_drop', 'security_opt', 'restart', 'stop_grace_period']
  const of = (service: unknown): unknown => shared.map((key) => (service as Readonly<Record<string, unknown>>)[key])
  expect(of(rest)).toEqual(of(part))
})

test('it gets its password and the public key, and no key of the ledger', () => {
  const sources = backup?.secrets.map((one) => (typeof one === 'string' ? one : one.source)) ?? []
  expect(sources.sort()).toEqual(['backup.pub', 'ca.pem', 'ledger_backup.password'])
  const known = { ...main.secrets, ...beside.secrets }
  expect(sources.map((name) => known[name]?.file)).toEqual(sources.map((name) => `./secrets/${name}`))
  expect(backup?.networks.filter((name) => !Object.hasOwn(main.networks, name))).toEqual([])
  expect(backup?.volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(beside.volumes))
})

test('the health check fails when the newest part of the log is older than a minute', () => {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-deployed-backup-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [shell = '', check = ''] = backup?.healthcheck.test ?? []
  const isHealthy = (): boolean => spawnSync('sh', ['-c', check.replace('/data/backups', directory)]).status === 0
  expect([shell, isHealthy()]).toEqual(['CMD-SHELL', false])
  mkdirSync(join(directory, 'wal', '00000001'), { recursive: true })
  const piece = join(directory, 'wal', '00000001', 'piece')
  writeFileSync(piece, '')
  expect(isHealthy()).toBe(true)
  const earlier = Date.now() / 1_000 - 120
  utimesSync(piece, earlier, earlier)
  expect(isHealthy()).toBe(false)
})
