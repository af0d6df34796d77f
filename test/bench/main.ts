/**
 * Measures a ledger of its own over HTTP. It asserts nothing about speed, but requires that every acknowledged
 * submission is in the ledger, by the ledger's own count.
 */
import { LedgerClient } from '../support/client/client.ts'
import { startFresh } from './bench-cluster.ts'
import { compare, conditionsOf, keepLast, readEarlier } from './report/comparison.ts'
import { demandAll, REGISTERING_CONNECTIONS, say } from './context.ts'
import { measureEvents } from './scenes/events.ts'
import { measureFairness } from './scenes/fairness.ts'
import { measureGrowth } from './scenes/growth.ts'
import { measureHandOff } from './scenes/hand-off.ts'
import { measureHostile } from './scenes/hostile.ts'
import { measureIdle } from './scenes/idle.ts'
import { EXIT_INTERRUPTED, Interrupted, interruptible } from './load/interruptible.ts'
import { createClosedLoopRate, type LedgerBench } from './ledger-bench.ts'
import { startLoadGenerator } from './load/load-generator.ts'
import { thisMachine } from './report/machine.ts'
import { measureLowLoad } from './scenes/open-submissions.ts'
import { type BenchOptions, HELP, type MeasurementName, readOptions } from './options.ts'
import { measurePgbench } from './scenes/pgbench.ts'
import { measurePlain } from './scenes/plain.ts'
import { measureQueries } from './scenes/queries.ts'
import { shareOfOthers } from './report/quiet.ts'
import { type BenchReport, type Summary, writeReport } from './report/report-json.ts'
import { renderReport } from './report/report.ts'
import { measureRestart } from './scenes/restart.ts'
import { rowsOf } from './report/rows.ts'
import { measureScaling } from './scenes/scaling.ts'
import { measureSoak } from './scenes/soak.ts'
import { measureSteps } from './scenes/steps.ts'
import { measureBatches, measureFew, measureSubmissions } from './scenes/submit.ts'
import { measureTransfers } from './scenes/transfers.ts'

/** The exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args)
    if (options === undefined) {
      process.stdout.write(HELP)
      return 0
    }
    if (options.steps) return measureSteps(options)
    if (options.scaling) return await measureScaling(options)
    if (options.growth.length > 0) return await measureGrowth(options)
    if (options.soakMinutes !== undefined) return await measureSoak(options, options.soakMinutes)
    return await measureLedger(options)
  } catch (error) {
    if (error instanceof Interrupted) return EXIT_INTERRUPTED
    say(messageOf(error))
    return 1
  }
}

function measureLedger(options: BenchOptions): Promise<number> {
  // Before any measurement: an unreadable file ends the run at once.
  const earlier = readEarlier(options.against)
  return interruptible(async (begun) => {
    const othersBefore = await shareOfOthers()
    say('Starting a ledger ...')
    const cluster = await begun.started(startFresh({ nodes: options.nodes, edges: options.edges }))
    const load = startLoadGenerator()
    begun.onEnd(load.stop)
    const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    begun.onEnd(() => client.close())
    const rate = createClosedLoopRate(load, options.connections)
    const report = await measureAll({ ...begun, options, cluster, client, load, rate }, othersBefore)
    const { startedAt: at, machine } = report
    const rows = rowsOf(report).map((row) => ({ ...row, at, conditions: conditionsOf(options, machine) }))
    const summary: Summary = {
      rows,
      against: earlier === undefined ? null : (options.against ?? 'the last run'),
      compared: compare(rows, earlier ?? []),
    }
    process.stdout.write(renderReport(report, summary))
    writeReport(options.json, { kind: 'ledger', ...report, ...summary })
    keepLast(rows)
    return report.failures.length === 0 ? 0 : 1
  })
}

async function measureAll(bench: LedgerBench, othersBefore: number): Promise<BenchReport> {
  const { options, client, cluster, load } = bench
  const [startedAt, beganMs] = [new Date().toISOString(), performance.now()]
  await load.setup(cluster.origin, client.token, options.accounts)
  say(`Registering ${options.accounts} accounts ...`)
  const registered = await load.register(REGISTERING_CONNECTIONS).catch((cause: unknown) => {
    throw new Error(`registering failed; the ledger said last:\n${cluster.lastLines()}`, { cause })
  })
  demandAll(registered, 201)
  say(`Registered in ${(registered.durationMs / 1000).toFixed(1)} s.`)
  const failures: { measurement: MeasurementName; message: string }[] = []
  const run = <T>(name: MeasurementName, work: (bench: LedgerBench) => Promise<T>): Promise<T | null> =>
    runChosen(bench, name, work, (message) => failures.push({ measurement: name, message }))
  const measured = {
    idle: await run('idle', measureIdle),
    submit: await run('submit', measureSubmissions),
    batches: await run('batches', measureBatches),
    transfers: await run('transfers', measureTransfers),
    lowLoad: await run('low-load', measureLowLoad),
    few: await run('few', measureFew),
    queries: await run('queries', measureQueries),
    handOff: await run('hand-off', measureHandOff),
    hostile: await run('hostile', measureHostile),
    fairness: await run('fairness', measureFairness),
    events: await run('events', measureEvents),
    restart: await run('restart', measureRestart),
    pgbench: await run('pgbench', measurePgbench),
    plain: await run('plain', measurePlain),
  }
  const durationMs = performance.now() - beganMs
  return { options, machine: thisMachine(), startedAt, durationMs, othersBefore, ...measured, failures }
}

/** Null if it was not selected, or failed: the others still run. Throws if the bench was interrupted. */
async function runChosen<T>(
  bench: LedgerBench,
  name: MeasurementName,
  work: (bench: LedgerBench) => Promise<T>,
  failed: (message: string) => void,
): Promise<T | null> {
  const { options, interrupted, cluster } = bench
  const place = options.only.indexOf(name)
  if (place < 0) return null
  interrupted.throwIfAborted()
  say(`\n[${place + 1} of ${options.only.length}] ${name}`)
  try {
    return await work(bench)
  } catch (error) {
    interrupted.throwIfAborted()
    say(`${name} failed: ${messageOf(error)}\n\nThe ledger said last:\n${cluster.lastLines()}`)
    failed(messageOf(error))
    return null
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
