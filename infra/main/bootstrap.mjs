/**
 * Runs `npm start`, `npm test`, `npm run test:full` and `npm run bench`: prepares the checkout, then runs the command.
 * Arguments after the verb are passed on. The exit code is that of the command.
 */
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BENCH, dist, prepare, PreparationFailed, root, run, runNpm, say } from './prepare.mjs'

const VERBS = { start, test, 'test:full': fullTest, bench }

async function start(args) {
  const { main } = await built('infra/main/ledger.js')
  return main(['up', ...args])
}

/** Runs checks beside the tests at low priority, because tests mostly wait and checks never do. */
async function test(args, mode = []) {
  const { findNatsServer } = await built('infra/embedded/nats-server.js')
  await findNatsServer(say)
  // Arguments after these override them.
  const workers = args.length === 0 ? [] : ['--maxWorkers=3']
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const [checked, tested] = await Promise.allSettled([
    check(),
    run(process.execPath, [vitest, 'run', ...mode, ...workers, ...args], 1),
  ])
  if (tested.status === 'rejected') {
    if (checked.status === 'rejected') say(checked.reason.message)
    throw tested.reason
  }
  if (checked.status === 'rejected') throw checked.reason
  return 0
}

/** Adds the long tests (vitest.config.ts) and, without arguments, those in containers. */
async function fullTest(args) {
  await test(args, ['--mode', 'full'])
  if (args.length > 0) return 0
  const { findEngine, testContainers } = await import(pathToFileURL(join(root, 'test', 'containers', 'main.mjs')).href)
  const engine = findEngine()
  if (engine === undefined)
    say('Without podman or docker the tests in containers did not run (npm run test:containers).')
  else await testContainers(engine)
  return 0
}

/** Collects the output, to print it after that of the tests. */
async function check() {
  let output = ''
  const collect = (child) => {
    setPriority(child.pid, constants.priority.PRIORITY_LOW)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  }
  try {
    await runNpm(['run', '--silent', 'check'], 'pipe', collect)
  } catch (error) {
    throw error instanceof PreparationFailed
      ? new PreparationFailed(`${output}${error.message}`, error.exitCode)
      : error
  }
}

async function bench(args) {
  const { main } = await built('test/bench/main.js')
  return main(args)
}

/**
 * npm sends signals to the shell of the script, and a shell that ends by a signal does not pass it on. So if this process
 * has not replaced that shell, the end of the shell counts as the signal.
 */
function followShell() {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

function built(path) {
  return import(pathToFileURL(join(dist, path)).href)
}

const [verb = '', ...args] = process.argv.slice(2)
const work = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
if (work === undefined) {
  say(`Usage: node infra/main/bootstrap.mjs ${Object.keys(VERBS).join('|')} [arguments]`)
  process.exitCode = 2
} else {
  try {
    followShell()
    await prepare(verb === 'bench' ? BENCH : undefined)
    process.exitCode = await work(args)
  } catch (error) {
    say(error instanceof PreparationFailed ? error.message : `${error?.stack ?? error}`)
    process.exitCode = error instanceof PreparationFailed ? error.exitCode : 1
  }
}
