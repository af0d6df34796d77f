/** Who plays in a run: the accounts with their keys, the tokens that clients know of, and how each of them signs. */
import { accountAddress } from '../../actors/address.ts'
import { canonicalJson, type Json } from '../../actors/canonical-json.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { GatewayOutcome, GatewayRequest } from '../../runtime/ports/ledger-gateway.ts'
import type { World } from './cluster-node.ts'
import type { SeededRandom } from './sim-random.ts'
import { simPublicKey, simSign } from './sim-signer.ts'

export interface ClientAccount {
  readonly accountId: string
  /** Private seeds; the last is believed to be in force. */
  readonly keys: string[]
  readonly sent: GatewayRequest[]
}

/** A token as its client was told of it. */
export interface KnownToken {
  readonly tokenId: string
  readonly issuer: string
}

export interface KnownClass {
  readonly classId: string
  readonly issuer: string
}

/** An NFT as submissions and legs name it, and its owner as far as clients know. */
export interface KnownNft {
  readonly class_id: string
  readonly instance_id: string
  owner: string
}

/** Asks the ledger as its clients do. `wanted`: somebody waits for a verdict, now or after the faults. */
export type Ask = (request: GatewayRequest, wanted: boolean) => Promise<GatewayOutcome | undefined>

export const CALLER = { clientId: 'client', role: 'admin', boundary: true } as const
/** May do less, and registers what the other would register too. */
export const STRANGER = { clientId: 'stranger', role: 'transactor', boundary: false } as const

/** Mutable fields of a body; whoever sends it signs all of them. */
export type Fields = Readonly<Record<string, Json | undefined>>

export class Cast {
  readonly accounts: readonly ClientAccount[]
  readonly tokens: KnownToken[] = []
  readonly classes: KnownClass[] = []
  /** Who is believed to own what. */
  readonly nfts = new Map<string, KnownNft>()
  readonly random: SeededRandom
  readonly ask: Ask
  readonly world: World
  /** Seeds of keys that registrations and rotations bring in, by key. */
  private readonly brings = new Map<string, string>()
  private serial = 0

  constructor(world: World, random: SeededRandom, accounts: number, ask: Ask) {
    this.world = world
    this.random = random
    this.ask = ask
    this.accounts = Array.from({ length: accounts }, (_, index) => ({
      accountId: `account-${index}`,
      keys: [`key ${index}.0`],
      sent: [],
    }))
  }

  /** Skewed: the first account gets a good third of all. */
  pickAccount(): ClientAccount {
    return this.accountAt(Math.floor(this.accounts.length * this.random.fraction() ** 2.5))
  }

  /** Another one. */
  counterparty(account: ClientAccount): ClientAccount {
    const others = this.accounts.filter((other) => other !== account)
    return others[Math.floor(others.length * this.random.fraction() ** 1.5)] ?? account
  }

  accountAt(index: number): ClientAccount {
    const account = this.accounts[index] ?? this.accounts[0]
    if (account === undefined) throw new Error('a workload needs accounts')
    return account
  }

  find(accountId: string): ClientAccount | undefined {
    return this.accounts.find((account) => account.accountId === accountId)
  }

  /** Most likely one of the first: those are spread among the accounts. */
  pickToken(): KnownToken | undefined {
    return this.tokens[Math.floor(this.tokens.length * this.random.fraction() ** 2)]
  }

  /** The base unit, or a token that is known. */
  pickAsset(): string {
    return this.random.chance(0.5) ? 'BASE' : (this.pickToken()?.tokenId ?? 'BASE')
  }

  /** Most likely one of the account's, as far as is known. */
  pickNft(account: ClientAccount): KnownNft | undefined {
    const all = [...this.nfts.values()]
    const own = all.filter(({ owner }) => owner === account.accountId)
    return this.random.chance(0.9) && own.length > 0
      ? own[this.random.integer(own.length)]
      : all[this.random.integer(all.length)]
  }

  amount(): string {
    const whole = this.random.integer(50) + 1
    return this.random.chance(0.3) ? `${whole}.${this.random.integer(9) + 1}` : `${whole}`
  }

  groupId(): string {
    const hex = this.random.hex(16)
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** In so many milliseconds of true time. */
  expiresAt(inMs: number): string {
    return new Date(Math.floor(this.world.kernel.wallMs() + inMs)).toISOString()
  }

  name(prefix: string): string {
    this.serial += 1
    return `${prefix} ${this.serial}`
  }

  /** The key that a seed stands for: whoever is told that it is in force signs with it from then on. */
  bring(seed: string): AccountKey {
    const publicKey = simPublicKey(seed)
    const key = { keyId: `id of ${publicKey}`, publicKey }
    this.brings.set(key.keyId, seed)
    return key
  }

  /** `seed`: another key than the account's own. */
  submission(account: ClientAccount, type: string, more: Fields, seed?: string): GatewayRequest {
    const { random } = this
    const body = {
      account_id: account.accountId,
      type,
      amount: this.amount(),
      idempotency_key: this.name('key'),
      ...more,
    }
    const payload = canonicalJson(whole(body))
    // Now and then a client still uses a key that it has replaced.
    const stale = random.chance(0.05) ? account.keys[random.integer(account.keys.length)] : undefined
    const signature = simSign(seed ?? stale ?? account.keys.at(-1) ?? '', payload)
    const caller = type === 'credit' && random.chance(0.04) ? STRANGER : CALLER
    const actor = accountAddress(account.accountId)
    return { actor, caller, operation: { kind: 'submit', payload, signature } }
  }

  /** Sends it and does not wait. */
  send(account: ClientAccount, request: GatewayRequest): void {
    account.sent.push(request)
    void this.ask(request, true)
  }

  /** What an answer tells of keys and tokens. */
  learn({ actor }: GatewayRequest, answer: Answer): void {
    if (answer.kind === 'token_registered') {
      const { tokenId, issuer } = answer.token
      if (!this.tokens.some((token) => token.tokenId === tokenId)) this.tokens.push({ tokenId, issuer })
    }
    if (answer.kind === 'class_registered') {
      const { classId, issuer } = answer.nftClass
      if (!this.classes.some((known) => known.classId === classId)) this.classes.push({ classId, issuer })
    }
    if (answer.kind === 'minted') {
      const { classId: class_id, instanceId: instance_id, owner } = answer.instance
      const nftId = `${class_id}/${instance_id}`
      if (!this.nfts.has(nftId)) this.nfts.set(nftId, { class_id, instance_id, owner })
    }
    if (answer.kind !== 'rotated' && answer.kind !== 'registered') return
    const account = this.find(actor.id)
    const seed = this.brings.get(answer.account.key?.keyId ?? '')
    if (seed !== undefined && account?.keys.includes(seed) === false) account.keys.push(seed)
  }

  later(withinMs: number, run: () => void): void {
    this.world.kernel.schedule(this.random.between(0, withinMs), 'a client starts', run)
  }

  pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.kernel.schedule(durationMs, 'a client thinks', resolve)
    })
  }
}

/** Without what is undefined. */
function whole(fields: Fields): Record<string, Json> {
  const defined: Record<string, Json> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) defined[name] = value
  return defined
}
