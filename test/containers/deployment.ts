/** A ledger of infra/deploy/compose.yaml in containers: a copy of the folder, with secrets and settings of its own. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { projectRoot, until } from '../support/processes/cluster-process.ts'
import { freePort } from '../support/processes/free-ports.ts'
import { baseImage, compose, engine, execute, succeed } from './engine.ts'

export const NODES = ['node-1', 'node-2', 'node-3'] as const
export const EDGES = ['edge-1', 'edge-2'] as const
export const SERVERS = ['nats-1', 'nats-2', 'nats-3', 'postgres'] as const

const DEADLINE_MS = 180_000
/** More than the compose file gives a part. */
const STOP_SECONDS = '40'
const READY = `fetch('http://127.0.0.1:9090/readyz').then(({status}) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))`

export interface Deployment {
  readonly directory: string
  /** The name before those of its containers, volumes and networks. */
  readonly project: string
  /** Of each edge. */
  readonly origins: readonly string[]
  readonly up: (...services: string[]) => Promise<void>
  /** Starts the service of backup.yaml, which reads secrets/backup.pub. */
  readonly startBackup: () => Promise<void>
  /** The standard output of a shell command in the container of a service. */
  readonly inside: (service: string, command: string) => Promise<string>
  /** A command of administrators, as the owner of the database. Its standard output. */
  readonly administer: (...args: string[]) => Promise<string>
  /** The image of parts that start from now on. */
  readonly useImage: (tag: string) => void
  /** Ends every process of the container, as a crash does. */
  readonly crash: (service: string) => Promise<void>
  /** Stops the container in order and starts one with the current image. */
  readonly replace: (service: string) => Promise<void>
  /** Stops the container in order and removes it. */
  readonly discard: (service: string) => Promise<void>
  /** Resolves once PostgreSQL accepts connections. */
  readonly untilDatabase: () => Promise<void>
  /** Of the container's first process; undefined if it does not run. */
  readonly pid: (service: string) => Promise<number | undefined>
  /** That of the container's image. */
  readonly imageOf: (service: string) => Promise<string>
  readonly logs: (service: string) => Promise<string>
  /** A node or an edge replies 200 at /readyz. */
  readonly isReady: (service: string) => Promise<boolean>
  /** The health check of the container. */
  readonly isHealthy: (service: string) => Promise<boolean>
  readonly remove: () => Promise<void>
}

export async function createDeployment(image: string): Promise<Deployment> {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-containers-'))
  const project = basename(directory).toLowerCase()
  cpSync(join(projectRoot(), 'infra', 'deploy'), directory, { recursive: true })
  rmSync(join(directory, 'secrets'), { recursive: true, force: true })
  await succeed(process.execPath, [
    join(projectRoot(), 'infra', 'deploy', 'make-secrets.mjs'),
    join(directory, 'secrets'),
  ])
  const ports = [await freePort(), await freePort()]
  const settings = await settingsOf(directory, ports)
  let current = image
  const writeSettings = (): void =>
    writeFileSync(join(directory, '.env'), `${settings.join('\n')}\nLEDGER_IMAGE=${current}\n`)
  writeSettings()

  const run = (...args: string[]): Promise<string> => compose(directory, project, ['compose.yaml'], args)
  const runWithBackup = (...args: string[]): Promise<string> =>
    compose(directory, project, ['compose.yaml', 'backup.yaml'], args)
  const containerOf = async (service: string): Promise<string> => {
    const filters = [
      `label=com.docker.compose.project=${project}`,
      `label=com.docker.compose.service=${service}`,
    ].flatMap((filter) => ['--filter', filter])
    const [id] = (await engine('ps', '--all', '--quiet', ...filters)).trim().split('\n')
    if (id === undefined || id === '') throw new Error(`there is no container of ${service}`)
    return id
  }
  const inspect = async (service: string, field: string): Promise<string> =>
    (await engine('inspect', '--type', 'container', '--format', `{{${field}}}`, await containerOf(service))).trim()
  const pid = async (service: string): Promise<number | undefined> => {
    const found = Number(await inspect(service, '.State.Pid'))
    return found === 0 ? undefined : found
  }
  const succeeds = async (service: string, ...command: string[]): Promise<boolean> =>
    (await execute(process.env['CONTAINER_ENGINE'] ?? '', ['exec', await containerOf(service), ...command]))
      .exitCode === 0
  const up = async (...services: string[]): Promise<void> =>
    void (await run('up', '--detach', '--no-build', '--no-deps', ...services))
  const discard = async (service: string): Promise<void> => {
    const container = await containerOf(service)
    await engine('stop', '--time', STOP_SECONDS, container)
    const exitCode = await inspect(service, '.State.ExitCode')
    if (exitCode !== '0') throw new Error(`${service} stopped with exit code ${exitCode}`)
    await engine('rm', container)
  }
  return {
    directory,
    project,
    origins: ports.map((port) => `http://127.0.0.1:${port}`),
    up,
    startBackup: async () => void (await runWithBackup('up', '--detach', '--no-build', '--no-deps', 'backup')),
    inside: async (service, command) => engine('exec', await containerOf(service), 'sh', '-c', command),
    administer: (...args) => run('run', '--rm', '-T', '--no-deps', 'migrate', ...args),
    useImage: (tag) => {
      current = tag
      writeSettings()
    },
    crash: async (service) => {
      const victim = await pid(service)
      if (victim === undefined) throw new Error(`${service} does not run`)
      process.kill(victim, 'SIGKILL')
      await until(`${service} runs again`, DEADLINE_MS, async () => {
        const now = await pid(service)
        return now !== undefined && now !== victim
      })
    },
    replace: async (service) => {
      await discard(service)
      await up(service)
    },
    discard,
    untilDatabase: () =>
      until('PostgreSQL accepts connections', DEADLINE_MS, () => succeeds('postgres', 'pg_isready', '-h', '127.0.0.1')),
    pid,
    imageOf: (service) => inspect(service, '.Image'),
    logs: async (service) => {
      const { stdout, stderr } = await execute(process.env['CONTAINER_ENGINE'] ?? '', [
        'logs',
        await containerOf(service),
      ])
      return `${stdout}${stderr}`
    },
    isReady: (service) => succeeds(service, 'node', '-e', READY),
    isHealthy: async (service) =>
      succeeds(service, ...checkOf(await inspect(service, 'json .Config.Healthcheck.Test'))),
    remove: async () => {
      await runWithBackup('down', '--volumes')
      // podman-compose leaves the networks, and a volume that it did not create.
      for (const kind of ['volume', 'network'] as const) {
        for (const left of await lines(kind, 'ls', '--quiet', '--filter', `name=${project}_`))
          await engine(kind, 'rm', left)
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function lines(...args: string[]): Promise<readonly string[]> {
  return (await engine(...args)).split('\n').filter((line) => line !== '')
}

/** The command of a health check, which is `["CMD", program, ...]` or `["CMD-SHELL", command]`. */
function checkOf(test: string): readonly string[] {
  const [kind, ...command] = JSON.parse(test) as string[]
  return kind === 'CMD-SHELL' ? ['sh', '-c', ...command] : command
}

/** example.env, with other addresses and base images. */
async function settingsOf(directory: string, ports: readonly number[]): Promise<readonly string[]> {
  const values: Readonly<Record<string, string | undefined>> = {
    WITNESSES: '',
    EDGE_1_ADDRESS: `127.0.0.1:${ports[0]}`,
    EDGE_2_ADDRESS: `127.0.0.1:${ports[1]}`,
    NATS_IMAGE: await baseImage('nats'),
    POSTGRES_IMAGE: await baseImage('postgres'),
  }
  const example = readFileSync(join(directory, 'example.env'), 'utf8')
  return [...example.matchAll(/^(#?)(\w+)=(.*)$/gm)].flatMap(([, comment, name = '', value = '']) => {
    const chosen = values[name] ?? (comment === '' ? value : undefined)
    return chosen === undefined ? [] : [`${name}=${chosen}`]
  })
}
