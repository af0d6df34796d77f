/**
 * `npm run test:quick`: what a minute shows of a change. Types, the linter and the format of the changed files, the tests
 * that need no server, and a few seeds of the simulation. Arguments are passed on to vitest.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PreparationFailed, prepare, root, run, say } from '../infra/main/prepare.mjs'

const SEEDS = 8
const CHECKED = /^(?:actors|api|infra|runtime|test)\/.*\.(?:ts|mjs)$/

/** Files changed since the last commit; if there are none, files that it changed. Throws without Git. */
function changedFiles() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const since = (commit) => git('diff', '--name-only', '--diff-filter=d', commit)
  const changed = [...since('HEAD'), ...git('ls-files', '--others', '--exclude-standard')].filter(isChecked)
  return changed.length > 0 ? changed : since('HEAD~1').filter(isChecked)
}

function knownChanges() {
  try {
    return changedFiles()
  } catch {
    say('Git names no changed files here: the linter and the format are left out. npm run check covers all files.')
    return []
  }
}

function isChecked(file) {
  return CHECKED.test(file) && existsSync(join(root, file))
}

function program(name) {
  return join(root, 'node_modules', '.bin', name)
}

async function timed(what, work) {
  const beganMs = performance.now()
  await work()
  say(`${what}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`)
}

async function simulate() {
  await run(program('tsc'), ['-p', 'test/simulation'])
  await run(process.execPath, ['dist/test/simulation/main.js', '--seeds', String(SEEDS), '--workers', '1'], 'ignore')
}

async function main(args) {
  await prepare()
  await timed('types', () => run(program('tsc'), ['--noEmit']))
  const files = knownChanges()
  if (files.length > 0) {
    await timed(`linter, format and spelling of ${files.length} changed files`, async () => {
      await run(program('oxlint'), ['--type-aware', '--deny-warnings', ...files])
      await run(program('oxfmt'), ['--check', ...files])
      await run(program('cspell'), ['lint', '--config', 'test/cspell.json', '--no-progress', '--quiet', ...files])
    })
  }
  const vitest = ['run', '--mode', 'quick', '--reporter=minimal', ...args]
  const ended = await Promise.allSettled([
    timed(`${SEEDS} seeds`, simulate),
    timed('tests', () => run(program('vitest'), vitest)),
  ])
  for (const { status, reason } of ended) if (status === 'rejected') throw reason
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  say(error instanceof PreparationFailed ? error.message : `${error?.stack ?? error}`)
  process.exitCode = error?.exitCode ?? 1
}
