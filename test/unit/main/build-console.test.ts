/** A build of the console replaces the last one whole, or not at all: a running ledger serves its files. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectRoot } from '../../support/processes/cluster-process.ts'

let checkout: string

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'ledger-console-'))
  for (const folder of ['infra/main', 'api/console/style', 'dist/console']) {
    mkdirSync(join(checkout, folder), { recursive: true })
  }
  const program = join('infra', 'main', 'build-console.mjs')
  copyFileSync(join(projectRoot(), program), join(checkout, program))
  symlinkSync(join(projectRoot(), 'node_modules'), join(checkout, 'node_modules'))
  writeFileSync(join(checkout, 'api', 'console', 'tsconfig.json'), '{}')
  for (const [name, text] of [
    ['2-b.css', 'b {}'],
    ['1-a.css', 'a {}'],
  ] as const) {
    writeFileSync(join(checkout, 'api', 'console', 'style', name), text)
  }
  for (const name of ['console.js', 'console.css', 'chunk.js']) {
    writeFileSync(join(checkout, 'dist', 'console', name), 'of the last build')
  }
})

afterEach(() => rmSync(checkout, { recursive: true }))

function buildOf(source: string) {
  writeFileSync(join(checkout, 'api', 'console', 'console.tsx'), source)
  const { status } = spawnSync(process.execPath, [join(checkout, 'infra', 'main', 'build-console.mjs')])
  const built = join(checkout, 'dist', 'console')
  const files = readdirSync(built).map((name) => [name, readFileSync(join(built, name), 'utf8').trim()])
  return { isBuilt: status === 0, files: Object.fromEntries(files), dist: readdirSync(join(checkout, 'dist')) }
}

test('a build replaces the files, and removes those that it no longer has', () => {
  expect(buildOf('globalThis.name = "new"')).toEqual({
    isBuilt: true,
    files: { 'console.js': expect.stringContaining('new'), 'console.css': 'a {}\nb {}' },
    dist: ['console'],
  })
})

test('a failed build leaves the files of the last one', () => {
  const last = 'of the last build'
  expect(buildOf('const = 1')).toEqual({
    isBuilt: false,
    files: { 'console.js': last, 'console.css': last, 'chunk.js': last },
    dist: ['console'],
  })
})
