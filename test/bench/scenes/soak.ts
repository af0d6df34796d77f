/**
 * Half of the maximal load, for a long time, to more accounts than a node keeps in memory: its memory must stay
 * bounded. Two load generators take turns, so that the next submissions are signed while others are sent.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { LedgerClient } from '../../support/client/client.ts'
import { removeData } from '../../support/processes/cluster-process.ts'
import { freePorts } from '../../support/processes/free-ports.ts'
import { NODE_DEFAULTS } from '../../../runtime/node/ledger-node.ts'
import { startKept } from '../bench-cluster.ts'
import { countTransactions } from '../load/committed.ts'
import { openLoopAt, say, sayOddities } from '../context.ts'
import { type Begun, interruptible } from '../load/interruptible.ts'
import { createClosedLoopRate } from '../ledger-bench.ts'
import { type LoadGenerator, startLoadGenerator } from '../load/load-generator.ts'
import type { RunResult } from '../load/load-messages.ts'
import { loadedDirectory } from '../loaded-directory.ts'
import { thisMachine } from '../report/machine.ts'
import type { BenchOptions } from '../options.ts'
import { writeReport } from '../report/report-json.ts'
import { renderSoak } from '../report/report.ts'
import { readProcessSample, type ProcessSample, type WatchedProcess } from './soak-samples.ts'
import { judge, type SoakVerdict } from './soak-verdict.ts'

export interface SoakReport {
  readonly minutes: number
  readonly accounts: number
  readonly offeredPerSecond: number
  /** A node's limit of resident actors for each shard, and the number of shards. */
  readonly actorsPerShard: number
  readonly shards: number
  readonly samples: readonly SoakSample[]
  readonly verdict: SoakVerdict
}

/** Of one run, sampled at its end. */
export interface SoakSample {
  /** Since the soak began. */
  readonly atMs: number
  readonly appliedPerSecond: number
  /** Latencies begin when a submission was due. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly statuses: RunResult['statuses']
  readonly processes: readonly ProcessSample[]
  /** Connections of clients to PostgreSQL, without the one that counts. */
  readonly databaseConnections: number
}

const LOAD_SHARE = 0.5
/** Share of the accounts in memory: the others are evicted and loaded again. */
const RESIDENT_SHARE = 0.5
/** Share of the time for warming up: a ledger that has just started reaches less than half of its maximal rate. */
const WARM_UP_SHARE = 0.05
const SHARDS = 256
const RUN_S = 10
/** For a short soak: each quarter must contain some samples. */
const LEAST_RUNS = 16
/** So that signing is spread over the measured time. */
const SIGNING_STEPS = 10
/** Runs. */
const SAY_EVERY = 6

/** The exit code: 1 if memory grows, or exceeds its bound. */
export function measureSoak(options: BenchOptions, minutes: number): Promise<number> {
  return interruptible(async (begun) => {
    const parent = options.growthDir ?? mkdtempSync(join(tmpdir(), 'ledger-soak-'))
    if (options.growthDir === undefined) begun.onEnd(() => rmSync(parent, { recursive: true, force: true }))
    const size = { accounts: options.accounts, transactionsEach: 1 }
    const { dataDir, accounts } = await loadedDirectory(size, parent, begun)
    if (options.growthDir === undefined) begun.onEnd(() => removeData(dataDir))
    const actorsPerShard = Math.max(
      1,
      Math.min(NODE_DEFAULTS.maxResidents, Math.floor((options.accounts * RESIDENT_SHARE) / SHARDS)),
    )
    const { nodes, edges } = options
    const [port = 0] = await freePorts(edges + nodes + 1)
    say(`Starting the ledger, whose nodes keep ${actorsPerShard} actors of each shard ...`)
    const env = { LEDGER_ACTORS_PER_SHARD: String(actorsPerShard), LEDGER_METRICS_PORT: String(port) }
    const cluster = await begun.started(startKept(dataDir, { nodes, edges, env }))
    const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    begun.onEnd(() => client.close())
    const loads = [startLoadGenerator(), startLoadGenerator()] as const
    for (const load of loads) {
      begun.onEnd(load.stop)
      await load.setup(cluster.origin, client.token, options.accounts, accounts)
    }
    const closed = await createClosedLoopRate(loads[0], options.connections, minutes * 60 * WARM_UP_SHARE).perSecond()
    const perSecond = Math.max(1, Math.round(closed * LOAD_SHARE))
    const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
    begun.onEnd(() => sql.end())
    const seconds = Math.min(RUN_S, (minutes * 60) / LEAST_RUNS)
    say(`Soaking: ${perSecond} submissions a second for ${minutes} minutes, a look every ${seconds.toFixed(1)} s ...`)
    const samples = await soak({
      ...begun,
      client,
      sql,
      loads,
      perSecond,
      seconds,
      minutes,
      watched: watchedAt(port, options),
    })
    const verdict = judge(samples, actorsPerShard)
    const report: SoakReport = {
      minutes,
      accounts: options.accounts,
      offeredPerSecond: perSecond,
      actorsPerShard,
      shards: SHARDS,
      samples,
      verdict,
    }
    process.stdout.write(renderSoak(report))
    writeReport(options.json, { kind: 'soak', machine: thisMachine(), ...report })
    return verdict.passed ? 0 : 1
  })
}

/** `ledger up` gives ports to edges first, then to nodes. */
function watchedAt(firstPort: number, { nodes, edges }: BenchOptions): readonly WatchedProcess[] {
  return Array.from({ length: edges + nodes }, (_, index) => ({
    kind: index < edges ? 'edge' : 'node',
    name: index < edges ? `edge-${index + 1}` : `node-${index - edges + 1}`,
    url: `http://127.0.0.1:${firstPort + index}/metrics`,
  }))
}

interface Soaking extends Pick<Begun, 'interrupted'> {
  readonly client: LedgerClient
  readonly sql: postgres.Sql
  readonly loads: readonly [LoadGenerator, LoadGenerator]
  readonly perSecond: number
  readonly seconds: number
  readonly minutes: number
  readonly watched: readonly WatchedProcess[]
}

async function soak(soaking: Soaking): Promise<readonly SoakSample[]> {
  const { interrupted, loads, perSecond, seconds, minutes } = soaking
  const runs = Math.ceil((minutes * 60) / seconds)
  const submissions = Math.ceil(perSecond * seconds)
  const look = await startLooking(soaking)
  const samples: SoakSample[] = []
  await loads[0].prepare('random', submissions)
  let looking: Promise<void> | undefined
  for (let number = 0; number < runs; number += 1) {
    interrupted.throwIfAborted()
    const [sending, signing] = number % 2 === 0 ? loads : ([loads[1], loads[0]] as const)
    const running = sending.run({ loop: openLoopAt(perSecond), seconds })
    const [run] = await Promise.all([running, signInSteps(signing, submissions), looking])
    sayOddities(`soak, run ${number + 1}`, { ...run, ranDry: false })
    // While the next run goes on.
    looking = look(run).then((sample) => {
      samples.push(sample)
      if (number % SAY_EVERY === 0) say(lineOf(sample))
    })
  }
  await looking
  return samples
}

async function signInSteps(load: LoadGenerator, submissions: number): Promise<void> {
  for (let step = 1; step <= SIGNING_STEPS; step += 1) {
    await load.prepare('random', Math.ceil((submissions * step) / SIGNING_STEPS))
  }
}

/** Each sample covers about the time since the previous one. */
async function startLooking({ client, sql, watched }: Soaking): Promise<(run: RunResult) => Promise<SoakSample>> {
  const beganMs = performance.now()
  let before = { completed: (await countTransactions(client)).completed, atMs: beganMs }
  return async ({ latency, statuses }) => {
    const since = before
    before = { completed: (await countTransactions(client)).completed, atMs: performance.now() }
    const { p50Ms, p99Ms, maxMs } = latency
    const [row] = await sql<[{ connections: number }]>`
      SELECT count(*)::integer AS connections FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()`
    return {
      atMs: before.atMs - beganMs,
      appliedPerSecond: ((before.completed - since.completed) * 1000) / (before.atMs - since.atMs),
      p50Ms,
      p99Ms,
      maxMs,
      statuses,
      processes: await Promise.all(watched.map((each) => readProcessSample(each))),
      databaseConnections: row.connections,
    }
  }
}

function lineOf(sample: SoakSample): string {
  const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0)
  const memory = sample.processes.map(({ name, residentBytes }) => `${name} ${mebibytes(residentBytes)} MiB`).join(', ')
  return `${(sample.atMs / 60_000).toFixed(1)} min: ${sample.appliedPerSecond.toFixed(0)} a second, p99 ${sample.p99Ms.toFixed(0)} ms, ${memory}`
}
