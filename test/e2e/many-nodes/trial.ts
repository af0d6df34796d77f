/** A cluster under steady load with many faults. A table shows the effect of each on the clients. */
import { LedgerClient, send } from '../../support/client/client.ts'
import { type ClusterParts, type Part, type PartsOptions, startParts } from '../../support/processes/cluster-parts.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { DurabilityAudit, forAll } from '../durability/durability-audit.ts'
import { Movers } from './movers.ts'
import { type Outage, ShardLoad } from './shard-load.ts'

const BACK_WITHIN_MS = 180_000
const MOVING_MS = 5_000
const LOOK_EVERY_MS = 50
/** As many as fit into that time where nothing else is to be done. */
const LOOKS = MOVING_MS / LOOK_EVERY_MS
const MOVERS = 6

export class Trial {
  readonly cluster: ClusterParts
  private readonly client: LedgerClient
  private readonly load: ShardLoad
  private readonly movers: Movers
  /** In the order of their names; clients use the listed ones. */
  private readonly edges: LedgerClient[]
  private readonly outages: { readonly fault: string; readonly outage: Outage }[] = []

  private constructor(
    cluster: ClusterParts,
    edges: LedgerClient[],
    client: LedgerClient,
    load: ShardLoad,
    movers: Movers,
  ) {
    this.cluster = cluster
    this.edges = edges
    this.client = client
    this.load = load
    this.movers = movers
  }

  static async start(options: PartsOptions): Promise<Trial> {
    const cluster = await startParts(options)
    try {
      const client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
      const edges = cluster.origins.map((origin) => client.at(origin))
      const load = await ShardLoad.open(edges, options.shards)
      const movers = await Movers.open(edges, MOVERS, () => load.thinkMs())
      load.start()
      movers.start()
      return new Trial(cluster, edges, client, load, movers)
    } catch (cause) {
      await cluster.close()
      throw cause
    }
  }

  /** Applies a fault, and waits until every shard is back. The table shows the clients' view. */
  async harmed(fault: string, harm: () => Promise<void> | void): Promise<Outage> {
    const outage = await this.load.through(harm, BACK_WITHIN_MS)
    this.outages.push({ fault, outage })
    return outage
  }

  /** Responses to transfers other than 202. */
  refusedTransfers(): readonly string[] {
    return this.movers.others
  }

  /** Restarts an edge while clients use the others, as behind a load balancer that polls `/readyz`. */
  async restartEdge(number: number, start: (name: string) => Promise<Part>): Promise<void> {
    const name = `edge-${number}`
    const [left] = this.edges.splice(number - 1, 1)
    if (left === undefined) throw new Error(`there is no ${name}`)
    await this.end(name)
    await start(name)
    const origin = this.cluster.origins[number - 1] ?? ''
    await until(`${name} is ready`, BACK_WITHIN_MS, async () => {
      const reply = await send(origin, { method: 'GET', path: '/readyz' }).catch(() => undefined)
      return reply?.status === 200
    })
    this.edges.splice(number - 1, 0, left)
  }

  part(name: string): Part {
    const found = this.cluster.parts.get(name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  async end(name: string): Promise<void> {
    this.part(name).signal('SIGTERM')
    await this.part(name).exited
  }

  /** Placement has come to rest: only these nodes own shards, and each owns some. */
  async sharedBy(...names: readonly string[]): Promise<void> {
    await until(`the shards are shared by ${names.join(', ')}`, BACK_WITHIN_MS, async () => {
      const owners = new Set((await this.client.readAll('/v1/shards', 'shards')).map((shard) => shard['owner']))
      return owners.size === names.length && names.every((name) => owners.has(name))
    })
  }

  /** Shards that no running node has, with who has them. */
  async unserved(): Promise<readonly string[]> {
    const sinceMs = performance.now()
    let left = await this.ownerless()
    // A shard between two nodes has no owner for a moment. Both bounds count: a machine that stalls uses up the time,
    // not the polls.
    for (let looks = 1; left.length > 0 && (looks < LOOKS || performance.now() - sinceMs < MOVING_MS); looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      left = await this.ownerless()
    }
    return left
  }

  private async ownerless(): Promise<readonly string[]> {
    const shards = await this.client.readAll('/v1/shards', 'shards')
    const isRunning = (owner: unknown): boolean => this.cluster.parts.get(String(owner))?.running() === true
    return shards
      .filter(({ owner }) => !isRunning(owner))
      .map((shard) => `${String(shard['shard_id'])} ${String(shard['owner'])}`)
  }

  /** Ends the load and compares the acknowledged orders with the ledger: I2, I3, I4, I6. */
  async faults(): Promise<readonly string[]> {
    await Promise.all([this.load.finish(), this.movers.finish()])
    const audit = new DurabilityAudit(this.client)
    const { operations, shards } = this.load
    await forAll(shards, ({ holder: { accountId } }) =>
      audit.account(
        accountId,
        operations.filter((operation) => operation.accountId === accountId),
      ),
    )
    const checked = audit.completed + audit.failed
    const unchecked = checked === operations.length ? [] : [`${checked} of ${operations.length} were found`]
    return [...audit.faults, ...unchecked, ...(await this.movers.faults())]
  }

  table(): string {
    const rows = this.outages.map(({ fault, outage: { gapsMs, recoveryMs, others } }) => {
      const at = (share: number): string =>
        (gapsMs[Math.min(gapsMs.length - 1, Math.floor(share * gapsMs.length))] ?? 0).toFixed(0)
      const said = [...others].map(([what, count]) => `${count} x ${what}`).join(', ')
      return [fault, at(0.5), at(0.99), at(1), recoveryMs.toFixed(0), said === '' ? 'none' : said].join(' | ')
    })
    const counts = `${this.load.operations.length} submissions and ${this.movers.transactions.length} transfers acknowledged`
    return ['', 'fault | away p50 ms | p99 | max | recovery ms | other than 202', ...rows, counts, ''].join('\n')
  }

  /** After a test that failed, too: nothing may ever be acknowledged then. */
  async close(): Promise<void> {
    this.load.abandon()
    this.movers.stop()
    await this.cluster.close()
  }
}
