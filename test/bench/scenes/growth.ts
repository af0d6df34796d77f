/**
 * The ledger's performance by size: for each size a ledger is loaded, started and measured like the other measurements,
 * and compared with the first.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, removeData } from '../../support/processes/cluster-process.ts'
import { LedgerClient } from '../../support/client/client.ts'
import { startKept } from '../bench-cluster.ts'
import { onDatabase } from '../load/committed.ts'
import { say } from '../context.ts'
import { type GrowthSize } from './growth-sizes.ts'
import { type Begun, Interrupted, interruptible } from '../load/interruptible.ts'
import { createClosedLoopRate, type LedgerBench } from '../ledger-bench.ts'
import { startLoadGenerator } from '../load/load-generator.ts'
import { type LoadedDirectory, loadedDirectory } from '../loaded-directory.ts'
import { thisMachine } from '../report/machine.ts'
import { measure, type Measured } from './measure.ts'
import type { BenchOptions } from '../options.ts'
import { type MemoryByPart, memoryByPart } from '../report/part-memory.ts'
import { measureQueries, type QueriesMeasured, type Query } from './queries.ts'
import { renderGrowth } from '../report/report.ts'
import { writeReport } from '../report/report-json.ts'
import { measureTakeover, type TakeoverMeasured } from './takeover.ts'

export interface GrowthMeasured extends GrowthSize {
  /** In the ledger before the measurements. */
  readonly transactions: number
  /** null: it was loaded before. */
  readonly loadedMs: number | null
  /** From the start until every edge was ready. */
  readonly readyMs: number
  /**
   * From then until the auditor had checked all value. It does so once after the start, then rests for ten times as
   * long.
   */
  readonly auditorAtRestMs: number
  readonly memoryAtStart: MemoryByPart
  /** After submissions and queries. */
  readonly memoryAfter: MemoryByPart
  /** To any account. Most accounts of a large ledger are not in memory. */
  readonly submissions: Measured
  /** To a few accounts, which are in memory. */
  readonly toFew: Measured
  readonly queries: QueriesMeasured
  /** After submissions. */
  readonly disk: DiskUse
  /** null: it failed. */
  readonly takeover: TakeoverMeasured | null
  /** Failed measurements and their reasons: a failed query is omitted. */
  readonly failures: readonly { readonly what: string; readonly message: string }[]
}

/** A ledger's memory, independent of its size. */
const FEW_ACCOUNTS = 1_000

export interface DiskUse {
  readonly databaseBytes: number
  /** Of the resident accounts. */
  readonly logBytes: number
}

/** The exit code. Measurements before a failed size are still reported. */
export async function measureGrowth(options: BenchOptions): Promise<number> {
  const [startedAt, beganMs] = [new Date().toISOString(), performance.now()]
  const kept = options.growthDir
  const parent = kept ?? mkdtempSync(join(tmpdir(), 'ledger-growth-'))
  const sizes: GrowthMeasured[] = []
  let failure: string | null = null
  for (const [index, size] of options.growth.entries()) {
    say(`\n[${index + 1} of ${options.growth.length}] ${size.accounts} accounts`)
    try {
      sizes.push(await measureSize(options, size, parent, kept !== undefined))
    } catch (error) {
      if (error instanceof Interrupted) throw error
      failure = `${size.accounts} accounts: ${error instanceof Error ? error.message : String(error)}`
      break
    }
  }
  if (sizes.length > 0) process.stdout.write(renderGrowth(sizes))
  if (failure !== null) say(failure)
  if (kept === undefined) rmSync(parent, { recursive: true, force: true })
  const durationMs = performance.now() - beganMs
  writeReport(options.json, { kind: 'growth', machine: thisMachine(), startedAt, durationMs, sizes, failure })
  return failure === null && sizes.every(({ failures }) => failures.length === 0) ? 0 : 1
}

function measureSize(options: BenchOptions, size: GrowthSize, parent: string, keeps: boolean): Promise<GrowthMeasured> {
  return interruptible(async (begun) => {
    const directory = await loadedDirectory(size, parent, begun)
    // Clean-up runs in reverse order.
    if (!keeps) begun.onEnd(() => removeData(directory.dataDir))
    return measureLoaded(options, size, directory, begun)
  })
}

async function measureLoaded(
  given: BenchOptions,
  size: GrowthSize,
  { dataDir, accounts, loadedMs }: LoadedDirectory,
  begun: Begun,
): Promise<GrowthMeasured> {
  const options = { ...given, accounts: size.accounts }
  say('Starting the ledger ...')
  const cluster = await begun.started(startKept(dataDir, { nodes: options.nodes, edges: options.edges }))
  const memoryAtStart = memoryByPart(cluster)
  say('Waiting for the auditor to rest ...')
  const auditorAtRestMs = await untilAuditorRests(cluster, begun)
  say('Waiting until the log has all entries ...')
  await untilLogged(cluster.databaseUrl(), begun)
  const load = startLoadGenerator()
  begun.onEnd(load.stop)
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  begun.onEnd(() => client.close())
  const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
  begun.onEnd(() => admin.close())
  const transactions = Number((await client.read('/v1/transactions?page_size=1'))['total_count'])
  await load.setup(cluster.origin, client.token, size.accounts, accounts)
  const bench: LedgerBench = {
    ...begun,
    options,
    cluster,
    client,
    load,
    rate: createClosedLoopRate(load, options.connections),
  }
  const submissions = await measure(bench, 'random', `${size.accounts} accounts`)
  bench.rate.note(submissions.appliedPerSecond)
  const few = Math.min(FEW_ACCOUNTS, size.accounts)
  await load.setup(cluster.origin, client.token, few, accounts)
  const toFew = await measure({ ...bench, options: { ...options, accounts: few } }, 'random', `${few} of them`)
  await load.setup(cluster.origin, client.token, size.accounts, accounts)
  const failures: GrowthMeasured['failures'][number][] = []
  const onFailure = (what: string, cause: unknown): void => {
    const message = cause instanceof Error ? cause.message : String(cause)
    say(`${what} failed: ${message}`)
    failures.push({ what, message })
  }
  const queries = await measureQueries(bench, { others: otherLists(admin), toTheEnd: false, onFailure })
  const [memoryAfter, disk] = [memoryByPart(cluster), await diskUse(cluster.databaseUrl())]
  const takeover = await measureTakeover(bench).catch((cause: unknown) => {
    begun.interrupted.throwIfAborted()
    onFailure('takeover', cause)
    return null
  })
  const { readyMs } = cluster
  return {
    ...size,
    transactions,
    loadedMs,
    readyMs,
    auditorAtRestMs,
    memoryAtStart,
    memoryAfter,
    submissions,
    toFew,
    queries,
    disk,
    takeover,
    failures,
  }
}

/** Longer than a new auditor waits for the previous one to end. */
const RESTED_S = 6
/** Of one processor: the auditor may use a tenth for chains. */
const AT_REST = 0.25
const REST_LIMIT_MS = 600_000

/** Milliseconds. Start-up work is not a cost of orders. */
async function untilAuditorRests(cluster: Cluster, { interrupted }: Pick<Begun, 'interrupted'>): Promise<number> {
  const beganMs = performance.now()
  const usedUs = (): number =>
    cluster.processes().reduce((sum, { kind, cpuUs }) => sum + (kind === 'auditor' ? cpuUs : 0), 0)
  let restingMs = beganMs
  while (performance.now() - restingMs < RESTED_S * 1_000) {
    if (performance.now() - beganMs > REST_LIMIT_MS) throw new Error('the auditor does not come to rest')
    interrupted.throwIfAborted()
    const beforeUs = usedUs()
    await pause(1_000)
    if (usedUs() - beforeUs > AT_REST * 1e6) restingMs = performance.now()
  }
  return restingMs - beganMs
}

const LOG_LIMIT_MS = 1_800_000
/** The log grows every half second while entries wait. */
const LOG_AT_REST_MS = 5_000

/** The log of a loaded ledger begins with every entry, which is not a cost of orders either. */
async function untilLogged(databaseUrl: string, { interrupted }: Pick<Begun, 'interrupted'>): Promise<void> {
  const untilMs = performance.now() + LOG_LIMIT_MS
  await onDatabase(databaseUrl, async (sql) => {
    let [size, grewMs] = ['0', performance.now()]
    while (size === '0' || performance.now() - grewMs < LOG_AT_REST_MS) {
      if (performance.now() > untilMs) throw new Error('the log does not come to rest')
      interrupted.throwIfAborted()
      await pause(1_000)
      const [head] = await sql<{ size: string }[]>`SELECT size FROM log_head`
      if (head === undefined || head.size === size) continue
      size = head.size
      grewMs = performance.now()
    }
  })
}

function otherLists(admin: LedgerClient): readonly Query[] {
  return [
    { name: 'accounts', client: admin, path: () => '/v1/accounts?page_size=100' },
    { name: 'total_count, accounts', client: admin, path: () => '/v1/accounts?page_size=1' },
    { name: 'shards', client: admin, path: () => '/v1/shards?page_size=100' },
  ]
}

function diskUse(databaseUrl: string): Promise<DiskUse> {
  return onDatabase(databaseUrl, async (sql) => {
    const [row] = await sql<[{ database: string; log: string }]>`
      SELECT pg_database_size(current_database())::text AS database,
             (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir())::text AS log`
    return { databaseBytes: Number(row.database), logBytes: Number(row.log) }
  })
}
