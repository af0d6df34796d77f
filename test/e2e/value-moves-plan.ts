/**
 * What the clients of the value moves are going to do, drawn from a seed before anything is sent: the same seed gives
 * the same orders. Which of them meets a kill, and in which order they reach their shards, no seed decides.
 */
import { createSeededRandom, type SeededRandom } from '../simulation/sim-random.ts'

export interface Asset {
  readonly tokenId: string
  readonly decimals: number
}

export interface Token extends Asset {
  readonly issuer: string
  readonly totalSupply: string
}

export interface Credit {
  readonly accountId: string
  readonly tokenId: string
  readonly amount: string
}

export interface TransferOrder extends Credit {
  readonly kind: 'transfer'
  readonly toAccountId: string
}

/** Over the ledger's boundary, or a change of supply. */
export interface SingleOrder extends Credit {
  readonly kind: 'single'
  readonly type: 'debit' | 'mint' | 'burn'
}

/** One side, or both. */
export interface ExchangeOrder {
  readonly kind: 'exchange'
  readonly groupId: string
  readonly sides: readonly ExchangeOffer[]
  readonly secondsToLive: number
}

export interface ExchangeOffer extends Credit {
  readonly toAccountId: string
  readonly receive: { readonly tokenId: string; readonly amount: string }
}

export interface GroupOrder {
  readonly kind: 'group'
  readonly groupId: string
  readonly legs: readonly Leg[]
  /** Of the legs that are submitted, by their place: all but those that stay away. */
  readonly submitted: readonly number[]
  /** After how many submitted legs its client wants it undone; null: never. */
  readonly revertAfter: number | null
  readonly timeoutSeconds: number
  readonly keyed: boolean
}

export interface Leg extends Credit {
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  readonly toAccountId: string | null
  readonly boundary: boolean
}

export type Order = TransferOrder | SingleOrder | ExchangeOrder | GroupOrder

export interface Plan {
  readonly accounts: readonly string[]
  readonly tokens: readonly Token[]
  /** Accounts that take nothing in but what they bring in themselves before. */
  readonly refusing: readonly string[]
  readonly credits: readonly Credit[]
  readonly orders: readonly Order[]
}

export interface PlanSize {
  readonly accounts: number
  readonly tokens: number
  readonly orders: number
}

/** Moved without being registered. */
const BASE: Asset = { tokenId: 'BASE', decimals: 18 }
const TOKEN_DECIMALS = [0, 2, 6, 8, 18] as const
const TOKENS_EACH = 2
const BASE_SHARE = 0.7
/** Orders that take of what the account was not given: most of them fail for want of it. */
const WANTING = 0.06
/** Some are in everything, so that orders meet at one account. */
const HOT_ACCOUNTS = 8
const HOT_SHARE = 0.2
/** One in so many accounts refuses what comes in. */
const REFUSING_EVERY = 50
/** No account ever has so much of anything, issuers included. */
const UNAFFORDABLE = '900000000'
/** How often an order is for so much. */
const POOR = 0.03
const PATIENT_SECONDS = 20

export function planOf(seed: number, size: PlanSize): Plan {
  const accounts = Array.from({ length: size.accounts }, (_, number) => `account-${number}@value-moves`)
  const tokens = Array.from({ length: size.tokens }, (_, number): Token => ({
    tokenId: `TOKEN-${number}`,
    decimals: TOKEN_DECIMALS[number % TOKEN_DECIMALS.length] ?? 0,
    issuer: accounts[number] ?? '',
    totalSupply: `${1_000_000 * number}`,
  }))
  const refusing = accounts.filter((_, number) => number % REFUSING_EVERY === REFUSING_EVERY - 1)
  const drawing = new Drawing(createSeededRandom(seed, 'value moves'), accounts, tokens)
  const credits = drawing.credits()
  return { accounts, tokens, refusing, credits, orders: Array.from({ length: size.orders }, () => drawing.order()) }
}

function isReturned(sent: Leg, credit: Leg): boolean {
  const sends = sent.type === 'transfer' || sent.type === 'exchange'
  return sends && credit.type === 'credit' && sent.accountId === credit.accountId && sent.tokenId === credit.tokenId
}

class Drawing {
  private readonly assets: readonly Asset[]
  private readonly random: SeededRandom
  private readonly accounts: readonly string[]
  private readonly tokens: readonly Token[]
  /** What each account is given to begin with. */
  private readonly given: ReadonlyMap<string, readonly Asset[]>

  constructor(random: SeededRandom, accounts: readonly string[], tokens: readonly Token[]) {
    this.random = random
    this.accounts = accounts
    this.tokens = tokens
    this.assets = [...tokens, BASE]
    // Of the tokens first, so that everybody has some to exchange.
    this.given = new Map(
      accounts.map((accountId) => [
        accountId,
        [...this.severalOf(tokens, TOKENS_EACH), ...(random.chance(BASE_SHARE) ? [BASE] : [])],
      ]),
    )
  }

  credits(): readonly Credit[] {
    return [...this.given].flatMap(([accountId, assets]) =>
      assets.map(({ tokenId }) => ({ accountId, tokenId, amount: '1000' })),
    )
  }

  order(): Order {
    const share = this.random.fraction()
    if (share < 0.5) return this.transfer()
    if (share < 0.58) return this.single()
    return share < 0.75 ? this.exchange() : this.group()
  }

  /** So many different ones. */
  private severalOf<T>(all: readonly T[], count: number): readonly T[] {
    const left = [...all]
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(this.random.integer(left.length), 1),
    ).flat()
  }

  private transfer(): TransferOrder {
    const [accountId, toAccountId] = this.twoAccounts()
    return { kind: 'transfer', accountId, toAccountId, ...this.value(this.assetOf(accountId), POOR) }
  }

  private single(): SingleOrder {
    const type = this.one(['debit', 'mint', 'burn'] as const)
    if (type === 'mint') return { kind: 'single', type, ...this.minted() }
    const accountId = this.account()
    const asset = type === 'burn' ? this.tokenOf(accountId) : this.assetOf(accountId)
    return { kind: 'single', type, accountId, ...this.value(asset, POOR) }
  }

  private exchange(): ExchangeOrder {
    const [left, right] = this.twoAccounts()
    const own = this.tokenOf(left)
    const other = this.tokenOf(right, own)
    const given = this.value(own, POOR)
    const taken = this.value(other, POOR)
    const sides = [
      { accountId: left, toAccountId: right, ...given, receive: taken },
      { accountId: right, toAccountId: left, ...taken, receive: given },
    ]
    const isLonely = this.random.chance(0.1)
    return {
      kind: 'exchange',
      groupId: this.uuid(),
      sides: this.severalOf(sides, isLonely ? 1 : 2),
      secondsToLive: isLonely ? 3 : 6,
    }
  }

  private group(): GroupOrder {
    const legs = this.legs()
    const all = this.severalOf([...legs.keys()], legs.length)
    const fate = this.random.fraction()
    const isIncomplete = fate < 0.15
    return {
      kind: 'group',
      groupId: this.uuid(),
      legs,
      submitted: isIncomplete ? all.slice(0, this.random.integer(all.length)) : all,
      revertAfter: fate > 0.85 ? this.random.integer(all.length + 1) : null,
      timeoutSeconds: isIncomplete ? 3 + this.random.integer(3) : PATIENT_SECONDS,
      keyed: this.random.chance(0.5),
    }
  }

  /** 2 or 3 legs that net to zero. No account both sends and receives an asset: the registration would be refused. */
  private legs(): readonly Leg[] {
    for (;;) {
      const legs = this.netLegs()
      if (!legs.some((credit) => legs.some((sent) => isReturned(sent, credit)))) return legs
    }
  }

  private netLegs(): readonly Leg[] {
    const paired = this.random.integer(4)
    if (paired === 0) {
      const { accountId, toAccountId, ...value } = this.transferLeg()
      const isToken = value.tokenId !== BASE.tokenId
      const type = isToken && this.random.chance(0.3) ? 'exchange' : 'debit'
      const taken: Leg = { ...value, accountId, type, toAccountId: null }
      const given: Leg = { ...value, accountId: toAccountId ?? '', type: 'credit', toAccountId: null }
      return this.random.chance(0.5) ? [taken, given] : [taken, given, this.transferLeg()]
    }
    const other = paired === 1 ? this.supplyLeg() : paired === 2 ? this.boundaryLeg() : this.transferLeg()
    return this.random.chance(0.5) ? [this.transferLeg(), other] : [this.transferLeg(), other, this.transferLeg()]
  }

  private transferLeg(): Leg {
    const [accountId, toAccountId] = this.twoAccounts()
    const value = this.value(this.assetOf(accountId), POOR)
    return { type: 'transfer', accountId, toAccountId, boundary: false, ...value }
  }

  private supplyLeg(): Leg {
    const type = this.one(['mint', 'burn'] as const)
    const leg = { toAccountId: null, boundary: false }
    if (type === 'mint') return { type, ...leg, ...this.minted() }
    const accountId = this.account()
    return { type, accountId, ...leg, ...this.value(this.tokenOf(accountId), 0) }
  }

  private boundaryLeg(): Leg {
    const type = this.one(['debit', 'credit'] as const)
    const accountId = this.account()
    return { type, accountId, toAccountId: null, boundary: true, ...this.value(this.assetOf(accountId), 0) }
  }

  private minted(): Credit {
    const token = this.one(this.tokens)
    return { accountId: token.issuer, ...this.value(token, 0) }
  }

  /** Of what the account was given, but for a few. */
  private assetOf(accountId: string): Asset {
    return this.one(this.random.chance(WANTING) ? this.assets : (this.given.get(accountId) ?? []))
  }

  private tokenOf(accountId: string, but?: Asset): Asset {
    const given = (this.given.get(accountId) ?? []).filter((asset) => asset !== BASE && asset !== but)
    return this.one(this.random.chance(WANTING) ? this.tokens.filter((token) => token !== but) : given)
  }

  /** `poor`: how often nobody could pay it. */
  private value({ tokenId, decimals }: Asset, poor: number): Pick<Credit, 'tokenId' | 'amount'> {
    if (this.random.chance(poor)) return { tokenId, amount: UNAFFORDABLE }
    const whole = 1 + this.random.integer(60)
    const digits = Array.from({ length: this.random.integer(decimals + 1) }, () => this.random.integer(10)).join('')
    return { tokenId, amount: digits === '' ? `${whole}` : `${whole}.${digits}` }
  }

  private twoAccounts(): readonly [string, string] {
    const first = this.account()
    for (;;) {
      const second = this.account()
      if (second !== first) return [first, second]
    }
  }

  private account(): string {
    return this.one(this.random.chance(HOT_SHARE) ? this.accounts.slice(0, HOT_ACCOUNTS) : this.accounts)
  }

  private one<T>(all: readonly T[]): T {
    const [first, ...rest] = all
    if (first === undefined) throw new Error('there is nothing to choose from')
    return this.random.pick([first, ...rest])
  }

  /** Version 4 (RFC 9562). */
  private uuid(): string {
    const digits = this.random.hex(16)
    return [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`]
      .concat(digits.slice(20))
      .join('-')
  }
}
