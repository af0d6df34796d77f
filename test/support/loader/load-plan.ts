/**
 * The accounts of a load, each by its number alone: everything but salts, IDs and signatures follows from the shape.
 * Accounts are registered one after another over the first half of the load's time; what each does is spread over the
 * rest of it.
 */
import { BASE_DECIMALS, formatQuantity, parseQuantity, type Quantity } from '../../../actors/money.ts'
import { createSeededRandom, type SeededRandom } from '../../simulation/kernel/sim-random.ts'

export interface LoadShape {
  readonly accounts: number
  /** Of each account. */
  readonly transactions: number
  /** The same seed gives the same accounts, keys, types and amounts. */
  readonly seed: number
  /** Key pairs, which the accounts share by turns. */
  readonly keys: number
}

export const DEFAULT_SHAPE: LoadShape = { accounts: 1_000, transactions: 1, seed: 1, keys: 1 }
export const MOST_ACCOUNTS = 10_000_000
export const MOST_OF_AN_ACCOUNT = 10_000
const MOST_KEYS = 100_000
const MOST_SEEDS = 2 ** 32 - 1
const ONE = parseQuantity('1')
/** Of a random fraction. */
const FRACTION_BITS = 32

/** `given` may have other members too. Throws a RangeError that says what is wrong. */
export function shapeOf(given: Partial<LoadShape>): LoadShape {
  const { accounts, transactions, seed, keys } = { ...DEFAULT_SHAPE, ...given }
  demandWhole('accounts', accounts, 1, MOST_ACCOUNTS)
  demandWhole('transactions', transactions, 1, MOST_OF_AN_ACCOUNT)
  demandWhole('seed', seed, 0, MOST_SEEDS)
  demandWhole('keys', keys, 1, MOST_KEYS)
  return { accounts, transactions, seed, keys }
}

function demandWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`)
}

export function accountIdOf(number: number): string {
  return `account-${number}@load`
}

/** A credit or debit of an account, in the base unit. */
export interface Order {
  readonly type: 'credit' | 'debit'
  readonly amount: string
  readonly atMs: number
}

/** The time that a load's transactions lie in, milliseconds since 1970. */
export interface LoadSpan {
  readonly startMs: number
  readonly endMs: number
}

export function registeredAtMs({ accounts }: LoadShape, number: number, { startMs, endMs }: LoadSpan): number {
  return Math.floor(startMs + (endMs - startMs) * (number / accounts / 2))
}

const LARGEST_MAGNITUDE = 6
const CREDITS = 0.7
/** Of the debits, those of more than there is. */
const OVERDRAWN = 1 / 32
/** Fractions are drawn as two numbers of nine digits. */
const NINE_DIGITS = 1_000_000_000

/** The orders of one account, one after another; a debit depends on `available`, which is read each time. */
export function* ordersOf(
  shape: LoadShape,
  number: number,
  span: LoadSpan,
  available: () => Quantity,
): Generator<Order> {
  const random = createSeededRandom(shape.seed, `account ${number}`)
  const registeredMs = registeredAtMs(shape, number, span)
  for (let made = 0; made < shape.transactions; made += 1) {
    const share = (made + random.fraction()) / shape.transactions
    const atMs = Math.floor(registeredMs + (span.endMs - registeredMs) * share)
    yield { ...orderOf(random, made === 0, available()), atMs }
  }
}

function orderOf(random: SeededRandom, first: boolean, available: Quantity): Omit<Order, 'atMs'> {
  if (first || random.chance(CREDITS)) return creditOf(random)
  if (random.chance(OVERDRAWN)) return { type: 'debit', amount: formatQuantity(available + ONE) }
  const share = (available * BigInt(Math.floor(random.fraction() * 2 ** FRACTION_BITS))) >> BigInt(FRACTION_BITS)
  return share === 0n ? creditOf(random) : { type: 'debit', amount: formatQuantity(share) }
}

/** In minimal form. */
function creditOf(random: SeededRandom): Omit<Order, 'atMs'> {
  const whole = Math.floor(10 ** (random.fraction() * LARGEST_MAGNITUDE))
  const digits = random.integer(BASE_DECIMALS + 1)
  if (digits === 0) return { type: 'credit', amount: `${whole}` }
  const drawn = [1, 2].map(() => String(random.integer(NINE_DIGITS)).padStart(9, '0')).join('')
  return { type: 'credit', amount: `${whole}.${drawn.slice(0, digits - 1)}${1 + random.integer(9)}` }
}
