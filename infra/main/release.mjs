/**
 * `npm run release -- VERSION`: makes a release of this checkout. Nothing is pushed.
 *   R1. The tree is clean, the version is not older than that of package.json, and no tag has its name.
 *   R2. The tests pass, or passed elsewhere (`--tested`). Afterwards the tree is clean, and HEAD is the tested commit.
 *   R3. One commit has the version everywhere, the date in the changelog, and a ledger of this version in test/releases.
 *       The tag is on it.
 *   R4. The next commit begins the following version, so that no later change counts as released. `--begin` does it alone.
 *   R5. A failure before the tag undoes what the release wrote. A failure after the tag undoes R4, and prints how to go on.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PreparationFailed, prepare, root, run, runNpm, say } from './prepare.mjs'
import {
  closeChangelog,
  continueFormats,
  disagreements,
  latest,
  openChangelog,
  packageVersion,
  VERSION_FILES,
  writeVersion,
} from './version-places.mjs'

const USAGE = `Usage: npm run release -- VERSION [--tested] [--next VERSION]
       npm run release -- --begin VERSION
       npm run release -- --check

Makes a release: runs npm test, writes the version and the date, adds a ledger of this version to test/releases, commits
and tags. Then it begins the next version. Nothing is pushed.

  --tested         the tests of this commit passed elsewhere: do not run them
  --next VERSION   the version to begin (default: the next minor version)
  --begin VERSION  only begin VERSION, after a release that could not
  --check          only check that all files have the version of package.json
`
const DUMP = 'test/integration/postgres/releases.test.ts'
const WRITTEN = [...VERSION_FILES, 'test/releases']

class Usage extends Error {}

function dumpOf(version) {
  return join('test', 'releases', `${version}.json.gz`)
}

function parsed(args) {
  const options = { version: undefined, tested: false, next: undefined, begin: undefined, check: false }
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--tested') options.tested = true
    else if (args[at] === '--check') options.check = true
    else if (args[at] === '--next') options.next = args[(at += 1)]
    else if (args[at] === '--begin') options.begin = args[(at += 1)] ?? ''
    else if (options.version === undefined && !args[at].startsWith('-')) options.version = args[at]
    else throw new Usage(`unknown argument ${args[at]}`)
  }
  return options
}

/** Major, minor and patch. */
function numbersOf(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Usage(`a version is MAJOR.MINOR.PATCH, not ${version}`)
  return version.split('.').map(Number)
}

function isOlder(version, other) {
  const [one, two] = [numbersOf(version), numbersOf(other)]
  const place = one.findIndex((number, at) => number !== two[at])
  return place !== -1 && one[place] < two[place]
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function refuse(reason) {
  throw new PreparationFailed(`No release was made: ${reason}`)
}

function checkPlaces() {
  const wrong = disagreements(root)
  if (wrong.length > 0) throw new PreparationFailed(wrong.join('\n'))
}

function checkClean() {
  if (git('status', '--porcelain') !== '') refuse('the checkout has changes that are not committed.')
}

/** R1. Returns the commit of the checkout. */
function checkStart(version, next) {
  checkClean()
  if (isOlder(version, packageVersion(root)))
    refuse(`${version} is older than ${packageVersion(root)} of package.json.`)
  if (!isOlder(version, next)) refuse(`${next} does not follow ${version}.`)
  if (git('tag', '--list', `v${version}`) !== '') refuse(`the tag v${version} exists.`)
  if (latest(root).isReleased) refuse('CHANGELOG.md has no section "unreleased".')
  checkPlaces()
  return git('rev-parse', 'HEAD')
}

function checkHead(commit) {
  if (git('rev-parse', 'HEAD') !== commit) refuse(`HEAD moved away from ${commit} meanwhile.`)
}

/** Adds a ledger of the current version to test/releases, then opens those of all releases. */
async function writeLedger() {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  process.env['LEDGER_WRITE_RELEASE'] = '1'
  await run(process.execPath, [vitest, 'run', '--reporter=dot', DUMP])
  delete process.env['LEDGER_WRITE_RELEASE']
  const dump = dumpOf(packageVersion(root))
  if (!existsSync(join(root, dump))) refuse(`${dump} was not written.`)
}

/** Only the files that a release writes, whatever else was changed or staged meanwhile. */
function commit(message) {
  git('add', '--', ...WRITTEN)
  git('commit', '--quiet', '--message', message, '--', ...WRITTEN)
}

/** R5. Changes of other files stay. */
async function orRestore(work, advice) {
  try {
    await work()
  } catch (error) {
    git('add', '--', ...WRITTEN)
    git('restore', '--source=HEAD', '--staged', '--worktree', '--', ...WRITTEN)
    throw new PreparationFailed(`${error.message}\n${advice}`, error.exitCode)
  }
}

/** R3. */
async function writeRelease(version, start, tested) {
  // That of a version that is never released.
  if (packageVersion(root) !== version) rmSync(join(root, dumpOf(packageVersion(root))), { force: true })
  writeVersion(root, version)
  continueFormats(root, version)
  await writeLedger()
  closeChangelog(root, version, new Date().toISOString().slice(0, 10))
  checkPlaces()
  checkHead(start)
  commit(`Release ${version}`)
  const tests = tested ? 'Its tests passed elsewhere.' : 'npm test passed before.'
  try {
    git('tag', '--annotate', `v${version}`, '--message', `Release ${version}\n\n${tests}`)
  } catch (error) {
    git('reset', '--quiet', '--soft', start)
    throw error
  }
}

/** R4. */
async function begin(version) {
  writeVersion(root, version)
  continueFormats(root, version)
  openChangelog(root, version)
  await writeLedger()
  checkPlaces()
  commit(`Begin version ${version}`)
}

async function beginAlone(version) {
  checkClean()
  if (!latest(root).isReleased) refuse('CHANGELOG.md has a section "unreleased": a version is begun.')
  if (!isOlder(packageVersion(root), version)) refuse(`${version} does not follow ${packageVersion(root)}.`)
  await prepare()
  await orRestore(() => begin(version), `${version} is not begun, and the checkout is as before.`)
  say(`${version} is begun.`)
}

async function release({ version, tested, next }) {
  const [major, minor] = numbersOf(version)
  const following = next ?? `${major}.${minor + 1}.0`
  const start = checkStart(version, following)
  await prepare()
  if (!tested) await runNpm(['test'])
  checkHead(start)
  checkClean()
  await orRestore(() => writeRelease(version, start, tested), 'No release was made, and the checkout is as before.')
  await orRestore(
    () => begin(following),
    `v${version} is tagged, but ${following} is not begun. Remove the cause, then run: npm run release -- --begin ${following}`,
  )
  say(
    `v${version} is tagged, and ${following} begun. To publish: git push --follow-tags; build the image from the tag.`,
  )
}

try {
  const options = parsed(process.argv.slice(2))
  if (options.check) checkPlaces()
  else if (options.begin !== undefined) await beginAlone(options.begin)
  else if (options.version === undefined) throw new Usage('a version is missing')
  else await release(options)
} catch (error) {
  say(
    error instanceof PreparationFailed
      ? error.message
      : error instanceof Usage
        ? `${error.message}\n\n${USAGE}`
        : `${error?.stack ?? error}`,
  )
  process.exitCode = error instanceof Usage ? 2 : (error?.exitCode ?? 1)
}
