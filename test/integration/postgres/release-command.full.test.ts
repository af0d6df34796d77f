/** A release in a clone: R1 to R5 of infra/main/release.mjs. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  const env = { ...process.env, ...AUTHOR, npm_execpath: join(clone, '.git', 'npm.js') }
  const options = { cwd: clone, encoding: 'utf8', env } as const
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

test.for([
  [
    'an edit',
    `import fs from 'node:fs'; fs.appendFileSync('README.md', '\\n')`,
    'the checkout has changes that are not committed.',
  ],
  [
    'a commit',
    `import { execFileSync } from 'node:child_process'; execFileSync('git', ['commit', '--quiet', '--allow-empty', '--message', 'Other'])`,
    'HEAD moved away from ',
  ],
] as const)('R2: %s during the tests refuses the release', ([, change, reason]) => {
  const tested = git(clone, 'rev-parse', 'HEAD')
  writeFileSync(join(clone, '.git', 'npm.js'), change)
  const { exitCode, printed } = release('99.0.0')
  expect(printed).toContain(`No release was made: ${reason}`)
  expect([exitCode, git(clone, 'tag')]).toEqual([1, ''])
  git(clone, 'reset', '--quiet', '--hard', tested)
})

test('R5: a tag that cannot be signed leaves no release, and keeps an edit of another file', () => {
  const before = git(clone, 'rev-parse', 'HEAD')
  git(clone, 'config', 'tag.gpgSign', 'true')
  git(clone, 'config', 'gpg.program', 'false')
  // The hook runs while the release is committed.
  writeFileSync(join(clone, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\necho >> LICENSE\n', { mode: 0o755 })
  const { exitCode, printed } = release('99.0.0', '--tested')
  expect(printed).toContain('No release was made, and the checkout is as before.')
  expect(exitCode).toBe(1)
  expect([git(clone, 'rev-parse', 'HEAD'), git(clone, 'tag')]).toEqual([before, ''])
  expect(git(clone, 'status', '--porcelain')).toBe('M LICENSE')
  rmSync(join(clone, '.git', 'hooks', 'pre-commit'))
  git(clone, 'config', '--unset', 'tag.gpgSign')
  git(clone, 'restore', '.')
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

test('R5: a release whose next version cannot begin is tagged, and --begin begins it', () => {
  const hook = join(clone, '.git', 'hooks', 'commit-msg')
  writeFileSync(hook, '#!/bin/sh\n! grep -q "^Begin" "$1"\n', { mode: 0o755 })
  expect(release('99.1.0', '--tested').printed).toMatch(/ run: npm run release -- --begin 99\.2\.0\n$/)
  expect([git(clone, 'status', '--porcelain'), versionOf('HEAD')]).toEqual(['', '99.1.0'])
  expect(git(clone, 'rev-parse', 'v99.1.0^{commit}')).toBe(git(clone, 'rev-parse', 'HEAD'))
  rmSync(hook)
  expect(release('--begin', '99.2.0')).toMatchObject({ exitCode: 0 })
  expect([git(clone, 'status', '--porcelain'), versionOf('HEAD')]).toEqual(['', '99.2.0'])
  expect(existsSync(join(clone, 'test', 'releases', '99.2.0.json.gz'))).toBe(true)
  expect(release('--begin', '99.3.0').printed).toContain('a version is begun.')
})
