/**
 * `npm run test:containers`: builds the image of infra/deploy and runs its compose file with podman or docker. Arguments are
 * passed on to vitest. Without a container engine it fails; `npm run test:full` then leaves it out.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PreparationFailed, prepare, root, run, say } from '../../infra/main/prepare.mjs'

const ENGINES = ['podman', 'docker']

/** The name of the first engine that replies. A client without its service does not count. */
export function findEngine() {
  return ENGINES.find((engine) => spawnSync(engine, ['info'], { stdio: 'ignore' }).status === 0)
}

export async function testContainers(engine, args = []) {
  await prepare()
  process.env['CONTAINER_ENGINE'] = engine
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  // The tests continue from each other.
  await run(process.execPath, [vitest, 'run', '--mode', 'containers', '--bail', '1', ...args])
}

async function main(args) {
  const engine = findEngine()
  if (engine === undefined) {
    throw new PreparationFailed(
      `Neither ${ENGINES.join(' nor ')} runs here. Install one, with podman-compose or the compose plugin of docker, and start its service.`,
    )
  }
  await testContainers(engine, args)
}

if (process.argv[1] === import.meta.filename) {
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    say(error instanceof PreparationFailed ? error.message : `${error?.stack ?? error}`)
    process.exitCode = error?.exitCode ?? 1
  }
}
