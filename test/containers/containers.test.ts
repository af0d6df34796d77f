/**
 * infra/deploy in containers: a trial in one container, and the ledger of the compose file through an upgrade and kills.
 * The tests of a group run in their order, on one ledger.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Credentials, send } from '../support/client/client.ts'
import { projectRoot, until } from '../support/processes/cluster-process.ts'
import { freePort } from '../support/processes/free-ports.ts'
import { DeployedLoad } from './deployed-load.ts'
import { createDeployment, type Deployment, EDGES, NODES, SERVERS } from './deployment.ts'
import { Disaster } from './disaster.ts'
import { buildImage, engine, succeed } from './engine.ts'
import { previousImage } from './previous-release.ts'

/** By default the image of this checkout. */
const CURRENT = process.env['CURRENT_IMAGE'] ?? 'ledger-test:current'
const DEADLINE_MS = 180_000
const PARTS = [...NODES, ...EDGES]
const FIRST_ORDERS = `ledger account create alice bob && ledger credit alice 100.50 && ledger transfer alice bob 25 && ledger verify --account bob`

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

async function isServing(origin: string): Promise<boolean> {
  const reply = await send(origin, { method: 'GET', path: '/readyz' }).catch(() => undefined)
  return reply?.status === 200
}

beforeAll(async () => {
  if (process.env['CURRENT_IMAGE'] === undefined) await buildImage(projectRoot(), CURRENT)
})

describe('one container', () => {
  test('`ledger up` runs a whole ledger, executes orders, and stops in order', async () => {
    const port = await freePort()
    const options = ['--detach', '--init', '--read-only', '--tmpfs', '/tmp', '--publish', `127.0.0.1:${port}:8080`]
    // The volume is new: its owner is that of the image's directory.
    const container = (await engine('run', ...options, '--volume', '/data', CURRENT, 'up')).trim()
    try {
      await until('the ledger is ready', DEADLINE_MS, () => isServing(`http://127.0.0.1:${port}`))
      const printed = await engine('exec', container, 'sh', '-c', `ledger login && ${FIRST_ORDERS}`)
      expect(printed).toMatch(/^balance_after\s+75\.5$/m)
      expect(printed).toMatch(/^ok: receipt of txn_\w+: completed: credit of 25 BASE from alice to bob$/m)
      expect(await engine('exec', container, 'node', 'healthy.mjs')).toBe('')
      await engine('stop', '--time', '60', container)
      const exitCode = await engine('inspect', '--type', 'container', '--format', '{{.State.ExitCode}}', container)
      expect(exitCode.trim()).toBe('0')
    } finally {
      await engine('rm', '--force', '--volumes', container)
    }
  })
})

describe('compose.yaml', () => {
  let deployment: Deployment
  let disaster: Disaster
  let load: DeployedLoad | undefined
  let credentials: Credentials
  const opened = (): DeployedLoad => {
    if (load === undefined) throw new Error('the load was not started')
    return load
  }

  beforeAll(async () => {
    const { image, origin } = await previousImage('ledger-test:previous')
    say(`the upgrade starts from ${origin}`)
    deployment = await createDeployment(image)
    disaster = new Disaster(deployment, CURRENT)
  })

  afterAll(async () => {
    load?.close()
    await deployment.remove()
  })

  test('all parts become ready', async () => {
    await deployment.up()
    for (const origin of deployment.origins) {
      await until(`${origin} is ready`, DEADLINE_MS, () => isServing(origin))
    }
    for (const part of PARTS) expect([part, await deployment.isHealthy(part)]).toEqual([part, true])
    expect(await deployment.pid('auditor')).toBeDefined()
  })

  test('a new client executes its first transactions with the command', async () => {
    const added = await deployment.administer(
      'client',
      'add',
      '--id',
      'shop',
      '--role',
      'transactor',
      '--boundary',
      'true',
    )
    // podman-compose prints lines of its own.
    const [credentialsLine = ''] = /^\{.*\}$/m.exec(added) ?? []
    const { client_id: clientId, client_secret: clientSecret } = JSON.parse(credentialsLine) as Record<string, string>
    credentials = { clientId: clientId ?? '', clientSecret: clientSecret ?? '' }
    const home = mkdtempSync(join(tmpdir(), 'ledger-shop-'))
    try {
      writeFileSync(join(home, 'shop.json'), credentialsLine, { mode: 0o600 })
      const ledger = (...args: string[]): Promise<string> =>
        succeed(process.execPath, [join(projectRoot(), 'infra', 'main', 'ledger.mjs'), ...args], {
          XDG_CONFIG_HOME: home,
        })
      const [origin = ''] = deployment.origins
      await ledger('login', '--url', origin, '--client-id', 'shop', '--secret-file', join(home, 'shop.json'))
      await ledger('account', 'create', 'alice', 'bob')
      await ledger('credit', 'alice', '100.50')
      expect(await ledger('transfer', 'alice', 'bob', '25')).toMatch(/^balance_after\s+75\.5$/m)
      expect(await ledger('verify', '--account', 'bob')).toMatch(/^ok: receipt of /m)
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })

  test('a rolling upgrade loses no acknowledged order', async () => {
    load = await DeployedLoad.open(deployment.origins, credentials)
    load.start()
    deployment.useImage(CURRENT)
    await deployment.administer('migrate')
    for (const part of PARTS) {
      const ms = await load.through(`the upgrade of ${part}`, async () => {
        await deployment.replace(part)
        await until(`${part} is ready`, DEADLINE_MS, () => deployment.isReady(part))
      })
      say(`${part} upgraded in ${(ms / 1_000).toFixed(1)} s`)
    }
    await deployment.replace('auditor')
    const images = await Promise.all([...PARTS, 'auditor'].map((part) => deployment.imageOf(part)))
    const built = (await engine('image', 'inspect', '--format', '{{.Id}}', CURRENT)).trim().replace('sha256:', '')
    expect(images.map((image) => image.replace('sha256:', ''))).toEqual(images.map(() => built))
  })

  test('a backup begins beside the load', async () => {
    await opened().through('the base backup', () => disaster.startBackup())
    await expect.poll(() => deployment.isHealthy('backup'), { timeout: DEADLINE_MS }).toBe(true)
  })

  test.for([...PARTS, ...SERVERS, 'auditor', 'backup'])('a kill of %s loses no acknowledged order', async (service) => {
    const before = opened().acknowledged
    const ms = await opened().through(`the kill of ${service}`, () => deployment.crash(service))
    expect(opened().acknowledged).toBeGreaterThan(before)
    say(`${service} killed; new orders acknowledged at both edges within ${(ms / 1_000).toFixed(1)} s`)
  })

  test('I2, I3, I4, I6: accounts contain exactly the acknowledged orders', async () => {
    const clients = opened()
    await clients.finish()
    for (const origin of deployment.origins) {
      await until(`${origin} is ready`, DEADLINE_MS, () => isServing(origin))
    }
    expect(clients.setbacks).toBeGreaterThan(0)
    expect(await clients.faults()).toEqual([])
    say(`${clients.acknowledged} orders acknowledged, ${clients.setbacks} requests without a reply or with 503`)
  })

  test('a restored backup has every acknowledged order after the loss of the disk of PostgreSQL', async () => {
    await disaster.untilCopied()
    await disaster.loseDatabase()
    await disaster.restore()
    for (const origin of deployment.origins) {
      await until(`${origin} is ready`, DEADLINE_MS, () => isServing(origin))
    }
    expect(await opened().faults()).toEqual([])
  })

  test('NATS servers accept the certificates of each other', async () => {
    for (const server of ['nats-1', 'nats-2', 'nats-3']) {
      const lines = (await deployment.logs(server)).split('\n')
      expect(lines.some((line) => line.includes('Server is ready'))).toBe(true)
      expect(lines.filter((line) => line.includes('certificate'))).toEqual([])
    }
  })
})
