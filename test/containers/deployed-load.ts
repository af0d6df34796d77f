/** Clients at both edges of a deployment, and the comparison of their acknowledgements with the ledger. */
import { DurabilityAudit, forAll } from '../e2e/durability/durability-audit.ts'
import { DurabilityLoad } from '../e2e/durability/durability-load.ts'
import { type Credentials, type Holder, LedgerClient, textOf } from '../support/client/client.ts'
import { until } from '../support/processes/cluster-process.ts'

const ACCOUNTS_PER_EDGE = 20
const CLIENTS_PER_EDGE = 4
const DEADLINE_MS = 180_000
/** Acknowledged orders of each edge before and after a fault. */
const AROUND_FAULT = 40
const REPEATED = 40

interface EdgeLoad {
  readonly client: LedgerClient
  readonly holders: readonly Holder[]
  readonly load: DurabilityLoad
}

export class DeployedLoad {
  private readonly edges: readonly EdgeLoad[]

  private constructor(edges: readonly EdgeLoad[]) {
    this.edges = edges
  }

  static async open(origins: readonly string[], credentials: Credentials): Promise<DeployedLoad> {
    const edges: EdgeLoad[] = []
    for (const [number, origin] of origins.entries()) {
      const client = await LedgerClient.login(origin, credentials)
      const holders: Holder[] = []
      const names = Array.from({ length: ACCOUNTS_PER_EDGE }, (_, serial) => `account-${serial}@edge-${number + 1}`)
      await forAll(names, async (name) => void holders.push(await client.register(name)))
      // Production wants it in every order.
      const ledgerId = textOf(await client.read('/readyz'), 'ledger_id')
      edges.push({ client, holders, load: new DurabilityLoad(client, holders, { ledger_id: ledgerId }) })
    }
    return new DeployedLoad(edges)
  }

  start(): void {
    for (const { load } of this.edges) load.start(CLIENTS_PER_EDGE)
  }

  /** A fault in the middle of orders. Resolves when all that was in flight is acknowledged, and later orders, too. */
  async through(what: string, harm: () => Promise<void>): Promise<number> {
    await this.flow(`before ${what}`)
    const caught = this.edges.flatMap(({ load }) => [...load.inFlight])
    const beganMs = performance.now()
    await harm()
    await this.untilSound(`orders in flight at ${what} are acknowledged`, () =>
      caught.every(({ acknowledged }) => acknowledged !== undefined),
    )
    await this.flow(`after ${what}`)
    return performance.now() - beganMs
  }

  private async flow(when: string): Promise<void> {
    const before = this.edges.map(({ load }) => load.acknowledged)
    await this.untilSound(`orders flow ${when}`, () =>
      this.edges.every(({ load }, place) => load.acknowledged >= (before[place] ?? 0) + AROUND_FAULT),
    )
  }

  private async untilSound(what: string, holds: () => boolean): Promise<void> {
    const surprises = (): readonly string[] => this.edges.flatMap(({ load }) => load.surprises)
    await until(what, DEADLINE_MS, () => surprises().length > 0 || holds())
    if (surprises().length > 0) throw new Error(`${what}: ${surprises().join('\n')}`)
  }

  get acknowledged(): number {
    return this.edges.reduce((sum, { load }) => sum + load.acknowledged, 0)
  }

  /** Requests without a reply, and replies with 503. */
  get setbacks(): number {
    return this.edges.reduce((sum, { load }) => sum + load.setbacks.unanswered + load.setbacks.unavailable, 0)
  }

  async finish(): Promise<void> {
    for (const { load } of this.edges) await load.finish(DEADLINE_MS)
  }

  /** I2, I3, I4, I6: accounts contain the acknowledged orders, each once. Its result is a list of errors. */
  async faults(): Promise<readonly string[]> {
    const faults: string[] = []
    for (const { client, holders, load } of this.edges) {
      const pending = async (): Promise<unknown> =>
        (await client.read('/v1/transactions?status=pending&page_size=1'))['total_count']
      await until('no transfer is pending', DEADLINE_MS, async () => (await pending()) === 0)
      const audit = new DurabilityAudit(client)
      await forAll(holders, ({ accountId }) =>
        audit.account(
          accountId,
          load.operations.filter((operation) => operation.accountId === accountId),
        ),
      )
      const setBack = load.operations.filter(({ setbacks }) => setbacks > 0)
      await forAll([...setBack, ...load.operations].slice(0, REPEATED), (one) => audit.repeat(one))
      audit.conservation()
      if (audit.completed + audit.failed !== load.operations.length) audit.faults.push('orders are missing')
      faults.push(...audit.faults)
    }
    return faults
  }

  close(): void {
    for (const { client } of this.edges) client.close()
  }
}
