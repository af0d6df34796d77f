/** Runs podman or docker, whichever `CONTAINER_ENGINE` names. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../infra/embedded/programs.ts'
import { projectRoot } from '../support/processes/cluster-process.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const LARGEST_OUTPUT_BYTES = 64 * 1_048_576
/** Longer than a build or a start takes; ends a command that hangs. */
const COMMAND_TIMEOUT_MS = 600_000

/** Resolves with any exit code. `input`: its standard input. */
export function execute(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
): Promise<Ran> {
  const options = {
    cwd: projectRoot(),
    env: { ...process.env, ...env },
    maxBuffer: LARGEST_OUTPUT_BYTES,
    timeout: COMMAND_TIMEOUT_MS,
  }
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (child.exitCode === null) reject(error ?? new Error(`${program} was ended by a signal`))
      else resolve({ exitCode: child.exitCode, stdout, stderr })
    })
    child.stdin?.end(input)
  })
}

/** The standard output. Throws with the end of the output at an exit code other than 0. */
export async function succeed(...[program, args, env, input]: Parameters<typeof execute>): Promise<string> {
  const { exitCode, stdout, stderr } = await execute(program, args, env, input)
  if (exitCode === 0) return stdout
  const end = `${stdout}\n${stderr}`.trim().split('\n').slice(-30).join('\n')
  throw new Error(`${[program, ...args].join(' ')}: exit code ${exitCode}\n${end}`)
}

function engineName(): string {
  const name = process.env['CONTAINER_ENGINE']
  if (name === undefined) throw new Error('run these tests by npm run test:containers')
  return name
}

export function engine(...args: string[]): Promise<string> {
  return succeed(engineName(), args)
}

export function engineWithInput(input: string, ...args: string[]): Promise<string> {
  return succeed(engineName(), args, {}, input)
}

/** `podman-compose`, or the plugin of the engine. */
export function compose(
  directory: string,
  project: string,
  files: readonly string[],
  args: readonly string[],
): Promise<string> {
  const isSeparate = engineName() === 'podman' && findProgram('podman-compose') !== undefined
  const [program, first] = isSeparate ? ['podman-compose', []] : [engineName(), ['compose']]
  const named = files.flatMap((file) => ['-f', join(directory, file)])
  return succeed(program, [...first, '-p', project, ...named, ...args])
}

/**
 * Base images: the variable, else the stand-in of base-images/make.sh, else undefined, which is the default of
 * infra/deploy.
 */
export async function baseImage(name: 'node' | 'nats' | 'postgres'): Promise<string | undefined> {
  const given = process.env[`${name.toUpperCase()}_IMAGE`]
  if (given !== undefined) return given
  const standIn = `localhost/ledger-base/${name}`
  const { exitCode } = await execute(engineName(), ['image', 'inspect', standIn])
  return exitCode === 0 ? standIn : undefined
}

/** Builds the image of a checkout. An earlier checkout may lack a Dockerfile with these arguments. */
export async function buildImage(checkout: string, tag: string): Promise<void> {
  const args: string[] = []
  for (const name of ['node', 'nats'] as const) {
    const image = await baseImage(name)
    if (image !== undefined) args.push('--build-arg', `${name.toUpperCase()}_IMAGE=${image}`)
  }
  const dockerfile = join(checkout, 'infra', 'deploy', 'Dockerfile')
  if (!existsSync(dockerfile)) throw new Error(`${dockerfile} is missing`)
  // podman drops the health check from its own format.
  const format = engineName() === 'podman' ? ['--format', 'docker'] : []
  await engine('build', ...format, '--network=host', ...args, '--file', dockerfile, '--tag', tag, checkout)
}
