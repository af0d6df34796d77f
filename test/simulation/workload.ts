/**
 * The clients of a run: what they ask, of whom, and when they ask again. A few hot accounts get most of it, so that
 * batches, repeats and rotations meet. Every request and what became of it goes into the histories.
 */
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { Operation } from '../../runtime/messages.ts'
import type { GatewayOutcome } from '../../runtime/ports/ledger-gateway.ts'
import { LEDGER_ID, type SimEdge, type World } from './cluster-node.ts'
import { isPoisonous, type ModelRequest } from './reference-model.ts'
import { POISON } from './sim-ledger-store-rows.ts'
import type { SeededRandom } from './sim-random.ts'
import { simPublicKey, simSign } from './sim-signer.ts'

export interface WorkloadOptions {
  readonly world: World
  readonly random: SeededRandom
  /** The edges as they are now: one that is down is undefined. */
  readonly edges: () => readonly (SimEdge | undefined)[]
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
}

interface ClientAccount {
  readonly accountId: string
  /** Private seeds; the last is believed to be in force. */
  readonly keys: string[]
  readonly sent: ModelRequest[]
}

/** Longer than any gateway waits: its edge must be dead. */
const CLIENT_TIMEOUT_MS = 20_000
const CALLER = { clientId: 'client', role: 'admin', boundary: true } as const
const STRANGER = { clientId: 'stranger', role: 'transactor', boundary: false } as const

export class Workload {
  /** Requests that have no verdict yet and whose clients have not given up. */
  private readonly unresolved = new Set<ModelRequest>()
  private readonly accounts: readonly ClientAccount[]
  private readonly options: WorkloadOptions
  /** Seeds of keys that rotations bring in, by key. */
  private readonly brings = new Map<string, string>()
  private running = 0
  private thinkMs = 0
  private serial = 0

  constructor(options: WorkloadOptions) {
    this.options = options
    this.accounts = Array.from({ length: options.accounts }, (_, index) => ({
      accountId: `account-${index}`,
      keys: [`key ${index}.0`],
      sent: [],
    }))
  }

  /** Spreads the requests over about that time. */
  start(durationMs: number): void {
    this.thinkMs = durationMs / this.options.requestsPerClient
    for (const account of this.accounts) void this.ask(this.registration(account), true)
    for (let client = 0; client < this.options.clients; client += 1) {
      this.running += 1
      this.later(20, () => void this.client())
    }
  }

  /** Whether every client has sent what it had to send. */
  finished(): boolean {
    return this.running === 0
  }

  /** I11: asks again, until everything that a client still wants has a verdict. */
  async settle(): Promise<void> {
    while (this.unresolved.size > 0) {
      await Promise.all([...this.unresolved].map((request) => this.ask(request, true)))
      await this.pause(100)
    }
  }

  pending(): number {
    return this.unresolved.size
  }

  private async client(): Promise<void> {
    for (let sent = 0; sent < this.options.requestsPerClient; sent += 1) {
      await this.turn()
      await this.pause(this.options.random.between(0, 1.5 * this.thinkMs))
    }
    this.running -= 1
  }

  private async turn(): Promise<void> {
    const { random } = this.options
    const account = this.pickAccount()
    const request = this.draw(account)
    account.sent.push(request)
    // A client in a hurry asks twice at once, through whatever edge; another sends many requests at once.
    if (random.chance(0.08)) void this.ask(request, true)
    const burst = random.chance(0.08) ? random.integer(16) : 0
    for (let more = 0; more < burst; more += 1) {
      const another = this.draw(account)
      account.sent.push(another)
      void this.ask(another, true)
    }
    const persistent = random.chance(0.8)
    for (let attempts = 0; attempts < 4; attempts += 1) {
      const outcome = await this.ask(request, persistent)
      if (outcome?.kind === 'answered' || !persistent) return
      await this.pause(random.between(10, 1_000))
    }
  }

  /** `wanted`: somebody waits for a verdict, now or after the faults. */
  private ask(request: ModelRequest, wanted: boolean): Promise<GatewayOutcome | undefined> {
    const { world, random, edges } = this.options
    if (wanted && !isPoisonous(request)) this.unresolved.add(request)
    const alive = edges().filter((edge) => edge?.process.alive() === true)
    const edge = alive[random.integer(alive.length)]
    if (edge === undefined) return Promise.resolve(undefined)
    const entry = world.clients.sends(request, world.shardOf(request.accountId))
    return new Promise((resolve) => {
      const timeout = world.kernel.schedule(CLIENT_TIMEOUT_MS, 'a client gives up', () => resolve(undefined))
      edge.process.deliver(() => {
        void edge.gateway.ask(request).then((outcome) => {
          timeout.cancel()
          world.clients.hears(entry, outcome)
          world.kernel.count(outcome.kind === 'answered' ? `answer:${nameOf(outcome)}` : `answer:${outcome.outcome}`)
          if (outcome.kind === 'answered') this.learn(request, outcome.answer)
          resolve(outcome)
        })
      })
    })
  }

  private learn(request: ModelRequest, answer: Answer): void {
    this.unresolved.delete(request)
    if (answer.kind !== 'rotated' && answer.kind !== 'registered') return
    const account = this.accounts.find(({ accountId }) => accountId === request.accountId)
    const seed = this.brings.get(answer.account.key?.keyId ?? '')
    if (seed !== undefined && account?.keys.includes(seed) === false) account.keys.push(seed)
  }

  private draw(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const kind = random.fraction()
    if (kind < 0.3) return this.submission(account, 'credit', {})
    if (kind < 0.6) return this.submission(account, 'debit', {})
    if (kind < 0.75) return this.repeat(account)
    if (kind < 0.81) return this.rotation(account)
    if (kind < 0.88) return this.statusChange(account)
    if (kind < 0.91) return this.registration(account)
    return this.oddity(account)
  }

  private submission(account: ClientAccount, type: string, more: Record<string, unknown>, seed?: string): ModelRequest {
    const { random } = this.options
    const body = {
      account_id: account.accountId,
      type,
      amount: amountOf(random),
      idempotency_key: this.name('key'),
      ...more,
    }
    const payload = canonicalJson(body)
    // Now and then a client still uses a key that it has replaced.
    const stale = random.chance(0.05) ? account.keys[random.integer(account.keys.length)] : undefined
    const signature = simSign(seed ?? stale ?? account.keys.at(-1) ?? '', payload)
    const caller = type === 'credit' && random.chance(0.04) ? STRANGER : CALLER
    return { accountId: account.accountId, caller, operation: { kind: 'submit', payload, signature } }
  }

  /** The same key again: the same bytes, the same order signed anew, or another order. */
  private repeat(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const earlier = account.sent[random.integer(account.sent.length)]
    if (earlier === undefined || !('payload' in earlier.operation)) return this.submission(account, 'credit', {})
    const { operation } = earlier
    const kind = random.fraction()
    if (kind < 0.6 || operation.kind === 'rotate_key') return earlier
    const seed = account.keys.at(-1) ?? ''
    const { payload } = operation
    if (kind < 0.8) return { ...earlier, operation: { ...operation, signature: simSign(seed, payload) } }
    const fields = JSON.parse(payload) as Record<string, string>
    const changed = canonicalJson({ ...fields, amount: amountOf(random) })
    return { ...earlier, operation: { kind: 'submit', payload: changed, signature: simSign(seed, changed) } }
  }

  private rotation(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const oldSeed = account.keys.at(-1) ?? ''
    const newSeed = this.name(`${account.accountId} key`)
    const newKey = keyOf(newSeed)
    const body = { account_id: account.accountId, public_key: newKey.publicKey, idempotency_key: this.name('rotation') }
    const payload = canonicalJson(body)
    const proof = random.chance(0.5) ? simSign(random.chance(0.1) ? oldSeed : newSeed, payload) : null
    const operation: Operation = { kind: 'rotate_key', payload, signature: simSign(oldSeed, payload), proof, newKey }
    this.brings.set(newKey.keyId, newSeed)
    return { accountId: account.accountId, caller: CALLER, operation }
  }

  private statusChange(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const status = random.chance(0.04) ? 'closed' : random.pick(['active', 'active', 'active', 'frozen', null] as const)
    const incoming = random.pick([null, 'accept', 'accept', 'refuse'] as const)
    const operation: Operation = { kind: 'change_status', status, incoming, reason: this.name('reason') }
    return { accountId: account.accountId, caller: CALLER, operation }
  }

  private registration(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const first = account.keys[0] ?? ''
    const seed = account.sent.length > 0 && random.chance(0.2) ? this.name('other key') : first
    const registrationKey = random.chance(0.5) ? `registration ${account.accountId}` : null
    const key = keyOf(seed)
    this.brings.set(key.keyId, seed)
    const operation: Operation = { kind: 'register', key, registrationKey }
    return { accountId: account.accountId, caller: CALLER, operation }
  }

  private oddity(account: ClientAccount): ModelRequest {
    const { random } = this.options
    const unknown: ClientAccount = { accountId: `nobody-${random.integer(3)}`, keys: account.keys, sent: [] }
    switch (random.integer(7)) {
      case 0:
        return this.submission(account, 'debit', {}, 'a forger')
      case 1:
        return this.submission(unknown, 'credit', {})
      case 2:
        return this.submission(account, 'credit', { token_id: 'NOPE' })
      case 3:
        return this.submission(account, 'credit', { ledger_id: random.chance(0.5) ? LEDGER_ID : 'another' })
      case 4:
        return this.submission(account, 'credit', {
          expires_at: random.chance(0.5) ? '2001-01-01T00:00:00Z' : '2101-01-01T00:00:00Z',
        })
      case 5:
        return this.submission(account, 'credit', { amount: '999999999999999999.5' })
      default:
        return this.submission(account, 'credit', { metadata: { note: POISON } })
    }
  }

  /** Skewed: the first account gets a good third of all. */
  private pickAccount(): ClientAccount {
    const { random } = this.options
    const index = Math.floor(this.accounts.length * random.fraction() ** 2.5)
    const account = this.accounts[index] ?? this.accounts[0]
    if (account === undefined) throw new Error('a workload needs accounts')
    return account
  }

  private name(prefix: string): string {
    this.serial += 1
    return `${prefix} ${this.serial}`
  }

  private later(withinMs: number, run: () => void): void {
    this.options.world.kernel.schedule(this.options.random.between(0, withinMs), 'a client starts', run)
  }

  private pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.options.world.kernel.schedule(durationMs, 'a client thinks', resolve)
    })
  }
}

function keyOf(seed: string): AccountKey {
  const publicKey = simPublicKey(seed)
  return { keyId: `id of ${publicKey}`, publicKey }
}

function amountOf(random: SeededRandom): string {
  const whole = random.integer(50) + 1
  return random.chance(0.3) ? `${whole}.${random.integer(9) + 1}` : `${whole}`
}

function nameOf(outcome: Extract<GatewayOutcome, { kind: 'answered' }>): string {
  return outcome.answer.kind === 'refused' ? outcome.answer.code : outcome.answer.kind
}
