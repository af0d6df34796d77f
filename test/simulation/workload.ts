/**
 * The clients of a run: what they ask, of whom, and when they ask again. A few hot accounts get most of it, so that
 * batches, repeats and rotations meet. Every request and what became of it goes into the histories.
 */
import type { GatewayOutcome, GatewayRequest } from '../../runtime/ports/ledger-gateway.ts'
import type { SimEdge, World } from './cluster-node.ts'
import { isPoisonous } from './reference-fields.ts'
import type { SeededRandom } from './sim-random.ts'
import { AccountRequests } from './workload-accounts.ts'
import { Cast, type ClientAccount } from './workload-cast.ts'
import { GroupRequests } from './workload-groups.ts'
import { NftRequests } from './workload-nfts.ts'
import { ValueRequests } from './workload-value.ts'

export interface WorkloadOptions {
  readonly world: World
  readonly random: SeededRandom
  /** The edges as they are now: one that is down is undefined. */
  readonly edges: () => readonly (SimEdge | undefined)[]
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
}

/** Longer than any gateway waits: its edge must be dead. */
const CLIENT_TIMEOUT_MS = 20_000

export class Workload {
  /** Requests that have no verdict yet and whose clients have not given up. */
  private readonly unresolved = new Set<GatewayRequest>()
  private readonly options: WorkloadOptions
  private readonly cast: Cast
  private readonly ofAccounts: AccountRequests
  private readonly ofValue: ValueRequests
  private readonly ofGroups: GroupRequests
  private readonly ofNfts: NftRequests
  private running = 0
  private thinkMs = 0

  constructor(options: WorkloadOptions) {
    this.options = options
    const ask = (request: GatewayRequest, wanted: boolean) => this.ask(request, wanted)
    this.cast = new Cast(options.world, options.random, options.accounts, ask)
    this.ofAccounts = new AccountRequests(this.cast)
    this.ofValue = new ValueRequests(this.cast)
    this.ofGroups = new GroupRequests(this.cast)
    this.ofNfts = new NftRequests(this.cast)
  }

  /** Spreads the requests over about that time. */
  start(durationMs: number): void {
    const { requestsPerClient, clients } = this.options
    this.thinkMs = durationMs / requestsPerClient
    void this.begin(() => this.open())
    for (let client = 0; client < clients; client += 1) void this.begin(() => this.client())
  }

  /** Whether every client has sent what it had to send. */
  finished(): boolean {
    return this.running === 0
  }

  /** I11: asks again, until everything that a client still wants has a verdict. */
  async settle(): Promise<void> {
    while (this.unresolved.size > 0) {
      await Promise.all([...this.unresolved].map((request) => this.ask(request, true)))
      await this.cast.pause(100)
    }
  }

  pending(): number {
    return this.unresolved.size
  }

  private async begin(client: () => Promise<void>): Promise<void> {
    this.running += 1
    await this.cast.pause(this.options.random.between(0, 20))
    await client()
    this.running -= 1
  }

  private async open(): Promise<void> {
    const registrations = this.cast.accounts.map((account) => this.ask(this.ofAccounts.registration(account), true))
    await Promise.race(registrations)
    this.ofValue.registerTokens()
    this.ofNfts.registerClasses()
    await this.cast.pause(this.options.random.between(500, 5_000))
    await this.ofValue.distribute()
    await this.ofValue.claimIssuer()
  }

  private async client(): Promise<void> {
    for (let sent = 0; sent < this.options.requestsPerClient; sent += 1) {
      if (this.options.random.chance(0.12)) await this.ofGroups.play()
      else await this.turn()
      await this.cast.pause(this.options.random.between(0, 1.5 * this.thinkMs))
    }
  }

  private async turn(): Promise<void> {
    const { random } = this.options
    const account = this.cast.pickAccount()
    const request = this.draw(account)
    // A client in a hurry asks twice at once, through whatever edge; another sends many requests at once.
    if (random.chance(0.08)) void this.ask(request, true)
    const burst = random.chance(0.08) ? random.integer(16) : 0
    for (let more = 0; more < burst; more += 1) void this.ask(this.draw(account), true)
    const persistent = random.chance(0.8)
    for (let attempts = 0; attempts < 4; attempts += 1) {
      const outcome = await this.ask(request, persistent)
      if (outcome?.kind === 'answered' || !persistent) return
      await this.cast.pause(random.between(10, 1_000))
    }
  }

  private draw(account: ClientAccount): GatewayRequest {
    const kind = this.options.random.fraction()
    const others = kind < 0.4 ? this.ofValue : kind < 0.6 ? this.ofNfts : this.ofAccounts
    const request = others.draw(account)
    this.cast.find(request.actor.id)?.sent.push(request)
    return request
  }

  /** `wanted`: somebody waits for a verdict, now or after the faults. */
  private ask(request: GatewayRequest, wanted: boolean): Promise<GatewayOutcome | undefined> {
    const { world, random, edges } = this.options
    if (wanted && !isPoisonous(request.operation)) this.unresolved.add(request)
    const alive = edges().filter((edge) => edge?.process.alive() === true)
    const edge = alive[random.integer(alive.length)]
    if (edge === undefined) return Promise.resolve(undefined)
    const entry = world.clients.sends(request)
    return new Promise((resolve) => {
      const timeout = world.kernel.schedule(CLIENT_TIMEOUT_MS, 'a client gives up', () => resolve(undefined))
      edge.process.deliver(() => {
        void edge.gateway.ask(request).then((outcome) => {
          timeout.cancel()
          world.clients.hears(entry, outcome)
          world.kernel.count(outcome.kind === 'answered' ? `answer:${nameOf(outcome)}` : `answer:${outcome.outcome}`)
          if (outcome.kind === 'answered') {
            this.unresolved.delete(request)
            this.cast.learn(request, outcome.answer)
          }
          resolve(outcome)
        })
      })
    })
  }
}

function nameOf(outcome: Extract<GatewayOutcome, { kind: 'answered' }>): string {
  return outcome.answer.kind === 'refused' ? outcome.answer.code : outcome.answer.kind
}
