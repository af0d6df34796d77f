/** The participants of a run: the accounts with their keys, the tokens that clients know, and the signing of orders. */
import { accountAddress } from '../../../actors/address.ts'
import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'
import type { AccountKey } from '../../../actors/account/state.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import { formatQuantity, LARGEST, parseQuantity } from '../../../actors/money.ts'
import type { GatewayOutcome, GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { addressOf } from '../../support/reference-encoding.ts'
import { LEDGER_ID, type World } from '../cluster/cluster-node.ts'
import type { SignedOperation, ForeignKeyUses } from '../reference/imports.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import { simAccountKey, simPublicKey, simSign } from '../cluster/sim-signer.ts'

export interface ClientAccount {
  readonly accountId: string
  /** Private seeds; the last is presumably in force. */
  readonly keys: string[]
  readonly sent: GatewayRequest[]
  /** Its idempotency keys on its former ledger. Orders of such an account name the ledger that they are for. */
  readonly usedThere?: ForeignKeyUses
}

/** A token as its client learned of it. */
export interface TokenRecord {
  readonly tokenId: string
  readonly issuer: string
}

export interface KnownClass {
  readonly classId: string
  readonly issuer: string
}

/** An NFT as submissions and legs name it, and its owner as far as clients know. */
export interface NftRecord {
  readonly class_id: string
  readonly instance_id: string
  owner: string
}

/** State shared by all clients of a run, and the run's bias. */
export interface Stage {
  readonly world: World
  readonly accounts: ClientAccount[]
  readonly tokens: TokenRecord[]
  readonly classes: KnownClass[]
  /** The presumed owners of NFTs. */
  readonly nfts: Map<string, NftRecord>
  /** Seeds of keys that registrations and rotations introduce, by key. */
  readonly brings: Map<string, string>
  /** 1: equal shares for all accounts; a higher skew prefers the first. */
  readonly skew: number
  /** How often an amount is the largest or the smallest possible one. */
  readonly extremes: number
  /** Whether clients refund received transfers. */
  readonly refunds: boolean
}

export function createStage(world: World, random: SeededRandom, accounts: number): Stage {
  return {
    world,
    accounts: Array.from({ length: accounts }, (_, index) => ({
      accountId: `account-${index}`,
      keys: [`key ${index}.0`],
      sent: [],
    })),
    tokens: [],
    classes: [],
    nfts: new Map(),
    brings: new Map(),
    // With the third value the first account gets more than a third of all requests; with the last, nine tenths.
    skew: random.fork('skew').pick([1, 2.5, 2.5, 2.5, 6, 20]),
    extremes: random.fork('extremes').pick([0, 0, 0.03]),
    refunds: random.fork('refunds').chance(0.4),
  }
}

/** One client's own part. */
export interface Player {
  /** Unique. */
  readonly name: string
  readonly random: SeededRandom
  readonly ask: Ask
  /** How far its clock is ahead, milliseconds. */
  readonly clockOffMs: number
}

/** Sends a request. `wanted`: the client waits for a verdict, now or after the faults. */
export type Ask = (request: GatewayRequest, wanted: boolean) => Promise<GatewayOutcome | undefined>

export const CALLER = { clientId: 'client', role: 'admin', boundary: true } as const
/** Has fewer rights, and registers the same names as the other client. */
export const STRANGER = { clientId: 'stranger', role: 'transactor', boundary: false } as const

/** Mutable fields of a body; the sender signs all of them. */
export type Fields = Readonly<Record<string, Json | undefined>>

/** How often an amount is the account's whole balance. */
const EDGES = 0.08

const SMALLEST_AMOUNT = '0.000000000000000001'
const LARGEST_AMOUNT = '999999999999999999.999999999999999999'

/** The stage for one client, with its own randomness and names: its requests do not depend on the other clients. */
export class Cast {
  readonly accounts: readonly ClientAccount[]
  readonly tokens: TokenRecord[]
  readonly classes: KnownClass[]
  readonly nfts: Map<string, NftRecord>
  readonly random: SeededRandom
  readonly ask: Ask
  readonly world: World
  readonly refunds: boolean
  private readonly stage: Stage
  private readonly player: Player
  private serial = 0

  constructor(stage: Stage, player: Player) {
    this.stage = stage
    this.player = player
    this.world = stage.world
    this.refunds = stage.refunds
    this.accounts = stage.accounts
    this.tokens = stage.tokens
    this.classes = stage.classes
    this.nfts = stage.nfts
    this.random = player.random
    this.ask = player.ask
  }

  pickAccount(): ClientAccount {
    return this.accountAt(Math.floor(this.accounts.length * this.random.fraction() ** this.stage.skew))
  }

  /** Another account. */
  counterparty(account: ClientAccount): ClientAccount {
    const others = this.accounts.filter((other) => other !== account)
    return others[Math.floor(others.length * this.random.fraction() ** 1.5)] ?? account
  }

  accountAt(index: number): ClientAccount {
    const account = this.accounts[index] ?? this.accounts[0]
    if (account === undefined) throw new Error('a workload needs accounts')
    return account
  }

  /** Neither the first account, which may dominate a run, nor one of the last. */
  joins(account: ClientAccount): void {
    this.stage.accounts.splice(1 + this.random.integer(3), 0, account)
  }

  find(accountId: string): ClientAccount | undefined {
    return this.accounts.find((account) => account.accountId === accountId)
  }

  /** Prefers the first tokens: those are spread among the accounts. */
  pickToken(): TokenRecord | undefined {
    return this.tokens[Math.floor(this.tokens.length * this.random.fraction() ** 2)]
  }

  /** The base unit or a known token. */
  pickAsset(): string {
    return this.random.chance(0.5) ? 'BASE' : (this.pickToken()?.tokenId ?? 'BASE')
  }

  /** Prefers NFTs that the account presumably owns. */
  pickNft(account: ClientAccount): NftRecord | undefined {
    const all = [...this.nfts.values()]
    const own = all.filter(({ owner }) => owner === account.accountId)
    return this.random.chance(0.9) && own.length > 0
      ? own[this.random.integer(own.length)]
      : all[this.random.integer(all.length)]
  }

  amount(): string {
    if (this.random.chance(this.stage.extremes)) return this.random.chance(0.6) ? SMALLEST_AMOUNT : LARGEST_AMOUNT
    if (this.random.chance(0.04)) return `${this.random.integer(9)}.${this.digits(17)}7`
    const whole = this.random.integer(50) + 1
    return this.random.chance(0.3) ? `${whole}.${this.random.integer(9) + 1}` : `${whole}`
  }

  /**
   * Exactly the amount that the account can give or take, or the smallest excess, as a client would read it just
   * before; mostly undefined, and undefined if there is no limit.
   */
  edgeAmount({ accountId }: ClientAccount, type: string, { token_id: tokenId, class_id: classId }: Fields) {
    const { random, world } = this
    if (classId !== undefined || !random.chance(type === 'credit' ? 0.01 : EDGES)) return undefined
    const asset = typeof tokenId === 'string' ? tokenId : 'BASE'
    const address = accountAddress(accountId)
    const row = world.database.rows.balances.get(addressOf({ shardId: world.homeOf(address), accountId }))?.get(asset)
    if (row === undefined) return undefined
    const most = type === 'credit' ? LARGEST - row.balance - row.incoming - row.room : row.balance - row.reserved
    if (most <= 0n) return undefined
    const more = most + parseQuantity(asset === 'BASE' ? SMALLEST_AMOUNT : '0.1')
    // An edge refuses amounts above the largest.
    const isTooMuch = random.chance(0.3) && more <= LARGEST
    world.kernel.count(`client:${type === 'credit' ? 'room' : 'balance'}_${isTooMuch ? 'exceeded' : 'exhausted'}`)
    // A tenth fits the decimals of every token.
    return formatQuantity(isTooMuch ? more : most)
  }

  private digits(count: number): string {
    return Array.from({ length: count }, () => this.random.integer(10)).join('')
  }

  groupId(): string {
    const hex = this.random.hex(16)
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** After so many milliseconds, by this client's clock. */
  expiresAt(inMs: number): string {
    return new Date(Math.floor(this.world.kernel.wallMs() + this.player.clockOffMs + inMs)).toISOString()
  }

  name(prefix: string): string {
    this.serial += 1
    return `${prefix} ${this.player.name}.${this.serial}`
  }

  /** The key of a seed: clients that learn that it is in force sign with it from then on. */
  bring(seed: string): AccountKey {
    const key = simAccountKey(simPublicKey(seed))
    this.stage.brings.set(key.keyId, seed)
    return key
  }

  /**
   * Mostly a new key. For an imported account sometimes a key that it used on its former ledger, for this or another
   * operation.
   */
  orderKey(account: ClientAccount, operation: SignedOperation, prefix: string): string {
    const { usedThere } = account
    if (usedThere === undefined || !this.random.chance(0.2)) return this.name(prefix)
    const used = usedThere[this.random.chance(0.8) ? operation : 'key_rotation']
    return used[this.random.integer(used.length)] ?? this.name(prefix)
  }

  /** `seed`: another key than the account's own. */
  submission(account: ClientAccount, type: string, more: Fields, seed?: string): GatewayRequest {
    const { random } = this
    const body = {
      account_id: account.accountId,
      type,
      amount: this.edgeAmount(account, type, more) ?? this.amount(),
      idempotency_key: this.orderKey(account, 'transaction', 'key'),
      ...(account.usedThere !== undefined && random.chance(0.9) ? { ledger_id: LEDGER_ID } : {}),
      ...more,
    }
    const payload = canonicalJson(whole(body))
    // Sometimes a client still uses a replaced key.
    const stale = random.chance(0.05) ? account.keys[random.integer(account.keys.length)] : undefined
    const signature = simSign(seed ?? stale ?? account.keys.at(-1) ?? '', payload)
    const caller = type === 'credit' && random.chance(0.04) ? STRANGER : CALLER
    const actor = accountAddress(account.accountId)
    return { actor, caller, operation: { kind: 'submit', payload, signature } }
  }

  /** The same order under a new idempotency key; undefined for operations without one. */
  renewed({ operation, actor, ...request }: GatewayRequest): GatewayRequest | undefined {
    if (operation.kind !== 'submit' && operation.kind !== 'mint') return undefined
    const fields = JSON.parse(operation.payload) as Record<string, Json>
    const payload = canonicalJson({ ...fields, idempotency_key: this.name('renewed key') })
    const signature = simSign(this.find(actor.id)?.keys.at(-1) ?? '', payload)
    return { ...request, actor, operation: { ...operation, payload, signature } }
  }

  /** Sends without waiting. */
  send(account: ClientAccount, request: GatewayRequest): void {
    account.sent.push(request)
    void this.ask(request, true)
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

/** Learns keys, tokens, classes and NFTs from an answer. */
export function learn(
  { accounts, tokens, classes, nfts, brings }: Stage,
  { actor }: GatewayRequest,
  answer: Answer,
): void {
  if (answer.kind === 'token_registered') {
    const { tokenId, issuer } = answer.token
    if (!tokens.some((token) => token.tokenId === tokenId)) tokens.push({ tokenId, issuer })
  }
  if (answer.kind === 'class_registered') {
    const { classId, issuer } = answer.nftClass
    if (!classes.some((known) => known.classId === classId)) classes.push({ classId, issuer })
  }
  if (answer.kind === 'minted') {
    const { classId: class_id, instanceId: instance_id, owner } = answer.instance
    const nftId = `${class_id}/${instance_id}`
    if (!nfts.has(nftId)) nfts.set(nftId, { class_id, instance_id, owner })
  }
  if (answer.kind !== 'rotated' && answer.kind !== 'registered') return
  const account = accounts.find(({ accountId }) => accountId === actor.id)
  const seed = brings.get(answer.account.key?.keyId ?? '')
  if (seed !== undefined && account?.keys.includes(seed) === false) account.keys.push(seed)
}

/** Without undefined fields. */
function whole(fields: Fields): Record<string, Json> {
  const defined: Record<string, Json> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) defined[name] = value
  return defined
}
