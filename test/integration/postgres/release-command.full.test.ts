/** A release in a clone: R1 to R4 of infra/main/release.mjs. */
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectRoot } from '../../support/processes/cluster-process.ts'

const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }

let clone: string
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'ledger-release-'))
  git(projectRoot(), 'clone', '--quiet', '--no-tags', projectRoot(), clone)
  symlinkSync(join(projectRoot(), 'node_modules'), join(clone, 'node_modules'))
  appendFileSync(join(clone, '.git', 'info', 'exclude'), 'node_modules\n')
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

function git(directory: string, ...args: string[]): string {
  return execFileSync('git', ['-C', directory, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...AUTHOR },
  }).trim()
}

function release(...args: string[]): { readonly exitCode: number | null; readonly printed: string } {
  const options = { cwd: clone, encoding: 'utf8', env: { ...process.env, ...AUTHOR } } as const
  const { status, stderr } = spawnSync(process.execPath, [join('infra', 'main', 'release.mjs'), ...args], options)
  return { exitCode: status, printed: stderr }
}

function versionOf(commit: string): string {
  return (JSON.parse(git(clone, 'show', `${commit}:package.json`)) as { readonly version: string }).version
}

test('R1: changes that are not committed, and an older version, are refused', () => {
  expect(release('0.0.1', '--tested').printed).toMatch(/^No release was made: 0\.0\.1 is older than /)
  const readme = join(clone, 'README.md')
  const before = readFileSync(readme, 'utf8')
  appendFileSync(readme, '\n')
  expect(release('99.0.0', '--tested').printed).toBe(
    'No release was made: the checkout has changes that are not committed.\n',
  )
  writeFileSync(readme, before)
})

test('R3, R4: a release has its tag, date and ledger; the next version begins, and keeps the ledgers of earlier ones', () => {
  const earlier = git(clone, 'ls-tree', '--name-only', 'HEAD', 'test/releases/').split('\n')
  const begun = versionOf('HEAD')
  const made = release('99.0.0', '--tested', '--next', '99.1.0')
  expect(made.printed).toContain('v99.0.0 is tagged, and 99.1.0 begun.')
  expect(made.exitCode).toBe(0)
  expect(git(clone, 'status', '--porcelain')).toBe('')
  expect(git(clone, 'rev-parse', 'v99.0.0^{commit}')).toBe(git(clone, 'rev-parse', 'HEAD~1'))
  expect([versionOf('v99.0.0'), versionOf('HEAD')]).toEqual(['99.0.0', '99.1.0'])
  expect(git(clone, 'show', 'v99.0.0:CHANGELOG.md')).toMatch(/^## \[99\.0\.0\] - \d{4}-\d\d-\d\d$/m)
  expect(git(clone, 'show', 'v99.0.0:infra/deploy/compose.yaml')).toContain('ledger:99.0.0}')
  // The ledger of the version that became 99.0.0 was never released.
  const kept = earlier
    .filter((path) => path !== `test/releases/${begun}.json.gz`)
    .map((path) => path.slice('test/releases/'.length))
  const found = readdirSync(join(clone, 'test', 'releases'))
  expect(new Set(found)).toEqual(new Set([...kept, '99.0.0.json.gz', '99.1.0.json.gz']))
})

test('R1: a version is released once', () => {
  expect(release('99.0.0', '--tested').printed).toMatch(/^No release was made: 99\.0\.0 is older than 99\.1\.0 /)
})
