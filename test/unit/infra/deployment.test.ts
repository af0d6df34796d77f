/**
 * The deployment files agree with the ledger, nats-server and each other, as far as is visible without a container
 * engine. Every part gets only its own secrets.
 */
import { spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { missingInProduction, readConfiguration } from '../../../infra/config/configuration.ts'
import { ALLOCATOR, COLLECTOR } from '../../../infra/launcher/part-memory.ts'
import { findNatsServer } from '../../../infra/embedded/nats-server.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import { freePort } from '../../support/processes/free-ports.ts'
import { deployedNatsConfig, makeSecrets, natsEnvironment } from '../../support/nats/secured-nats.ts'
import { commandLine } from '../cli/cli-fixture.ts'

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly stop_grace_period?: string
  readonly healthcheck?: { readonly disable?: boolean }
  readonly env_file?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

const DEPLOY = join(projectRoot(), 'infra', 'deploy')
const BASE_URL = 'https://ledger.example.com'
const SERVED = /^(?:node|edge)-\d$/
const PARTS = /^(?:node-\d|edge-\d|auditor|migrate)$/
/** The longest time that `ledger` takes to stop. */
const STOP_TIMEOUT_SECONDS = 20

const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8')
// Without a default it is empty.
const filled = text.replaceAll(/\$\{BASE_URL:\?[^}]*\}/g, BASE_URL).replaceAll(/\$\{\w+(?::-)?([^}]*)\}/g, '$1')
const compose = parse(filled, { merge: true, strict: true }) as Compose
const dockerfile = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')

function services(pattern: RegExp): readonly (readonly [string, Service])[] {
  return Object.entries(compose.services).filter(([name]) => pattern.test(name))
}

/** Secrets by their path in the container. */
function mounted(service: Service): ReadonlyMap<string, string> {
  return new Map(
    (service.secrets ?? []).map((one) => (typeof one === 'string' ? [one, one] : [one.target, one.source])),
  )
}

let secrets: string
beforeAll(() => {
  secrets = makeSecrets([])
})
afterAll(() => rmSync(secrets, { recursive: true, force: true }))

describe('compose.yaml', () => {
  test.for(services(PARTS))('%s runs an existing command', async ([name, { command }]) => {
    expect(command).toHaveLength(1)
    expect(name.startsWith(command[0] ?? '?')).toBe(true)
    const { code, out } = await commandLine().run([...command, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: ledger ${command[0] ?? ''}`)
  })

  test.for(services(PARTS))('%s has a valid and complete environment for production', ([name, { environment }]) => {
    const read = readConfiguration(environment, '/')
    if (!read.ok) throw new Error(read.error.join('\n'))
    expect(read.value.warnings).toEqual([])
    const { configuration } = read.value
    expect(configuration.environment).toBe('production')
    const needed = SERVED.test(name) ? configuration : { ...configuration, nats: { ...configuration.nats, urls: [] } }
    expect(missingInProduction(needed, false)).toEqual([])
    expect([configuration.nodeId, configuration.nats.replicas]).toEqual(
      SERVED.test(name) ? [name, 3] : [undefined, name === 'auditor' ? 1 : 3],
    )
  })

  test.for(services(PARTS))(
    '%s logs in as its own role, verifies the server by TLS, and has no secret in its environment',
    ([name, { environment }]) => {
      const role = name === 'migrate' ? 'owner' : name.replace(/-\d$/, '')
      const url = new URL(environment['LEDGER_DATABASE_URL'] ?? '')
      expect([url.username, url.password, url.hostname]).toEqual([`ledger_${role}`, '', 'postgres'])
      expect(url.searchParams.get('sslmode')).toBe('verify-full')
      expect(environment['NODE_EXTRA_CA_CERTS']).toBe('/run/secrets/ca.pem')
      for (const value of Object.values(environment)) expect(value).not.toMatch(/:\/\/[^/]*:[^/]*@/)
    },
  )

  test('every part is given its own secrets and no others', () => {
    const given = Object.fromEntries(
      services(/./).map(([name, service]) => [name, [...mounted(service).values()].sort()]),
    )
    const served = (role: string) => ['ca.pem', `ledger_${role}.password`, `nats-${role}.nk`, `part-${role}.key`]
    const nats = (number: number) => ['ca.pem', `nats-${number}.key`, `nats-${number}.pem`]
    const roles = ['auditor', 'backup', 'edge', 'node', 'owner'].map((role) => `ledger_${role}.password`)
    expect(given).toEqual({
      'node-1': served('node'),
      'node-2': served('node'),
      'node-3': served('node'),
      'edge-1': served('edge'),
      'edge-2': served('edge'),
      'nats-1': nats(1),
      'nats-2': nats(2),
      'nats-3': nats(3),
      auditor: ['ca.pem', 'ledger_auditor.password', 'part-auditor.key'],
      migrate: ['ca.pem', 'ledger_owner.password', 'master.key'],
      postgres: [...roles, 'postgres.key', 'postgres.pem', 'superuser.password'],
    })
  })

  test.for(services(/./))('%s finds every secret that its environment names', ([, service]) => {
    const named = Object.values(service.environment).filter((value) => /^\/run\/secrets\/./.test(value))
    expect(named.filter((path) => !mounted(service).has(path.slice('/run/secrets/'.length)))).toEqual([])
  })

  test('make-secrets.mjs creates every secret, and no service gets the key of the authority', () => {
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect(file).toBe(`./secrets/${name}`)
      expect(existsSync(join(secrets, name))).toBe(true)
    }
    const used = services(/./).flatMap(([, service]) => [...mounted(service).values()])
    expect([...new Set(used)].sort()).toEqual(Object.keys(compose.secrets).sort())
    expect(used).not.toContain('ca.key')
    for (const [, { env_file: files = [] }] of services(/./)) {
      for (const file of files) {
        expect(file).toMatch(/^\.\/secrets\//)
        expect(existsSync(join(secrets, file.replace('./secrets/', '')))).toBe(true)
      }
    }
  })

  test.for(services(/./))('%s mounts existing files', ([, { volumes = [] }]) => {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':')
      expect(source.startsWith('./') ? existsSync(join(DEPLOY, source)) : Object.hasOwn(compose.volumes, source)).toBe(
        true,
      )
    }
  })

  test('every dependency exists and has a fitting condition; no service depends on a healthy NATS server', () => {
    const conditionOf = (name: string): string => {
      if (name === 'migrate') return 'service_completed_successfully'
      return name.startsWith('nats-') ? 'service_started' : 'service_healthy'
    }
    for (const [, { depends_on: needs = {} }] of services(/./)) {
      for (const [name, { condition }] of Object.entries(needs)) {
        const needed = compose.services[name]
        expect(needed).toBeDefined()
        expect([name, condition]).toEqual([name, conditionOf(name)])
        // A service that only runs to its end has no health check.
        expect(needed?.healthcheck?.disable ?? false).toBe(name === 'migrate')
      }
    }
  })

  test('each part that runs on has a health check, and the variable of the port that the check asks', () => {
    for (const [name, { healthcheck, environment }] of services(PARTS)) {
      expect([name, healthcheck?.disable ?? false]).toEqual([name, name === 'migrate'])
      expect(environment['LEDGER_METRICS_PORT']).toBe('9090')
    }
  })

  test('only edges are on a network with external access, and they are published on the loopback address', () => {
    expect(compose.networks['inside']?.internal).toBe(true)
    for (const [name, { networks, ports = [] }] of services(/./)) {
      expect(networks).toEqual(name.startsWith('edge-') ? ['inside', 'outside'] : ['inside'])
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:8080$/)
    }
  })

  test('every image is pinned, and every part has enough time to stop in order', () => {
    for (const [, { image }] of services(/./)) expect(image).toMatch(/^[a-z]+:\d+\.\d+[\w.-]*$/)
    for (const [, { stop_grace_period: grace = '' }] of services(PARTS)) {
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(STOP_TIMEOUT_SECONDS)
    }
    const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
      readonly version: string
    }
    for (const [, { image }] of services(PARTS)) expect(image).toBe(`ledger:${version}`)
  })

  test.for(services(/^nats-/))('%s advertises an address that its certificate names', ([name, service]) => {
    const { NATS_ROUTE_ADVERTISE: advertised, NATS_CLUSTER_PORT: port } = service.environment
    expect(advertised).toBe(`${name}:${port ?? ''}`)
    const certificate = new X509Certificate(readFileSync(join(secrets, `${name}.pem`)))
    expect(certificate.checkHost(name)).toBe(name)
    expect(readFileSync(deployedNatsConfig(), 'utf8')).toMatch(
      /^cluster \{[^{]*\n {2}advertise: \$NATS_ROUTE_ADVERTISE\n/m,
    )
  })

  test('example.env has exactly the variables that the operator sets', () => {
    const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
    const shown = [...readFileSync(join(DEPLOY, 'example.env'), 'utf8').matchAll(/^#?(\w+)=/gm)].map(([, name]) => name)
    expect(new Set(shown)).toEqual(new Set(asked))
    // podman-compose 1.0 does not replace a variable with an empty default.
    expect(text).not.toContain(':-}')
    expect(shown).toHaveLength(new Set(asked).size)
  })

  test.for(services(/^nats-/))(
    'nats-server accepts the configuration of %s',
    async ([name, { environment, volumes = [] }]) => {
      expect(volumes).toContain('./nats/nats.conf:/etc/nats/nats.conf:ro')
      const made = natsEnvironment(secrets, name)
      for (const [variable, file] of Object.entries(environment).filter(([, value]) =>
        value.startsWith('/run/secrets/'),
      )) {
        expect(made[variable]).toBe(join(secrets, file.slice('/run/secrets/'.length).replace('nats.', `${name}.`)))
      }
      const check = spawnSync(await findNatsServer(), ['-t', '-c', deployedNatsConfig()], {
        env: { ...environment, ...made },
      })
      expect(check.stderr.toString()).toContain('is valid')
      expect(check.status).toBe(0)
    },
  )

  test('nats-server does not accept it without its secrets', async () => {
    const env = { ...compose.services['nats-1']?.environment }
    expect(spawnSync(await findNatsServer(), ['-t', '-c', deployedNatsConfig()], { env }).status).not.toBe(0)
  })
})

describe('Dockerfile', () => {
  const stages = dockerfile.split(/^FROM /m).slice(1)
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--chmod=\d+ )?(.*) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  )

  test('has each guide that an edge serves', () => {
    const guides = [
      ...readFileSync(join(projectRoot(), 'api', 'docs', 'guides.ts'), 'utf8').matchAll(/\bfile: '([^']+)'/g),
    ].map(([, file = '']) => file)
    expect(guides.length).toBeGreaterThan(10)
    const [, copy = ''] = /^RUN mkdir guides && (cp --parents .*) guides$/m.exec(dockerfile) ?? []
    const image = mkdtempSync(join(tmpdir(), 'ledger-guides-'))
    onTestFinished(() => rmSync(image, { recursive: true, force: true }))
    const { status } = spawnSync('sh', ['-c', `${copy} "$0"`, image], { cwd: projectRoot() })
    expect(status).toBe(0)
    expect(guides.filter((file) => !existsSync(join(image, file)))).toEqual([])
    const ignored = readFileSync(join(DEPLOY, 'Dockerfile.dockerignore'), 'utf8').split('\n')
    const ofDeploy = guides.filter((file) => file.startsWith('infra/deploy/'))
    expect(ofDeploy.filter((file) => !ignored.includes(`!${file}`))).toEqual([])
  })

  test('copies existing files that .dockerignore does not exclude', () => {
    expect(copied.length).toBeGreaterThan(0)
    const ignored = readFileSync(join(DEPLOY, 'Dockerfile.dockerignore'), 'utf8').split('\n')
    for (const path of copied) {
      expect(existsSync(join(projectRoot(), path))).toBe(true)
      expect(ignored).toContain(`!${path}`)
    }
    // The secrets beside it must not be in a layer.
    expect(ignored.indexOf('infra/deploy/*')).toBeGreaterThan(ignored.indexOf('!infra'))
    expect(ignored.filter((line) => /^!.*secrets/.test(line))).toEqual([])
  })

  test('builds on pinned images, and runs the build as its own user', () => {
    const bases = [...dockerfile.matchAll(/^ARG (\w+)=(.*)$/gm)].map(([, name, image]) => [name, image])
    expect(bases).toEqual([
      ['NODE_IMAGE', expect.stringMatching(/^node:\d+\.\d+\.\d+-bookworm-slim$/)],
      ['NATS_IMAGE', compose.services['nats-1']?.image],
    ])
    expect(stages.map((stage) => stage.split(/\s/)[0])).toEqual(['${NATS_IMAGE}', '${NODE_IMAGE}', '${NODE_IMAGE}'])
    const last = stages.at(-1) ?? ''
    expect(last).toContain('\nUSER node\n')
    expect(last).toContain('\nSTOPSIGNAL SIGTERM\n')
    expect(last).toContain('\nHEALTHCHECK ')
    expect(last).not.toMatch(/^RUN /m)
    expect(last).toContain('\nENTRYPOINT ["ledger"]\n')
    const command = readFileSync(join(DEPLOY, 'ledger.sh'), 'utf8')
    const [, options = '', entry = ''] = /^exec node (.*) \/ledger\/dist\/(.*)\.js "\$@"$/m.exec(command) ?? []
    expect(options).toBe(COLLECTOR.join(' '))
    const [, allocator = ''] = /^ENV (MALLOC.*)$/m.exec(last) ?? []
    expect(allocator).toBe(
      Object.entries(ALLOCATOR)
        .map((pair) => pair.join('='))
        .join(' '),
    )
    expect(existsSync(join(projectRoot(), `${entry}.ts`))).toBe(true)
    const scripts = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
      readonly scripts: Record<string, string>
    }
    expect(dockerfile).toContain('RUN npm run build\n')
    expect(scripts.scripts['build']).toMatch(/^tsc -p tsconfig\.build\.json( |$)/)
  })
})

describe('healthy.mjs', () => {
  const check = (env: Record<string, string>, ...args: string[]): Promise<number | null> =>
    new Promise((resolve) => {
      spawn(process.execPath, [join(DEPLOY, 'healthy.mjs'), ...args], { env }).once('close', resolve)
    })

  test('exits with 0 if /healthz of an edge or a node is 200, and with 1 otherwise or without a reply', async () => {
    let status = 200
    const asked: (string | undefined)[] = []
    const server = createServer((request, reply) => {
      asked.push(request.url)
      reply.writeHead(status).end()
    })
    const port = String(await freePort())
    await new Promise<void>((resolve) => void server.listen(Number(port), '127.0.0.1', resolve))
    expect(await check({ LEDGER_PORT: port, LEDGER_METRICS_PORT: '1' })).toBe(0)
    expect(await check({ LEDGER_METRICS_PORT: port })).toBe(0)
    status = 503
    expect(await check({ LEDGER_PORT: port })).toBe(1)
    expect(await check({ LEDGER_METRICS_PORT: port }, '--ready')).toBe(1)
    expect(asked).toEqual(['/healthz', '/healthz', '/healthz', '/readyz'])
    await new Promise((resolve) => void server.close(resolve))
    expect(await check({ LEDGER_PORT: port })).toBe(1)
  })
})

describe('make-secrets.mjs', () => {
  const contents = () =>
    Object.fromEntries(readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), 'utf8')]))
  const run = () => spawnSync(process.execPath, [join(DEPLOY, 'make-secrets.mjs'), secrets])

  test('M1, M2: a second run changes nothing, and prints nothing secret', () => {
    const before = contents()
    const { status, stdout, stderr } = run()
    expect(status).toBe(0)
    expect(contents()).toEqual(before)
    const printed = `${stdout.toString()}${stderr.toString()}`
    expect(printed).toContain('master.key')
    const kept = Object.entries(before).filter(([name]) => /\.(?:password|nk|key)$/.test(name))
    expect(kept.length).toBeGreaterThan(0)
    for (const [, content] of kept) expect(printed).not.toContain(content.trim())
  })

  test('M1: a run creates removed files again', () => {
    const before = contents()
    for (const name of ['nats-edge.nk', 'nats-2.pem']) rmSync(join(secrets, name))
    expect(run().status).toBe(0)
    const after = contents()
    const changed = Object.keys(after).filter((name) => after[name] !== before[name])
    expect(changed.sort()).toEqual(['nats-2.key', 'nats-2.pem', 'nats-edge.nk', 'nats.env'])
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort())
  })

  test('M3: other users cannot read the directory, nor the key of the authority', () => {
    expect(statSync(secrets).mode & 0o777).toBe(0o700)
    expect(statSync(join(secrets, 'ca.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(secrets, 'ledger_node.password')).mode & 0o777).toBe(0o444)
  })

  test('its files are ignored by git', () => {
    expect(readFileSync(join(DEPLOY, '.gitignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['secrets/', '.env']),
    )
  })
})
