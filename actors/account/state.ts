/** What an account is. Plain data: the codec writes it, the machine carries it, the step computes with it. */
import type { Hash } from '../audit-chain.ts'
import { type Quantity, ZERO } from '../money.ts'

export type AccountStatus = 'active' | 'frozen' | 'closed'
export type IncomingPolicy = 'accept' | 'refuse'

/** A P-256 public key as a compressed SEC1 point in base64url, and its RFC 7638 thumbprint. */
export interface AccountKey {
  readonly keyId: string
  readonly publicKey: string
}

/** Holdings of one asset. `available` = balance - reserved; `incoming` is in neither. */
export interface Balance {
  readonly balance: Quantity
  readonly reserved: Quantity
  readonly incoming: Quantity
  readonly updatedAtMs: number
}

export interface AccountState {
  readonly accountId: string
  readonly shardId: number
  readonly status: AccountStatus
  readonly incoming: IncomingPolicy
  /** null for a keyless account: it can receive and cannot submit. */
  readonly key: AccountKey | null
  /** Counts every write of the account's row (I1b); 0 is an account that does not exist yet. */
  readonly version: number
  /** The chain's last entry; the registration is 0. */
  readonly sequence: number
  readonly tip: Hash
  readonly balances: ReadonlyMap<string, Balance>
  readonly completedCount: number
  readonly failedCount: number
  /** The client whose request brought the account into being. */
  readonly registeredBy: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** The time of the last command that had an effect: within an account time never goes back. */
  readonly lastTimeMs: number
}

const NOTHING_HELD: Balance = { balance: ZERO, reserved: ZERO, incoming: ZERO, updatedAtMs: 0 }

export function balanceOf(account: AccountState, tokenId: string): Balance {
  return account.balances.get(tokenId) ?? NOTHING_HELD
}

export function availableOf(balance: Balance): Quantity {
  return balance.balance.minus(balance.reserved)
}
