/** The plain ledger under the same load, in a database of its own on the ledger's PostgreSQL, which is dropped afterwards. */
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cpuUsOf } from '../../support/processes/cluster-process-table.ts'
import { onDatabase } from '../load/committed.ts'
import { demandAll, HEADROOM, say, sayOddities, WARM_UP_RATE, WARM_UP_S } from '../context.ts'
import { startMeter } from '../report/cost.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import { type LoadGenerator, startLoadGenerator } from '../load/load-generator.ts'
import type { PlainScenario, RunResult } from '../load/load-messages.ts'
import { PLAIN_ACCOUNTS, PLAIN_SCHEMA } from './plain-schema.ts'

export interface PlainMeasured {
  readonly name: string
  readonly run: RunResult
  readonly perSecond: number
  /** Microseconds for each transaction. */
  readonly cpuUs: { readonly server: number; readonly postgresql: number; readonly loadGenerator: number }
  readonly cpuShare: number
  readonly othersShare: number
  readonly walBytes: number
}

const DATABASE = 'bench_plain'
const START_LIMIT_MS = 30_000

export async function measurePlain(bench: LedgerBench): Promise<readonly PlainMeasured[]> {
  const { cluster, options } = bench
  const ledgerUrl = cluster.databaseUrl()
  const url = new URL(ledgerUrl)
  url.pathname = `/${DATABASE}`
  await onDatabase(ledgerUrl, (sql) => sql`CREATE DATABASE ${sql(DATABASE)}`)
  const server = fork(fileURLToPath(new URL('plain-server.js', import.meta.url)), {
    execArgv: [],
    env: { PLAIN_DATABASE_URL: url.href, NODE_ENV: 'production' },
  })
  const load = startLoadGenerator()
  bench.onEnd(() => void server.kill('SIGKILL'))
  bench.onEnd(load.stop)
  try {
    await onDatabase(url.href, async (sql) => {
      await sql.unsafe(PLAIN_SCHEMA)
      await sql.unsafe(PLAIN_ACCOUNTS, [options.accounts])
      await sql`ANALYZE`
    })
    await load.setup(`http://127.0.0.1:${await portOf(server)}`, '', options.accounts)
    const peer: Peer = { bench, load, serverPid: server.pid ?? 0 }
    const measured = [
      await measureOne(peer, 'plain-order', 'plain: orders'),
      await measureOne(peer, 'plain-transfer', 'plain: transfers'),
    ]
    await demandBalanced(url.href, measured)
    return measured
  } finally {
    server.kill('SIGKILL')
    load.stop()
    await onDatabase(ledgerUrl, (sql) => sql`DROP DATABASE IF EXISTS ${sql(DATABASE)} WITH (FORCE)`)
  }
}

interface Peer {
  readonly bench: LedgerBench
  readonly load: LoadGenerator
  readonly serverPid: number
}

async function measureOne(
  { bench, load, serverPid }: Peer,
  scenario: PlainScenario,
  name: string,
): Promise<PlainMeasured> {
  const { connections, seconds } = bench.options
  const loop = { kind: 'closed', connections } as const
  say(`${name}: warming up ...`)
  await load.prepare(scenario, WARM_UP_S * WARM_UP_RATE)
  const warmUp = await load.run({ loop, seconds: WARM_UP_S })
  const rate = (warmUp.latency.count * 1000) / warmUp.durationMs
  await load.prepare(scenario, Math.ceil(rate * HEADROOM * seconds) + connections)
  say(`${name}: measuring for ${seconds} s ...`)
  const stopMeter = await startMeter(bench.cluster, load.pid)
  const serverBeforeUs = cpuUsOf(serverPid)
  const run = await load.run({ loop, seconds })
  const serverUs = cpuUsOf(serverPid) - serverBeforeUs
  const { cpuUs, elapsedMs, cpuShare, othersShare, walBytes } = await stopMeter()
  demandAll(run, 201)
  sayOddities(name, run)
  const serverShare = serverUs / (elapsedMs * 1000 * availableParallelism())
  const each = (amount: number): number => amount / Math.max(1, run.accepted)
  return {
    name,
    run,
    perSecond: (run.accepted * 1000) / run.durationMs,
    cpuUs: {
      server: each(serverUs),
      postgresql: each(cpuUs.postgresql),
      loadGenerator: each(cpuUs['load generator']),
    },
    cpuShare: cpuShare + serverShare,
    othersShare: Math.max(0, othersShare - serverShare),
    walBytes: each(walBytes),
  }
}

/** Every acknowledged transfer is there, with two entries that add up to nothing. */
async function demandBalanced(url: string, measured: readonly PlainMeasured[]): Promise<void> {
  const accepted = measured.reduce((sum, { run }) => sum + run.accepted, 0)
  await onDatabase(url, async (sql) => {
    const [row] = await sql<[{ transfers: number; entries: number; total: string }]>`
      SELECT (SELECT count(*)::integer FROM transfers) AS transfers, count(*)::integer AS entries, sum(amount)::text AS total
        FROM entries`
    if (row.transfers < accepted || row.entries !== 2 * row.transfers || Number(row.total) !== 0) {
      throw new Error(`the plain ledger accepted ${accepted} transfers and has ${JSON.stringify(row)}`)
    }
  })
}

function portOf(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the plain ledger did not start')), START_LIMIT_MS)
    server.once('message', (port) => {
      clearTimeout(late)
      resolve(Number(port))
    })
    server.once('exit', () => reject(new Error('the plain ledger has ended')))
  })
}
