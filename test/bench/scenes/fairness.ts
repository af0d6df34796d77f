/**
 * A calm client beside another one that sends as much as it can: what that costs the calm one. The kinds of load come
 * by turns, in several rounds, because the machine's speed changes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Holder, LedgerClient, membersOf, textOf } from '../../support/client/client.ts'
import { type Members, signed } from '../../support/client/client-keys.ts'
import { keyed } from '../../support/client/client-moves.ts'
import { say } from '../context.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import type { Scenario } from '../load/load-messages.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'
import { startHostile, stopHostile } from './hostile.ts'

export interface FairnessMeasured {
  /** Load of the other client. */
  readonly beside: string
  /** Of the calm client's orders, from the time when each was due. */
  readonly calm: Latency
  readonly calmFailed: number
  /** Orders or requests of the other client that were answered a second. */
  readonly otherPerSecond: number
}

const CALM_PER_SECOND = 20
const ROUNDS = 3
/** Orders a second that are signed beforehand for the other client. */
const MOST_PER_SECOND = 4_500
const BATCH_CONNECTIONS = 8
/** More than the edge answers. */
const REQUESTS_PER_SECOND = 2_000
/** Requests a second, and at once, of the client with a limit. */
const LIMIT = '100'

interface Load {
  /** Resolves with what was answered a second. */
  readonly end: () => Promise<number>
}

interface Calm {
  readonly latenciesMs: number[]
  failed: number
  readonly rates: number[]
}

export async function measureFairness(bench: LedgerBench): Promise<readonly FairnessMeasured[]> {
  await bench.rate.perSecond()
  const client = await LedgerClient.login(bench.cluster.origin, bench.cluster.clients.admin)
  const holder = await client.register('calm@fairness')
  const seen = new Map<string, Calm>()
  try {
    const loads = loadsOf(bench, await clientWithLimit(client), holder)
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [beside, begin] of Object.entries(loads)) {
        say(`fairness, round ${round} of ${ROUNDS}: a calm client beside ${beside} ...`)
        const calm = seen.get(beside) ?? { latenciesMs: [], failed: 0, rates: [] }
        seen.set(beside, calm)
        const load = await begin()
        await sendCalmly(calm, bench.options.seconds, () =>
          client.submit(holder, keyed({ type: 'credit', amount: '1' })),
        )
        calm.rates.push(await load.end())
      }
    }
  } finally {
    client.close()
  }
  return [...seen].map(([beside, { latenciesMs, failed, rates }]) => ({
    beside,
    calm: latencyOf(Float64Array.from(latenciesMs)),
    calmFailed: failed,
    otherPerSecond: rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
  }))
}

async function clientWithLimit(admin: LedgerClient): Promise<LedgerClient> {
  const fields = { client_id: 'limited', role: 'transactor', boundary: true, rate: LIMIT }
  const reply = await admin.post('/v1/clients', fields)
  if (reply.status !== 201) throw new Error(`a client with a limit: ${reply.status} ${reply.body}`)
  const clientSecret = textOf(membersOf(reply), 'client_secret')
  const client = await LedgerClient.login(admin.origin, { clientId: fields.client_id, clientSecret })
  client.close()
  return client
}

function loadsOf(
  bench: LedgerBench,
  limited: LedgerClient,
  holder: Holder,
): Readonly<Record<string, () => Promise<Load>>> {
  const order = signed(
    { account_id: holder.accountId, ...keyed({ type: 'credit', amount: '1' }) },
    holder.keys.privateKey,
  )
  return {
    'no other client': async () => ({ end: async () => 0 }),
    'orders of one account': () => orders(bench, 'hot', bench.options.connections),
    'orders of any account': () => orders(bench, 'random', bench.options.connections),
    'batches of 100': () => orders(bench, 'batch', BATCH_CONNECTIONS),
    'searches by amount': () =>
      requests(
        bench,
        ['/v1/transactions?amount_min=999999', '/v1/transactions?amount_max=0.5&page_size=1000'].map((path) =>
          requestOf(bench.client, `GET ${path}`),
        ),
      ),
    'a retried order, over its limit': () => requests(bench, [requestOf(limited, 'POST /v1/transactions', order)]),
  }
}

async function orders({ options, load }: LedgerBench, scenario: Scenario, connections: number): Promise<Load> {
  const { seconds } = options
  await load.prepare(scenario, (scenario === 'batch' ? MOST_PER_SECOND / 100 : MOST_PER_SECOND) * seconds)
  const running = load.run({ loop: { kind: 'closed', connections }, seconds: seconds + 1 })
  return {
    end: async () => {
      const { accepted, durationMs } = await running
      return (accepted * 1000) / durationMs
    },
  }
}

function requestOf({ origin, token }: LedgerClient, methodAndPath: string, body?: Members): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  return [
    `${methodAndPath} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    '',
    text,
  ].join('\r\n')
}

async function requests(bench: LedgerBench, sent: readonly string[]): Promise<Load> {
  const hostile = startHostile(bench, sent, REQUESTS_PER_SECOND)
  return {
    end: async () => {
      const { answered, seconds } = await stopHostile(hostile)
      return answered / seconds
    },
  }
}

/** At a constant rate, whatever becomes of the requests before. */
async function sendCalmly(
  calm: Calm,
  seconds: number,
  send: () => Promise<{ readonly status: number }>,
): Promise<void> {
  const startMs = performance.now()
  const sent: Promise<void>[] = []
  for (let number = 0; number < seconds * CALM_PER_SECOND; number += 1) {
    const dueMs = startMs + (number * 1000) / CALM_PER_SECOND
    await delay(Math.max(0, dueMs - performance.now()))
    sent.push(
      send().then(
        ({ status }) => {
          calm.latenciesMs.push(performance.now() - dueMs)
          if (status !== 202) calm.failed += 1
        },
        () => void (calm.failed += 1),
      ),
    )
  }
  await Promise.all(sent)
}
