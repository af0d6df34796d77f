/** What a loaded ledger contains: everything but salts, IDs and signatures follows from this alone. */
export interface LoadShape {
  readonly accounts: number
  /** Of each account that has any: exactly so many, or on average where `skewed`, and one at least. */
  readonly transactions: number
  /** A fifth of the accounts has most of the transactions (Pareto), at most `MOST_OF_AN_ACCOUNT` each. */
  readonly skewed: boolean
  /** Fungible tokens, each issued by an account of its own, beside the base unit. */
  readonly tokens: number
  /** NFTs, in classes of `NFTS_OF_A_CLASS`: minted to collectors, and some of them handed on or burned. */
  readonly nfts: number
  /** The same seed gives the same accounts, keys, types and amounts. */
  readonly seed: number
  /** Key pairs, which the accounts share by turns. */
  readonly keys: number
  /** How many accounts have paid out all that they were given: balances of 0. */
  readonly drained: number
  /** How many are registered and nothing more. */
  readonly empty: number
  /** How many came into being without a key, as issuers do that nobody knows. */
  readonly keyless: number
}

export const DEFAULT_SHAPE: LoadShape = {
  accounts: 1_000,
  transactions: 1,
  skewed: false,
  tokens: 0,
  nfts: 0,
  seed: 1,
  keys: 1,
  drained: 0,
  empty: 0,
  keyless: 0,
}

export const MOST_ACCOUNTS = 10_000_000
export const MOST_OF_AN_ACCOUNT = 10_000
/** They and their issuers are made before all else, in one piece. */
export const MOST_TOKENS = 1_000
export const MOST_NFTS = 1_000_000
export const NFTS_OF_A_CLASS = 10_000
export const NFTS_OF_A_COLLECTOR = 100
const MOST_KEYS = 100_000
const MOST_SEEDS = 2 ** 32 - 1

/** `given` may have other members too. Throws a RangeError that says what is wrong. */
export function shapeOf(given: Partial<LoadShape>): LoadShape {
  const all: LoadShape = { ...DEFAULT_SHAPE, ...given }
  const { accounts, transactions, skewed, tokens, nfts, seed, keys, drained, empty, keyless } = all
  demandWhole('accounts', accounts, 1, MOST_ACCOUNTS)
  demandWhole('transactions', transactions, 1, MOST_OF_AN_ACCOUNT)
  demandWhole('tokens', tokens, 0, MOST_TOKENS)
  demandWhole('nfts', nfts, 0, MOST_NFTS)
  demandWhole('seed', seed, 0, MOST_SEEDS)
  demandWhole('keys', keys, 1, MOST_KEYS)
  for (const [name, count] of Object.entries({ drained, empty, keyless })) demandWhole(name, count, 0, accounts)
  const founders = tokens + classSizesOf(nfts).reduce((sum, instances) => sum + 1 + collectorsFor(instances), 0)
  const others = drained + empty + keyless
  if (founders + others > accounts) {
    throw new RangeError(`${accounts} accounts are too few for ${founders} issuers and collectors and ${others} others`)
  }
  return { accounts, transactions, skewed, tokens, nfts, seed, keys, drained, empty, keyless }
}

/** How many instances each class has. */
export function classSizesOf(nfts: number): readonly number[] {
  const classes = Math.ceil(nfts / NFTS_OF_A_CLASS)
  return Array.from({ length: classes }, (_, number) => Math.min(NFTS_OF_A_CLASS, nfts - number * NFTS_OF_A_CLASS))
}

/** Two at least, so that what one hands on another takes. */
export function collectorsFor(instances: number): number {
  return Math.max(2, Math.ceil(instances / NFTS_OF_A_COLLECTOR))
}

function demandWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`)
}
