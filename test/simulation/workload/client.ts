/**
 * One client: its requests, its repeats, and when it gives up. It has a random stream of its own, so that its requests
 * do not change if there are fewer clients.
 */
import type { GatewayOutcome, GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { AccountRequests } from './accounts.ts'
import type { Cast, ClientAccount } from './cast.ts'
import { GroupRequests } from './groups.ts'
import { NftRequests } from './nfts.ts'
import { ValueRequests } from './value.ts'

export interface ClientOptions {
  readonly cast: Cast
  /** Sends the request, and disconnects after a while. */
  readonly askAndHangUp: (request: GatewayRequest, afterMs: number) => Promise<GatewayOutcome | undefined>
  /** The client no longer waits for the request's verdict. */
  readonly giveUp: (request: GatewayRequest) => void
  readonly requests: number
  readonly thinkMs: number
}

const GROUPS = 0.12
const HANGS_UP = 0.04
/** More than a mailbox holds. */
const FLOOD = { chance: 0.004, least: 60, most: 130 }
const LONG_AFTER_MS = { from: 3_000, to: 20_000 }
const TRIES = 4

export class Client {
  private readonly options: ClientOptions
  private readonly cast: Cast
  private readonly ofAccounts: AccountRequests
  private readonly ofValue: ValueRequests
  private readonly ofGroups: GroupRequests
  private readonly ofNfts: NftRequests

  constructor(options: ClientOptions) {
    const { cast } = options
    this.options = options
    this.cast = cast
    this.ofAccounts = new AccountRequests(cast)
    this.ofValue = new ValueRequests(cast)
    this.ofGroups = new GroupRequests(cast)
    this.ofNfts = new NftRequests(cast)
  }

  /** Resolves after its last request. */
  async play(): Promise<void> {
    const { random } = this.cast
    const { requests, thinkMs } = this.options
    for (let sent = 0; sent < requests; sent += 1) {
      if (random.chance(GROUPS)) await this.ofGroups.play()
      else if (random.chance(FLOOD.chance)) this.flood(this.cast.pickAccount())
      else await this.turn()
      await this.cast.pause(random.between(0, 1.5 * thinkMs))
    }
  }

  private async turn(): Promise<void> {
    const { random, ask, world } = this.cast
    const account = this.cast.pickAccount()
    const request = this.draw(account)
    if (random.chance(HANGS_UP)) {
      world.kernel.count('client:hung_up')
      await this.options.askAndHangUp(request, random.between(0, 40))
      return
    }
    // A hasty client sends a request twice at once, through any edges; another sends many requests at once.
    if (random.chance(0.08)) {
      world.kernel.count('client:asked_twice')
      void ask(request, true)
    }
    const burst = random.chance(0.08) ? random.integer(16) : 0
    for (let more = 0; more < burst; more += 1) void ask(this.draw(account), true)
    const persistent = random.chance(0.8)
    for (let tries = 0; tries < TRIES; tries += 1) {
      const outcome = await ask(request, persistent)
      if (outcome?.kind === 'answered') return this.repeat(request)
      if (!persistent) return
      if (outcome?.outcome === 'unknown' && (await this.inDoubt(request)) === 'left') return
      await this.cast.pause(random.between(10, 1_000))
    }
  }

  /** Some clients forget that a request was answered. */
  private async repeat(request: GatewayRequest): Promise<void> {
    const { random, ask, world } = this.cast
    if (!random.chance(0.05)) return
    world.kernel.count('client:repeated_after_answer')
    await this.cast.pause(random.between(10, LONG_AFTER_MS.from))
    await ask(request, true)
  }

  /** A client's reaction to an unknown outcome. */
  private async inDoubt(request: GatewayRequest): Promise<'again' | 'left'> {
    const { random, ask, world } = this.cast
    const drawn = random.pick(['again', 'again', 'much_later', 'new_key', 'gives_up'] as const)
    // A client that does not know the key in force cannot continue.
    const does = request.operation.kind === 'rotate_key' ? 'again' : drawn
    world.kernel.count(`client:in_doubt ${does}`)
    if (does === 'again') return 'again'
    if (does === 'much_later') {
      await this.cast.pause(random.between(LONG_AFTER_MS.from, LONG_AFTER_MS.to))
      return 'again'
    }
    this.options.giveUp(request)
    const renewed = does === 'new_key' ? this.cast.renewed(request) : undefined
    // Both may take effect: this client has ordered twice.
    if (renewed !== undefined) await ask(renewed, true)
    return 'left'
  }

  private flood(account: ClientAccount): void {
    const { random, ask, world } = this.cast
    world.kernel.count('client:flood')
    const persistent = random.chance(0.3)
    const size = FLOOD.least + random.integer(FLOOD.most - FLOOD.least)
    for (let count = 0; count < size; count += 1) void ask(this.ofAccounts.draw(account), persistent)
  }

  private draw(account: ClientAccount): GatewayRequest {
    const kind = this.cast.random.fraction()
    const others = kind < 0.4 ? this.ofValue : kind < 0.6 ? this.ofNfts : this.ofAccounts
    const request = others.draw(account)
    this.cast.find(request.actor.id)?.sent.push(request)
    return request
  }
}
