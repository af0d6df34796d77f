/** The guide's rights of the publisher suffice, and the guide's reader reads. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPageTokens } from '../../api/http/page-token.ts'
import { findNatsServer } from '../../infra/embedded/nats-server.ts'
import { connectNats, type NatsLink } from '../../infra/nats/connection.ts'
import { EventPublisher } from '../../infra/publisher/event-publisher.ts'
import { createEventStream } from '../../infra/publisher/event-stream-nats.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { SILENT_LOG } from '../support/nats/nats.ts'
import { projectRoot } from '../support/processes/cluster-process.ts'
import { freePort } from '../support/processes/free-ports.ts'
import { accountEvent, createFakeEvents } from '../unit/api/fakes/fake-events.ts'
import { createRecipient } from '../unit/portability/export-scene.ts'

const PREFIX = 'events'
const RIGHTS = `{
  publish: { allow: [ "${PREFIX}.>", "$JS.API.STREAM.INFO.${PREFIX}", "$JS.API.STREAM.CREATE.${PREFIX}", "$JS.API.STREAM.MSG.GET.${PREFIX}" ] }
  subscribe: { allow: [ "_INBOX_PUBLISHER.>" ] }
}`

/** Below the root, so that the guide's reader finds its packages. */
const directory = (() => {
  const dist = join(projectRoot(), 'dist')
  mkdirSync(dist, { recursive: true })
  return mkdtempSync(join(dist, '.reader-'))
})()
const { key: recipient, privateKey } = createRecipient()

let server: ChildProcess
let port: number
const links: NatsLink[] = []
const errors: unknown[] = []

beforeAll(async () => {
  port = await freePort()
  const users = [`{ user: publisher, password: p, permissions: ${RIGHTS} }`, '{ user: books, password: p }']
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(join(directory, 'store'))} }`,
    `accounts { READERS: { jetstream: enabled, users: [ ${users.join(', ')} ] } }`,
  ]
  writeFileSync(join(directory, 'nats.conf'), lines.join('\n'))
  server = spawn(await findNatsServer(), ['-c', join(directory, 'nats.conf')], { stdio: 'ignore' })
})

afterAll(async () => {
  await Promise.all(links.map((link) => link.close()))
  const closed = once(server, 'close')
  server.kill('SIGKILL')
  await closed
  rmSync(directory, { recursive: true, force: true })
})

async function linkOf(user: string): Promise<NatsLink> {
  const link = await connectNats({
    urls: [`nats://${user}:p@127.0.0.1:${port}`],
    name: user,
    inboxPrefix: `_INBOX_${user.toUpperCase()}`,
    log: { ...SILENT_LOG, error: (event, fields) => void errors.push([event, fields]) },
  })
  links.push(link)
  return link
}

/** The guide's code, with the files of this test. */
function startReader() {
  const guide = readFileSync(join(projectRoot(), 'api', 'README.md'), 'utf8')
  const [, code = ''] = /### JetStream[\s\S]*?```javascript\n([\s\S]*?)```/.exec(guide) ?? []
  expect(code).toContain('compactDecrypt')
  const path = join(directory, 'reader.mjs')
  writeFileSync(path, code)
  writeFileSync(join(directory, 'reader.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return spawn(process.execPath, [path], {
    cwd: directory,
    env: { ...process.env, NATS_SERVER: `127.0.0.1:${port}`, NATS_USER: 'books', NATS_PASSWORD: 'p' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function linesOf(output: Readable, count: number): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of createInterface(output)) {
    lines.push(line)
    if (lines.length === count) break
  }
  return lines
}

test('a publisher with the rights of the guide publishes, and the reader of the guide reads', async () => {
  const events = createFakeEvents()
  for (const id of ['alice', 'bob', 'carol']) events.log.push(accountEvent(events.log, id))
  const tokens = createPageTokens(randomBytes(32))
  const stream = createEventStream(await linkOf('publisher'), { prefix: PREFIX, replicas: 1, tokens })
  const publisher = new EventPublisher({
    events,
    stream,
    ledgerId: 'ledger-1',
    prefix: PREFIX,
    recipient,
    restart: false,
    clock: createSystemClock(),
    log: SILENT_LOG,
  })
  void publisher.run()
  const manager = await (await linkOf('books')).connection.jetstreamManager()
  await expect.poll(async () => (await manager.streams.info(PREFIX).catch(() => undefined))?.state.last_seq).toBe(3)
  await publisher.stop()
  const reader = startReader()
  const read = await linesOf(reader.stdout, 3)
  const closed = once(reader, 'close')
  reader.kill()
  await closed
  expect(read).toEqual(events.log.map(({ id, subject }) => `${id} ledger.account.registered.v1 ${subject}`))
  expect(errors).toEqual([])
})
