/**
 * What `npm start`, `npm test` and `npm run bench` run: makes the checkout ready, then does the work.
 * Arguments after the verb are passed on. Exit codes are those of the work.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BENCH, dist, prepare, PreparationFailed, root, run, runNpm, say } from './prepare.mjs'

const VERBS = { start, test, bench }

async function start(args) {
  const { main } = await built('infra/main/ledger.js')
  return main(['up', ...args])
}

/** Tests wait for most of their time, checks never do: side by side both take little more than the tests alone. */
async function test(args) {
  const { findNatsServer } = await built('infra/embedded/nats-server.js')
  await findNatsServer(say)
  const ends = await Promise.allSettled([
    runNpm(['run', '--silent', 'check']),
    run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], 1),
  ])
  const [failed, ...others] = ends.filter(({ status }) => status === 'rejected').map(({ reason }) => reason)
  for (const { message } of others) say(message)
  if (failed !== undefined) throw failed
  return 0
}

async function bench(args) {
  const { main } = await built('test/bench/main.js')
  return main(args)
}

/**
 * npm passes signals on to the shell that it runs scripts in, and a shell that ends by one takes nobody with it. Where
 * that shell was not replaced by this process, its end is taken for the signal.
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
