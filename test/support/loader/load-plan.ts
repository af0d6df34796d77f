/**
 * The accounts of a load, each by its number alone, so that any thread can make any of them.
 *   Q1. The first accounts are founders: the issuers of the tokens, one each; then, class by class of the NFTs, its issuer
 *       and its collectors. The last ones are keyless, those before them empty, those before them drained.
 *   Q2. Accounts are registered one after another over the first half of the load's time; what each does is spread over
 *       the rest of it.
 */
import { BASE_DECIMALS, BASE_UNIT, formatQuantity, Quantity } from '../../../actors/money.ts'
import type { TokenFacts } from '../../../actors/token/state.ts'
import { createSeededRandom, type SeededRandom } from '../../simulation/sim-random.ts'
import { classSizesOf, collectorsFor, type LoadShape, MOST_OF_AN_ACCOUNT } from './load-shape.ts'

export type AccountKind = 'funded' | 'drained' | 'empty' | 'keyless'

export interface PlannedToken extends TokenFacts {
  readonly totalSupply: string
}

export interface PlannedClass {
  readonly name: string
  /** Numbers of accounts. */
  readonly issuer: number
  readonly collectors: readonly number[]
  readonly instances: number
}

/** What an account submits at the ledger's boundary. */
export interface Order {
  readonly type: 'credit' | 'debit'
  readonly tokenId: string
  readonly amount: string
}

/** The time that a load's transactions lie in, milliseconds since 1970. */
export interface LoadSpan {
  readonly startMs: number
  readonly endMs: number
}

interface Asset {
  readonly tokenId: string
  readonly decimals: number
}

const BASE: Asset = { tokenId: BASE_UNIT, decimals: BASE_DECIMALS }
const DECIMALS = [2, 0, 6, 18] as const
/** Of the Pareto distribution in which a fifth of all has four fifths. */
const PARETO_ALPHA = Math.log(5) / Math.log(4)
const LARGEST_MAGNITUDE = 6
const CREDITS = 0.7
/** Of the debits, those of more than there is. */
const OVERDRAWN = 1 / 32
/** Fractions are drawn as two numbers of nine digits. */
const NINE_DIGITS = 1_000_000_000

export class LoadPlan {
  readonly shape: LoadShape
  readonly tokens: readonly PlannedToken[]
  readonly classes: readonly PlannedClass[]
  /** How many accounts, from the first, issue or collect. */
  readonly founders: number

  constructor(shape: LoadShape) {
    this.shape = shape
    const random = createSeededRandom(shape.seed, 'tokens')
    this.tokens = Array.from({ length: shape.tokens }, (_, number) => ({
      tokenId: `TOKEN-${number}`,
      decimals: DECIMALS[number % DECIMALS.length] ?? 0,
      issuer: this.accountIdOf(number),
      totalSupply: String(random.integer(NINE_DIGITS)),
    }))
    let next = shape.tokens
    this.classes = classSizesOf(shape.nfts).map((instances, number) => {
      const issuer = next
      next += 1 + collectorsFor(instances)
      const collectors = Array.from({ length: next - issuer - 1 }, (_, index) => issuer + 1 + index)
      return { name: `Class ${number}`, issuer, collectors, instances }
    })
    this.founders = next
  }

  accountIdOf(number: number): string {
    return accountIdOf(number)
  }

  kindOf(number: number): AccountKind {
    const { accounts, drained, empty, keyless } = this.shape
    const fromEnd = accounts - number
    if (fromEnd <= keyless) return 'keyless'
    if (fromEnd <= keyless + empty) return 'empty'
    return fromEnd <= keyless + empty + drained ? 'drained' : 'funded'
  }

  keyNumberOf(number: number): number {
    return number % this.shape.keys
  }

  registeredAtMs(number: number, { startMs, endMs }: LoadSpan): number {
    return Math.floor(startMs + (endMs - startMs) * (number / this.shape.accounts / 2))
  }

  ordersOf(number: number): PlannedOrders {
    return new PlannedOrders(this, createSeededRandom(this.shape.seed, `account ${number}`))
  }
}

export function accountIdOf(number: number): string {
  return `account-${number}@load`
}

/** What one account orders, one after another; what is paid out follows from what it then has. */
export class PlannedOrders {
  /** Without those that pay out the rest of a drained account. */
  readonly count: number
  private readonly random: SeededRandom
  private readonly assets: readonly [Asset, ...Asset[]]
  private made = 0

  constructor({ shape, tokens }: LoadPlan, random: SeededRandom) {
    this.random = random
    this.count = shape.skewed ? skewedCount(random, shape.transactions) : shape.transactions
    const wallet = new Set([1, 2].map(() => tokens[random.integer(tokens.length)]))
    this.assets = [BASE, ...[...wallet].filter((token) => token !== undefined)]
  }

  /** `atMs` of the next order, spread evenly over the time that is left after the registration. */
  nextAtMs(registeredAtMs: number, endMs: number): number {
    return Math.floor(registeredAtMs + ((endMs - registeredAtMs) * (this.made + this.random.fraction())) / this.count)
  }

  next(availableOf: (tokenId: string) => Quantity): Order {
    const isFirst = this.made === 0
    const asset = isFirst ? BASE : this.random.pick(this.assets)
    this.made += 1
    if (isFirst || this.random.chance(CREDITS)) return this.credit(asset)
    const available = availableOf(asset.tokenId)
    if (this.random.chance(OVERDRAWN)) return debit(asset, available.plus(1))
    const share = available.times(this.random.fraction()).toDecimalPlaces(asset.decimals, Quantity.ROUND_DOWN)
    return share.isZero() ? this.credit(asset) : debit(asset, share)
  }

  private credit({ tokenId, decimals }: Asset): Order {
    const whole = Math.floor(10 ** (this.random.fraction() * LARGEST_MAGNITUDE))
    return { type: 'credit', tokenId, amount: `${whole}${this.fraction(this.random.integer(decimals + 1))}` }
  }

  /** In minimal form. */
  private fraction(digits: number): string {
    if (digits === 0) return ''
    const drawn = [1, 2].map(() => String(this.random.integer(NINE_DIGITS)).padStart(9, '0')).join('')
    return `.${drawn.slice(0, digits - 1)}${1 + this.random.integer(9)}`
  }
}

export function debit({ tokenId }: Pick<Asset, 'tokenId'>, amount: Quantity): Order {
  return { type: 'debit', tokenId, amount: formatQuantity(amount) }
}

/** One at least; `average` over all, but for what the bound cuts off. */
function skewedCount(random: SeededRandom, average: number): number {
  const least = ((average - 1) * (PARETO_ALPHA - 1)) / PARETO_ALPHA
  const drawn = least / (1 - random.fraction()) ** (1 / PARETO_ALPHA)
  return Math.min(MOST_OF_AN_ACCOUNT, 1 + Math.floor(drawn + random.fraction()))
}
