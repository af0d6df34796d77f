/** A common yardstick: TPC-B by pgbench on the ledger's own PostgreSQL, in a database that is dropped afterwards. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { onDatabase, walPosition } from '../load/committed.ts'
import { say } from '../context.ts'
import { cpuShared, cpuUsed, readCpu } from '../report/cpu.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'

export type PgbenchMeasured =
  | { readonly skipped: string }
  | {
      readonly skipped: null
      readonly version: string
      readonly scale: number
      readonly clients: number
      readonly perSecond: number
      readonly transactions: number
      readonly failed: number
      readonly latency: Latency
      /** Microseconds for each transaction. */
      readonly postgresqlCpuUs: number
      readonly walBytes: number
    }

const DATABASE = 'bench_tpcb'
/** A million rows. With fewer branches than clients the clients would wait for each other's. */
const SCALE = 10
const CLIENTS = 10
/** Where Debian and Ubuntu keep each version's programs. */
const VERSIONS = '/usr/lib/postgresql'

export async function measurePgbench(bench: LedgerBench): Promise<PgbenchMeasured> {
  const program = findPgbench()
  if (program === undefined) {
    return { skipped: `There is no pgbench, neither on the PATH nor in ${VERSIONS}: TPC-B was not measured.` }
  }
  const { cluster, options, load } = bench
  const url = cluster.databaseUrl()
  const version = (await runPgbench(bench, program, ['--version'])).trim()
  const logs = mkdtempSync(join(tmpdir(), 'ledger-pgbench-'))
  bench.onEnd(() => rmSync(logs, { recursive: true, force: true }))
  try {
    say(`pgbench: filling a database of ${SCALE * 100_000} accounts ...`)
    await onDatabase(url, (sql) => sql`CREATE DATABASE ${sql(DATABASE)}`)
    await runPgbench(bench, program, ['--initialize', '--quiet', `--scale=${SCALE}`])
    say(`pgbench: measuring for ${options.seconds} s ...`)
    const walBefore = await walPosition(url)
    const before = readCpu(cluster, load.pid)
    const printed = await runPgbench(bench, program, [
      '--no-vacuum',
      '--builtin=tpcb-like',
      '--protocol=prepared',
      `--client=${CLIENTS}`,
      `--jobs=${Math.min(CLIENTS, availableParallelism())}`,
      `--time=${options.seconds}`,
      '--log',
      `--log-prefix=${join(logs, 'log')}`,
    ])
    const cpuUs = cpuUsed(before, readCpu(cluster, load.pid))
    const walBytes = (await walPosition(url)) - walBefore
    const summary = readSummary(printed)
    const tookMs = readdirSync(logs).flatMap((name) => readDurations(readFileSync(join(logs, name), 'utf8')))
    return {
      skipped: null,
      version,
      scale: SCALE,
      clients: CLIENTS,
      ...summary,
      latency: latencyOf(Float64Array.from(tookMs)),
      postgresqlCpuUs: cpuShared(cpuUs, summary.transactions).postgresql,
      walBytes: walBytes / Math.max(1, summary.transactions),
    }
  } finally {
    rmSync(logs, { recursive: true, force: true })
    await onDatabase(url, (sql) => sql`DROP DATABASE IF EXISTS ${sql(DATABASE)} WITH (FORCE)`)
  }
}

/** On the PATH, or else of the newest version that is installed. */
function findPgbench(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : []
  const installed = versions.sort((left, right) => Number(right) - Number(left))
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== ''),
    ...installed.map((version) => join(VERSIONS, version, 'bin')),
  ]
  return places.map((directory) => join(directory, 'pgbench')).find((file) => existsSync(file))
}

/** Returns its standard output. Rejects with its error output. The password is passed in the environment. */
async function runPgbench(bench: LedgerBench, program: string, args: readonly string[]): Promise<string> {
  const { hostname, port, username, password } = new URL(bench.cluster.databaseUrl())
  const child = spawn(program, [...args, `--host=${hostname}`, `--port=${port}`, `--username=${username}`, DATABASE], {
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', PGPASSWORD: decodeURIComponent(password) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  bench.onEnd(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`pgbench ended with ${code}:\n${said.err}`)
  return said.out
}

/** Parses its standard output (PostgreSQL's documentation, pgbench). Throws if it contains no rate. */
export function readSummary(printed: string) {
  const numberAfter = (label: RegExp): number | undefined => {
    const text = label.exec(printed)?.[1]
    return text === undefined ? undefined : Number(text)
  }
  const perSecond = numberAfter(/^tps = ([0-9.]+) \(without initial connection time\)/m)
  const transactions = numberAfter(/^number of transactions actually processed: ([0-9]+)/m)
  if (perSecond === undefined || transactions === undefined) throw new Error(`pgbench said no rate:\n${printed}`)
  // Versions before 15 have no count of failures.
  return { transactions, failed: numberAfter(/^number of failed transactions: ([0-9]+)/m) ?? 0, perSecond }
}

/**
 * From one log (`--log`): the duration of each transaction, milliseconds. The third column has microseconds, or a word
 * for a failure.
 */
export function readDurations(log: string): readonly number[] {
  return log
    .split('\n')
    .map((line) => line.split(' ')[2] ?? '')
    .filter((text) => /^[0-9]+$/.test(text))
    .map((text) => Number(text) / 1000)
}
