/** The deployed NATS configuration permits the acts of each role and refuses others. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Events } from 'nats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectNats, type NatsLink } from '../../../infra/nats/connection.ts'
import type { BucketOptions } from '../../../infra/nats/bucket.ts'
import { createNatsHints, createNatsLeaseStore } from '../../../infra/nats/lease-store-nats.ts'
import { USAGE_SUBJECT } from '../../../infra/nats/usage-exchange-nats.ts'
import { createNatsTransport } from '../../../infra/nats/transport-nats.ts'
import type { ShardHint } from '../../../runtime/ports/lease-store.ts'
import type { Log, LogFields } from '../../../runtime/ports/log.ts'
import { NOT_DELIVERED, type NotDelivered } from '../../../runtime/ports/transport.ts'
import { controlSubject, deliverySubject, sessionSubject } from '../../../runtime/protocol/messages.ts'
import { SILENT_LOG } from '../../support/nats/nats.ts'
import { until } from '../../support/nats/nats-until.ts'
import { PLAIN_BODIES } from '../../support/nats/plain-bodies.ts'
import { type NatsRole, type SecuredNats, startSecuredNats } from '../../support/nats/secured-nats.ts'

const SESSION = 'a'.repeat(32)
const LEDGER: BucketOptions = { ledgerId: 'contract', replicas: 1, storage: 'file' }
const NODES_BUCKET = 'ledger_contract_nodes'
const SHARDS_BUCKET = 'ledger_contract_shards'
const HINT: ShardHint = { shardId: 3, nodeId: 'node-1', session: SESSION, epoch: 7 }

let nats: SecuredNats
beforeAll(async () => {
  nats = await startSecuredNats(1)
})
afterAll(() => nats.close())

function theServer() {
  const [server] = nats.servers
  if (server === undefined) throw new Error('no server was started')
  return server
}

/** The client logs error messages of the server. */
function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  const write = (event: string, fields?: LogFields): void => void lines.push(`${event} ${JSON.stringify(fields ?? {})}`)
  return { lines, info: write, warn: write, error: write }
}

const REFUSED = 'PERMISSIONS_VIOLATION'

/** The refusals of an act that the server sends. */
async function refusals(role: NatsRole, act: (link: NatsLink) => void): Promise<readonly string[]> {
  const said: string[] = []
  const link = await nats.connect(role, SILENT_LOG)
  const follow = async (): Promise<void> => {
    for await (const { type, data } of link.connection.status()) {
      if (type === Events.Error) said.push(String(data))
    }
  }
  void follow()
  act(link)
  // The server replies in order: a refusal precedes the reply to this ping.
  await link.connection.flush()
  await link.close()
  return said
}

function publishing(subject: string, reply?: string): (link: NatsLink) => void {
  return ({ connection }) => connection.publish(subject, Buffer.from('{}'), reply === undefined ? {} : { reply })
}

function listening(subject: string): (link: NatsLink) => void {
  return ({ connection }) => void connection.subscribe(subject, { callback: () => undefined })
}

const EDGE_MAY_NOT: readonly (readonly [string, (link: NatsLink) => void])[] = [
  ['write a lease', publishing(`$KV.${NODES_BUCKET}.node-1`)],
  ['write a hint', publishing(`$KV.${SHARDS_BUCKET}.3`)],
  ['send a node deliveries', publishing(deliverySubject(SESSION))],
  ['send a node control messages', publishing(controlSubject(SESSION))],
  ['reply in place of a node', publishing('_INBOX_EDGE.another.1')],
  ['reply to a node', publishing('_INBOX_NODE.another.1')],
  ['make a bucket', publishing(`$JS.API.STREAM.CREATE.KV_${SHARDS_BUCKET}`)],
  ['change a bucket', publishing(`$JS.API.STREAM.UPDATE.KV_${SHARDS_BUCKET}`)],
  ['remove a bucket', publishing(`$JS.API.STREAM.DELETE.KV_${SHARDS_BUCKET}`)],
  ['empty a bucket', publishing(`$JS.API.STREAM.PURGE.KV_${SHARDS_BUCKET}`)],
  [
    'have JetStream reply to another subject',
    publishing(`$JS.API.STREAM.MSG.GET.KV_${SHARDS_BUCKET}`, deliverySubject(SESSION)),
  ],
  ['make a consumer', publishing(`$JS.API.CONSUMER.CREATE.KV_${SHARDS_BUCKET}`)],
  ['publish to another subject', publishing('anything.else')],
  ['read the messages to all nodes', listening('ledger.node.>')],
  ['read the messages to one node', listening(sessionSubject(SESSION))],
  ['read deliveries', listening(deliverySubject(SESSION))],
  ['read replies to nodes', listening('_INBOX_NODE.>')],
  ['read every inbox', listening('*.>')],
  ['read all subjects', listening('>')],
  ['read requests to JetStream', listening('$JS.API.>')],
  ['read the system account', listening('$SYS.>')],
]

const NODE_MAY_NOT: readonly (readonly [string, (link: NatsLink) => void])[] = [
  ['send a node requests, as edges do', publishing(sessionSubject(SESSION))],
  ['tell edges about usage', publishing(USAGE_SUBJECT)],
  ['read replies to edges', listening('_INBOX_EDGE.>')],
  ['read all subjects', listening('>')],
  ['change a bucket', publishing(`$JS.API.STREAM.UPDATE.KV_${SHARDS_BUCKET}`)],
  ['remove a bucket', publishing(`$JS.API.STREAM.DELETE.KV_${SHARDS_BUCKET}`)],
  ['empty a bucket', publishing(`$JS.API.STREAM.PURGE.KV_${SHARDS_BUCKET}`)],
  ['make a consumer', publishing(`$JS.API.CONSUMER.CREATE.KV_${SHARDS_BUCKET}`)],
  ['publish to another subject', publishing('anything.else')],
]

const MAY: readonly (readonly [NatsRole, string, (link: NatsLink) => void])[] = [
  ['edge', 'send a node requests', publishing(sessionSubject(SESSION))],
  ['edge', 'read its replies', listening('_INBOX_EDGE.mine.*')],
  ['edge', 'read hints', listening(`$KV.${SHARDS_BUCKET}.*`)],
  ['edge', 'tell other edges about usage', publishing(USAGE_SUBJECT)],
  ['edge', 'read what other edges tell', listening(USAGE_SUBJECT)],
  ['node', 'send deliveries', publishing(deliverySubject(SESSION))],
  ['node', 'send another node control messages', publishing(controlSubject(SESSION))],
  ['node', 'read its messages', listening(sessionSubject(SESSION))],
]

describe('the server', () => {
  test.for(EDGE_MAY_NOT)('refuses an edge to %s', async ([, act]) => {
    expect(await refusals('edge', act)).toEqual([REFUSED])
  })

  test.for(NODE_MAY_NOT)('refuses a node to %s', async ([, act]) => {
    expect(await refusals('node', act)).toEqual([REFUSED])
  })

  test.for(MAY)('permits the %s to %s', async ([role, , act]) => {
    expect(await refusals(role, act)).toEqual([])
  })

  test('refuses a client without credentials, and one with a password', async () => {
    const tls = { caFile: join(nats.secrets, 'ca.pem') }
    const { port } = theServer()
    for (const address of [`tls://127.0.0.1:${port}`, `tls://ledger:password@127.0.0.1:${port}`]) {
      const refused = connectNats({ urls: [address], tls, name: 'x', inboxPrefix: '_INBOX_X', log: SILENT_LOG })
      await expect(refused).rejects.toThrow('AUTHORIZATION_VIOLATION')
    }
  })
})

describe('with the credentials of the roles', () => {
  test('an edge reads the hints that nodes write until it stops its watch', async () => {
    const log = recordingLog()
    const [edge, node] = await Promise.all([nats.connect('edge', log), nats.connect('node', SILENT_LOG)])
    const heard: ShardHint[] = []
    const watch = createNatsHints(edge, log, LEDGER.ledgerId).watchHints((hint) => heard.push(hint))
    await edge.connection.flush()
    const leases = createNatsLeaseStore(node, SILENT_LOG, LEDGER)
    await leases.hint(HINT)
    await until(() => heard.length > 0)
    watch.stop()
    await leases.hint({ ...HINT, epoch: 8 })
    for (const link of [node, edge, edge]) await link.connection.flush()
    expect(heard).toEqual([HINT])
    expect(log.lines).toEqual([])
  })

  test('T3: a node sends no reply to a subject that an edge may not write', async () => {
    const [edge, node, watcher] = await Promise.all(
      (['edge', 'node', 'node'] as const).map((role) => nats.connect(role, SILENT_LOG)),
    )
    if (edge === undefined || node === undefined || watcher === undefined) throw new Error('not connected')
    const wrong: string[] = []
    for (const subject of [`$KV.${SHARDS_BUCKET}.*`, controlSubject('b'.repeat(32))]) {
      watcher.connection.subscribe(subject, { callback: (_error, { subject: at }) => void wrong.push(at) })
    }
    const asked: string[] = []
    createNatsTransport(node, SILENT_LOG, { bodies: PLAIN_BODIES }).serve(sessionSubject(SESSION), (message, reply) => {
      asked.push(message)
      reply('an answer')
    })
    for (const link of [watcher, node]) await link.connection.flush()
    for (const reply of [`$KV.${SHARDS_BUCKET}.3`, controlSubject('b'.repeat(32))])
      publishing(sessionSubject(SESSION), reply)(edge)
    const replies: (string | NotDelivered)[] = []
    createNatsTransport(edge, SILENT_LOG, { bodies: PLAIN_BODIES }).request(
      sessionSubject(SESSION),
      'last',
      180_000,
      (reply) => replies.push(reply),
    )
    await until(() => replies.length > 0)
    await watcher.connection.flush()
    expect(asked).toEqual(['{}', '{}', 'last'])
    expect(replies).toEqual(['an answer'])
    expect(replies).not.toContain(NOT_DELIVERED)
    expect(wrong).toEqual([])
  })

  test('the log of the server contains no seed', () => {
    const seeds = ['node', 'edge'].map((role) => readFileSync(join(nats.secrets, `nats-${role}.nk`), 'utf8').trim())
    const logged = theServer().logLines().join('\n')
    expect(logged).not.toBe('')
    for (const seed of seeds) expect(logged).not.toContain(seed)
  })
})
