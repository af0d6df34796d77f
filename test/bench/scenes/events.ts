/** Orders at a constant rate beside readers of events: the lag of each, and the cost of an order. */
import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LedgerClient, membersOf, textOf } from '../../support/client/client.ts'
import { type EventReader, readStream, receiveWebhook } from '../../support/client/event-readers.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import { say } from '../context.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import { memoryByPart } from '../report/part-memory.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'
import { measureOpenLoopAt, type OpenMeasured } from './open-submissions.ts'

export interface EventsMeasured {
  readonly readers: string
  readonly orders: OpenMeasured
  /** From the decision of an order, before its commit, until its event arrived; null: nothing was read. */
  readonly lag: Latency | null
  /** Memory of the edge above that without readers. */
  readonly edgeBytes: number
}

const ORDERS_PER_SECOND = 1_000
const IDLE_STREAMS = 1_000
/** Each client may have 100. */
const STREAMS_OF_CLIENT = 100

interface Readers {
  readonly lagsMs: () => readonly number[]
  readonly stop: () => Promise<void>
}

export async function measureEvents(bench: LedgerBench): Promise<readonly EventsMeasured[]> {
  await bench.rate.perSecond()
  const without = memoryByPart(bench.cluster).edge
  const scenes: readonly (readonly [string, () => Promise<Readers>])[] = [
    ['none', async () => ({ lagsMs: () => [], stop: async () => undefined })],
    ['a stream', () => streamOf(bench)],
    ['a webhook', () => webhookOf(bench)],
    [`${IDLE_STREAMS} streams of other accounts`, () => idleStreamsOf(bench)],
  ]
  const measured: EventsMeasured[] = []
  for (const [name, open] of scenes) {
    const readers = await open()
    try {
      const orders = await measureOpenLoopAt(bench, ORDERS_PER_SECOND, name)
      const lagsMs = Float64Array.from(readers.lagsMs())
      const lag = lagsMs.length === 0 ? null : latencyOf(lagsMs)
      measured.push({ readers: name, orders, lag, edgeBytes: memoryByPart(bench.cluster).edge - without })
    } finally {
      await readers.stop()
    }
  }
  return measured
}

function lagsOf({ seen, stop }: EventReader): Readers {
  return { lagsMs: () => seen.map(({ lagMs }) => lagMs), stop }
}

async function streamOf({ client }: LedgerBench): Promise<Readers> {
  const { next_cursor: end } = membersOf(await client.get('/v1/events?after=latest'))
  return lagsOf(readStream([client], String(end)))
}

async function webhookOf({ client }: LedgerBench): Promise<Readers> {
  const reader = await receiveWebhook(client)
  return { ...lagsOf(reader), stop: () => reader.remove().then(reader.stop) }
}

async function idleStreamsOf({ cluster }: LedgerBench): Promise<Readers> {
  say(`opening ${IDLE_STREAMS} streams ...`)
  const closing: (() => void)[] = []
  for (let opened = 0; opened < IDLE_STREAMS; opened += STREAMS_OF_CLIENT) {
    const client = await LedgerClient.login(cluster.origin, await newClient(cluster.dataDir, `streams-${opened}`))
    const numbers = Array.from({ length: STREAMS_OF_CLIENT }, (_, index) => opened + index)
    closing.push(...(await Promise.all(numbers.map((number) => idleStream(client, number)))))
  }
  return {
    lagsMs: () => [],
    stop: async () => {
      for (const close of closing) close()
    },
  }
}

async function newClient(dataDir: string, clientId: string) {
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const args = [program, 'client', 'add', '--id', clientId, '--role', 'viewer']
  const added = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, LEDGER_DATA_DIR: dataDir },
  })
  const made = JSON.parse(added.stdout) as Readonly<Record<string, string>>
  return { clientId, clientSecret: textOf(made, 'client_secret') }
}

/** Resolves once the stream is open, to what closes it. */
function idleStream(client: LedgerClient, number: number): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const url = new URL(`/v1/events?after=latest&account_id=idle-${number}`, client.origin)
    const headers = { ...client.authorization(), accept: 'text/event-stream' }
    const sent = request(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was refused: ${String(response.statusCode)}`))
      response.on('error', () => undefined)
      response.once('data', () => resolve(() => sent.destroy()))
      response.resume()
    })
    sent.on('error', reject)
    sent.end()
  })
}
