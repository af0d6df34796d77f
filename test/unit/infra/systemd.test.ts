/** systemd accepts the units of infra/deploy/systemd, and they agree with the ledger and with make-secrets.mjs. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingInProduction, readConfiguration } from '../../../infra/config/configuration.ts'
import { ALLOCATOR, COLLECTOR } from '../../../infra/launcher/part-memory.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import { debianFiles } from '../../support/processes/debian-files.ts'
import { commandLine } from '../cli/cli-fixture.ts'

const FOLDER = join(projectRoot(), 'infra', 'deploy', 'systemd')
const PROGRAM = '/opt/ledger/dist/infra/main/ledger.js'
const CREDENTIALS = '/run/credentials'
/** The longest time that `ledger` takes to stop. */
const STOP_TIMEOUT_SECONDS = 20
const PACKAGES = ['systemd', 'libsystemd-shared', 'libkmod2', 'libapparmor1', 'libip4tc2']
const INSTANCES: Readonly<Record<string, string>> = {
  'ledger-node@.service': 'ledger-node@node-1.service',
  'ledger-edge@.service': 'ledger-edge@edge-1.service',
  'ledger-auditor.service': 'ledger-auditor.service',
}
const units = readdirSync(FOLDER).filter((name) => name.endsWith('.service'))

/** The values of a directive, in their order, with the specifiers of an instance. */
function valuesOf(unit: string, directive: string): readonly string[] {
  const instance = INSTANCES[unit]?.replace(/^.*@|\.service$/g, '') ?? ''
  return readFileSync(join(FOLDER, unit), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${directive}=`))
    .map((line) =>
      line
        .slice(directive.length + 1)
        .replaceAll('%i', instance)
        .replaceAll('%d', CREDENTIALS),
    )
}

function partOf(unit: string): string {
  return unit.replace(/^ledger-|@?\.service$/g, '')
}

function assignments(text: string): readonly (readonly [string, string])[] {
  return [...text.matchAll(/(?:^|\s)([A-Z]\w*)=(\S*)/g)].map(([, name = '', value = '']) => [name, value] as const)
}

/** As the part gets it. */
function environmentOf(unit: string): Record<string, string> {
  const files = valuesOf(unit, 'EnvironmentFile').map((path) => {
    expect(path.startsWith('/etc/ledger/')).toBe(true)
    const lines = readFileSync(join(FOLDER, path.slice('/etc/ledger/'.length)), 'utf8').split('\n')
    return lines.filter((line) => !line.startsWith('#')).join('\n')
  })
  return Object.fromEntries([...valuesOf(unit, 'Environment'), ...files].flatMap(assignments))
}

async function analyzer(): Promise<(args: readonly string[]) => string> {
  const { path, libraryPath } = await debianFiles(PACKAGES, 'usr/bin/systemd-analyze')
  const env = { ...process.env, LD_LIBRARY_PATH: `${libraryPath}/systemd:${libraryPath}` }
  return (args) => {
    const { stdout, stderr, status } = spawnSync(path('usr/bin/systemd-analyze'), args, { env, encoding: 'utf8' })
    return status === 0 ? stderr : `exit code ${status}\n${stdout}${stderr}`
  }
}

/** The messages of `systemd-analyze verify` about a unit, which exits with 0 after unknown directives, too. */
async function verify(unit: string, change: (text: string) => string = (text) => text): Promise<string> {
  const analyze = await analyzer()
  const directory = mkdtempSync(join(tmpdir(), 'ledger-units-'))
  try {
    const text = readFileSync(join(FOLDER, unit), 'utf8').replace('/usr/bin/node', process.execPath)
    const path = join(directory, INSTANCES[unit] ?? unit)
    writeFileSync(path, change(text))
    return analyze(['verify', '--man=no', path])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

let secrets: string
beforeAll(() => {
  secrets = makeSecrets([])
})
afterAll(() => rmSync(secrets, { recursive: true, force: true }))

test('each part of a cluster has a unit', () => {
  expect([...units].sort()).toEqual(Object.keys(INSTANCES).sort())
})

test('a misspelt directive is an error', async () => {
  expect(await verify('ledger-auditor.service', (text) => text.replace('RestartSec', 'RestartSecs'))).toContain(
    "Unknown key 'RestartSecs' in section [Service]",
  )
})

describe.each(units)('%s', (unit) => {
  test('systemd accepts the unit', async () => {
    expect(await verify(unit)).toBe('')
  })

  test('an existing command runs with the memory settings of the launcher', async () => {
    const part = partOf(unit)
    expect(valuesOf(unit, 'ExecStart')).toEqual([`/usr/bin/node ${COLLECTOR.join(' ')} ${PROGRAM} ${part}`])
    expect(environmentOf(unit)).toEqual(expect.objectContaining(ALLOCATOR))
    const { code, out } = await commandLine().run([part, '--help'])
    expect([code, out.includes(`Usage: ledger ${part}`)]).toEqual([0, true])
  })

  test('the environment is valid and complete for production, and has no secret', () => {
    const environment = environmentOf(unit)
    const read = readConfiguration(environment, '/')
    if (!read.ok) throw new Error(read.error.join('\n'))
    expect(read.value.warnings).toEqual([])
    const { configuration } = read.value
    expect(missingInProduction(configuration, false)).toEqual([])
    const url = new URL(environment['LEDGER_DATABASE_URL'] ?? '')
    const expected = [`ledger_${partOf(unit)}`, '', 'verify-full']
    expect([url.username, url.password, url.searchParams.get('sslmode')]).toEqual(expected)
  })

  test('the part gets exactly the credentials that its environment names', () => {
    const loaded = valuesOf(unit, 'LoadCredential').map((value) => value.split(':'))
    const named = Object.values(environmentOf(unit)).filter((value) => value.startsWith(CREDENTIALS))
    expect(new Set(named)).toEqual(new Set(loaded.map(([name]) => `${CREDENTIALS}/${name ?? ''}`)))
    for (const [, path = ''] of loaded) {
      expect(path.startsWith('/etc/ledger/secrets/')).toBe(true)
      const file = path.slice('/etc/ledger/secrets/'.length)
      expect(existsSync(join(secrets, file))).toBe(true)
      expect(file).toMatch(new RegExp(`^ca\\.pem$|${partOf(unit)}`))
    }
  })

  test('the part has enough time to stop in order, and is restarted', () => {
    expect(Number(valuesOf(unit, 'TimeoutStopSec')[0])).toBeGreaterThan(STOP_TIMEOUT_SECONDS)
    expect(valuesOf(unit, 'Restart')).toEqual(['always'])
    expect(valuesOf(unit, 'StartLimitIntervalSec')).toEqual(['0'])
  })
})
