/**
 * The clients of a run, and the path of their requests to an edge and back. A few hot accounts get most requests, so
 * that batches, repeats and rotations coincide. The histories record every request and its outcome.
 */
import type { GatewayOutcome, GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { SimEdge, World } from '../cluster/cluster-node.ts'
import { isPoisonous } from '../reference/fields.ts'
import { ATTACKER, HOLDER, IMPORTER, REHEARSER, REMOVER } from '../plan.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import { AccountRequests } from './accounts.ts'
import { type Ask, Cast, createStage, learn, type Stage } from './cast.ts'
import { Client } from './client.ts'
import { DepartureRequests } from './departures.ts'
import { HostileRequests } from './hostile.ts'
import { ImportRequests } from './imports.ts'
import { NftRequests } from './nfts.ts'
import { PaymentHoldRequests } from './payment-holds.ts'
import { RehearsalRequests } from './rehearsals.ts'
import { ValueRequests } from './value.ts'

export interface WorkloadOptions {
  readonly world: World
  readonly random: SeededRandom
  /** The current edges: undefined for one that is down. */
  readonly edges: () => readonly (SimEdge | undefined)[]
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
  /** Skipped requests, by number from 0. */
  readonly skipped: ReadonlySet<number>
  /** Idle clients, by number from 0. */
  readonly idle: ReadonlySet<number>
}

/** How a client waits. */
interface Attention {
  /** The client waits for a verdict, now or after the faults. */
  readonly isWanted: boolean
  /** The client disconnects after this time: later answers are lost. */
  readonly hangsUpAfterMs?: number
}

/** Shares of the seeds with imports, and with departures and erasures. */
const IMPORT_SHARE = 0.3
const DEPARTURE_SHARE = 0.3
/** Share of the seeds with a client that asks for dry runs. */
const REHEARSAL_SHARE = 0.4
/** Share of the seeds with a client that creates, captures and releases holds. */
const HOLDS_SHARE = 0.5
/** Share of the seeds with a hostile client. */
const HOSTILE_SHARE = 0.4

/** Longer than any gateway waits: its edge must be dead. */
const CLIENT_TIMEOUT_MS = 20_000
/** Errors of client clocks: an order of a client whose clock is behind may have expired on arrival. */
const CLOCK_OFF_MS = { behind: 7_200_000, ahead: 40_000 }

export class Workload {
  /** Requests without a verdict whose clients have not given up. */
  private readonly unresolved = new Set<GatewayRequest>()
  private readonly options: WorkloadOptions
  private readonly stage: Stage
  /** Randomness for the start of the run, and for the requests after the faults. */
  private readonly random: SeededRandom
  private running = 0
  private asked = 0

  constructor(options: WorkloadOptions) {
    this.options = options
    this.random = options.random.fork('opening')
    this.stage = createStage(options.world, options.random, options.accounts)
  }

  /** Spreads the requests over about that time. */
  start(durationMs: number): void {
    const { requestsPerClient, clients, random } = this.options
    const opening = new Cast(this.stage, {
      name: 'o',
      random: this.random,
      ask: this.askerOf(this.random),
      clockOffMs: 0,
    })
    void this.begin(opening, () => this.open(opening))
    for (let number = 0; number < clients; number += 1) {
      const own = random.fork(`client ${number}`)
      const cast = this.castOf(`c${number}`, own)
      const client = new Client({
        cast,
        askAndHangUp: (request, afterMs) => this.ask(request, own, { isWanted: false, hangsUpAfterMs: afterMs }),
        giveUp: (request) => this.unresolved.delete(request),
        requests: requestsPerClient,
        thinkMs: durationMs / requestsPerClient,
      })
      if (!this.options.idle.has(number)) void this.begin(cast, () => client.play())
    }
    this.startOthers(durationMs)
  }

  /** With streams of their own: they do not change the other clients. */
  private startOthers(durationMs: number): void {
    const { random, idle } = this.options
    const comes = random.fork('imports')
    if (comes.chance(IMPORT_SHARE) && !idle.has(IMPORTER)) {
      const cast = this.castOf('i', comes)
      void this.begin(cast, () => new ImportRequests(cast).play(durationMs))
    }
    const goes = random.fork('departures')
    if (goes.chance(DEPARTURE_SHARE) && !idle.has(REMOVER)) {
      const cast = this.castOf('d', goes)
      void this.begin(cast, () => new DepartureRequests(cast).play(durationMs))
    }
    const rehearses = random.fork('rehearsals')
    if (rehearses.chance(REHEARSAL_SHARE) && !idle.has(REHEARSER)) {
      const cast = this.castOf('r', rehearses)
      void this.begin(cast, () => new RehearsalRequests(cast).play(durationMs))
    }
    const holds = random.fork('holds')
    if (holds.chance(HOLDS_SHARE) && !idle.has(HOLDER)) {
      const cast = this.castOf('p', holds)
      void this.begin(cast, () => new PaymentHoldRequests(cast).play(durationMs))
    }
    const attacks = random.fork('attacks')
    if (attacks.chance(HOSTILE_SHARE) && !idle.has(ATTACKER)) {
      const cast = this.castOf('h', attacks)
      void this.begin(cast, () => new HostileRequests(cast).play(durationMs))
    }
  }

  /** Whether every client has sent all its requests. */
  finished(): boolean {
    return this.running === 0
  }

  /** I11: repeats requests until every wanted one has a verdict. */
  async settle(): Promise<void> {
    const { kernel } = this.options.world
    while (this.unresolved.size > 0) {
      const verdicts = [...this.unresolved].map((request) => this.ask(request, this.random, { isWanted: true }))
      await Promise.all(verdicts)
      await new Promise<void>((resolve) => {
        kernel.schedule(100, 'clients wait', resolve)
      })
    }
  }

  pending(): number {
    return this.unresolved.size
  }

  private castOf(name: string, random: SeededRandom): Cast {
    const { behind, ahead } = CLOCK_OFF_MS
    const clockOffMs = random.chance(0.15) ? random.pick([-random.between(0, behind), random.between(0, ahead)]) : 0
    if (clockOffMs !== 0) this.options.world.kernel.count('client:clock_off')
    return new Cast(this.stage, { name, random, ask: this.askerOf(random), clockOffMs })
  }

  private askerOf(random: SeededRandom): Ask {
    return (request, isWanted) => this.ask(request, random, { isWanted })
  }

  private async begin(cast: Cast, play: () => Promise<void>): Promise<void> {
    this.running += 1
    await cast.pause(cast.random.between(0, 20))
    await play()
    this.running -= 1
  }

  private async open(cast: Cast): Promise<void> {
    const ofAccounts = new AccountRequests(cast)
    const ofValue = new ValueRequests(cast)
    const registrations = cast.accounts.map((account) => cast.ask(ofAccounts.registration(account), true))
    await Promise.race(registrations)
    ofValue.registerTokens()
    new NftRequests(cast).registerClasses()
    await cast.pause(cast.random.between(500, 5_000))
    await ofValue.distribute()
    await ofValue.claimIssuer()
  }

  private ask(
    request: GatewayRequest,
    random: SeededRandom,
    { isWanted, hangsUpAfterMs }: Attention,
  ): Promise<GatewayOutcome | undefined> {
    const { world, edges, skipped } = this.options
    this.asked += 1
    world.kernel.count('client:asked')
    if (skipped.has(this.asked - 1)) return Promise.resolve(undefined)
    if (isWanted && !isPoisonous(request.operation)) this.unresolved.add(request)
    const alive = edges().filter((edge) => edge?.process.alive() === true)
    const edge = alive[random.integer(alive.length)]
    if (edge === undefined) return Promise.resolve(undefined)
    const entry = world.clients.sends(request)
    world.story?.asks(edge.process.name, request)
    return new Promise((resolve) => {
      let listens = true
      const gone = (): void => {
        listens = hangsUpAfterMs === undefined
        resolve(undefined)
      }
      const timeout = world.kernel.schedule(hangsUpAfterMs ?? CLIENT_TIMEOUT_MS, 'a client gives up', gone)
      edge.process.deliver(() => {
        void edge.gateway.ask(request).then((outcome) => {
          timeout.cancel()
          if (!listens) return this.unheard(request, outcome)
          world.story?.hears(edge.process.name, request, outcome)
          world.clients.hears(entry, outcome)
          this.note(request, outcome)
          return resolve(outcome)
        })
      })
    })
  }

  /** The client later learns the resulting state, but never the answer. */
  private unheard(request: GatewayRequest, outcome: GatewayOutcome): void {
    this.options.world.kernel.count('client:answer_unheard')
    if (outcome.kind === 'answered') learn(this.stage, request, outcome.answer)
  }

  private note(request: GatewayRequest, outcome: GatewayOutcome): void {
    const { kernel } = this.options.world
    if (outcome.kind === 'answered') {
      kernel.count(`answer:${nameOf(outcome)}`)
      this.unresolved.delete(request)
      learn(this.stage, request, outcome.answer)
    } else {
      kernel.count(`answer:${outcome.outcome}`)
      kernel.count(`answer:${outcome.outcome} ${outcome.reason}`)
    }
  }
}

function nameOf(outcome: Extract<GatewayOutcome, { kind: 'answered' }>): string {
  return outcome.answer.kind === 'refused' ? outcome.answer.code : outcome.answer.kind
}
