/**
 * Measures a ledger of its own over HTTP. Asserts nothing about speed; what it does demand is that every submission
 * that was answered with 202 is in the ledger, by the ledger's own count.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { LedgerClient } from '../support/client.ts'
import { startCluster } from '../support/cluster-process.ts'
import { type Bench, demandAll, REGISTERING_CONNECTIONS, say } from './context.ts'
import { measureEncryption } from './encryption.ts'
import { startLoadGenerator } from './load-generator.ts'
import { measure } from './measure.ts'
import { HELP, readOptions } from './options.ts'
import { type BenchReport, renderReport } from './report.ts'
import { measureScaling } from './scaling.ts'
import { measureTransfers } from './transfers.ts'

/** The exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    process.stdout.write(HELP)
    return 0
  }
  if (options.scaling) return measureScaling(options)
  if (options.encryption) return measureEncryption(options)
  say('Starting a ledger ...')
  const cluster = await startCluster({ nodes: options.nodes, edges: options.edges })
  const load = startLoadGenerator()
  const interrupted = (): void => {
    load.stop()
    void cluster.stop().finally(() => process.exit(130))
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    const report = await measureAll({ options, cluster, client, load })
    client.close()
    process.stdout.write(`${renderReport(report)}\n`)
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
    return 0
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\nThe ledger said last:\n${cluster.lastLines()}`)
    return 1
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    load.stop()
    await cluster.stop()
  }
}

async function measureAll(bench: Bench): Promise<BenchReport> {
  const { options, client, cluster, load } = bench
  await load.setup(cluster.origin, client.token, options.accounts)
  say(`Registering ${options.accounts} accounts ...`)
  const registered = await load.register(REGISTERING_CONNECTIONS)
  demandAll(registered, 201)
  say(`Registered in ${(registered.durationMs / 1000).toFixed(1)} s.`)
  const measured = [
    await measure(bench, 'random', `${options.accounts} accounts`),
    await measure(bench, 'hot', 'one account'),
  ]
  const transfers = await measureTransfers(bench)
  const { node } = process.versions
  return {
    options,
    machine: { cores: availableParallelism(), model: cpus()[0]?.model ?? '', node },
    measured,
    transfers,
  }
}
