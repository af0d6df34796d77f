/** State of an account: plain data that the codec writes and the machine carries. */
import type { ArrivedFrom, ArrivingAccount } from '../arrival.ts'
import type { Hash } from '../audit-chain.ts'
import type { LegRole, LegTerms } from '../message.ts'
import { parseQuantity, type Quantity, ZERO } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { type Guarded, isObjectOf, isText } from '../shapes.ts'
import type { Balances } from './balances.ts'
import type { Holds } from './holds.ts'
import type { Failure, Transaction } from './transaction.ts'

/** `erased`: closed, and the ledger's data about it is unreadable. */
export type AccountStatus = 'active' | 'frozen' | 'closed' | 'erased'
/** Statuses that a client may request. */
export type WishedStatus = Exclude<AccountStatus, 'erased'>
export type IncomingPolicy = 'accept' | 'refuse'

/** A P-256 public key as a compressed SEC1 point in base64url, and its RFC 7638 thumbprint. */
export type AccountKey = Guarded<typeof isAccountKey>
export const isAccountKey = isObjectOf({ keyId: isText, publicKey: isText })

/**
 * Holdings of one asset. `available` = balance - reserved; `incoming` is in neither. `room` is reserved for promised
 * value, which therefore never fails for want of digits.
 */
export interface Balance {
  readonly balance: Quantity
  readonly reserved: Quantity
  readonly incoming: Quantity
  readonly room: Quantity
  /** 0 until the first movement: before that the account does not hold the asset. */
  readonly updatedAtMs: number
}

/** An unfinished operation at an account; plain JSON. The balances include its reserved value and room. */
export type Hold = PendingHold | LegHold | IssueHold | MintHold | ArrivalHold | PaymentHold

/** A transaction that another actor decides. */
export interface PendingHold {
  readonly kind: 'pending'
  readonly transaction: Transaction
  /** Whether the transaction's amount is reserved; a mint reserves nothing. */
  readonly reserves: boolean
  /** Reserved room for the incoming asset. */
  readonly room: { readonly tokenId: string; readonly amount: string } | null
  /**
   * For the compensation of a transfer, which its group waits for: the transaction that the administrator named, and
   * the transfer.
   */
  readonly reportsOn: { readonly asked: string; readonly transfer: string } | null
  /** For an exchange that gives an NFT. */
  readonly nft?: ExchangedNft
}

/**
 * `holding`: waiting for the home's hold; `held`: the exchange is offered; `releasing`: the exchange has failed, and
 * the account waits for the home's release before it reports that.
 */
export interface ExchangedNft {
  readonly state: 'holding' | 'held' | 'releasing'
  readonly expiresAtMs: number
  readonly failure: Failure | null
}

/**
 * One side of a leg of a registered group. While it is `expected` or `declined` the account has not signed it: it
 * reserves no room and counts only against the limit of its client (legs.ts).
 */
export interface LegHold {
  readonly kind: 'leg'
  readonly groupId: string
  readonly leg: number
  readonly role: LegRole
  readonly termsHash: string
  readonly terms: LegTerms
  /** The client that registered the group. */
  readonly clientId: string
  /** When the group reverts unless all its legs are in; milliseconds since 1970. */
  readonly dueAtMs: number
  /**
   * `holding`: submitted, the hold at the NFT's home is pending; `releasing`: the leg reverts, the release at the NFT's
   * home is pending.
   */
  readonly state: 'expected' | 'declined' | 'holding' | 'completed' | 'releasing' | 'failed'
  readonly txnId: string | null
  /** The transaction, while it is pending: the NFT's home has not replied. */
  readonly transaction?: Transaction
  /** The group ordered the revert while the leg was `holding`: the account replies once the NFT's home has replied. */
  readonly reverting?: boolean
}

/** Whether the account has not signed the leg. */
export function isUnsigned(hold: Hold): boolean {
  return hold.kind === 'leg' && (hold.state === 'expected' || hold.state === 'declined')
}

/** Whether the hold needs no signature of the account: an unsigned leg, or one of which it is the receiver. */
export function lacksSignature(hold: Hold): boolean {
  return isUnsigned(hold) || (hold.kind === 'leg' && hold.role === 'receiver')
}

/** Whether the hold prevents its account from closing. A leg that only other clients expect does not. */
export function bindsAccount({ registeredBy }: Pick<AccountData, 'registeredBy'>, hold: Hold): boolean {
  return !isUnsigned(hold) || (hold.kind === 'leg' && hold.clientId === registeredBy)
}

/** Room for the supply of a token that is being registered with this account as issuer. */
export interface IssueHold {
  readonly kind: 'issue'
  readonly tokenId: string
  readonly totalSupply: string
}

/** An NFT that this account, the issuer of its class, is minting: its home decides. */
export interface MintHold {
  readonly kind: 'mint'
  readonly idempotencyKey: string
  /** Entered only on completion: a refused mint is no transaction. */
  readonly transaction: Transaction
  /** The account's key that signed it. */
  readonly acceptedUnder: AccountKey
}

/** A hold (D25) of which this account is the payer: what remains of it is reserved. */
export interface PaymentHold {
  readonly kind: 'payment'
  readonly holdId: string
  readonly toAccountId: string
  readonly tokenId: string
  readonly remaining: string
  /** Its creation, while its home has not replied; null afterwards. */
  readonly opening: OpeningHold | null
}

export interface OpeningHold {
  readonly idempotencyKey: string
  readonly payloadHash: string
  /** The account's key that signed it. */
  readonly acceptedUnder: AccountKey
}

/** A staged account of another ledger, with room for its balances and NFTs, until the whole import is staged. */
export interface ArrivalHold {
  readonly kind: 'arrival'
  readonly from: ArrivedFrom
  readonly account: ArrivingAccount
  /** Number of received parts of used-key hashes. */
  readonly keyParts: number
}

/** The source ledger of an account. `keySalt`: null for a mere issuer, without an imported record. */
export interface AccountOrigin extends ArrivedFrom {
  readonly keySalt: string | null
}

/** Balances that left for another ledger, by token. */
export interface Departure {
  readonly audience: string
  readonly balances: { readonly [tokenId: string]: string }
}

/** The whole account but its status, which the machine knows. */
export interface AccountData {
  readonly kind: 'account'
  readonly accountId: string
  readonly shardId: number
  readonly incoming: IncomingPolicy
  /** An administrator has stopped what the account sends. */
  readonly paused?: true
  /** null for a keyless account: it can receive and cannot submit. */
  readonly key: AccountKey | null
  /** Counts every write of the account's row (I1b); 0 is an account that does not exist yet. */
  readonly version: number
  /** The chain's last entry; the registration is 0. */
  readonly sequence: number
  readonly tip: Hash
  readonly balances: Balances
  readonly holds: Holds
  /** NFTs accepted minus NFTs given away; and places reserved for promised NFTs. */
  readonly nftCount: number
  readonly nftRoom: number
  readonly completedCount: number
  readonly failedCount: number
  /** The client that created the account; empty: unclaimed. */
  readonly registeredBy: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly arrived?: AccountOrigin
  readonly moved?: Departure
  /** An asset was issued in its name, here or on its source ledger. An unclaimed account must not be such an issuer. */
  readonly issues?: true
  /** The time of the last effective command: time within an account never goes back. */
  readonly lastTimeMs: number
}

export interface AccountState extends AccountData {
  readonly status: AccountStatus
}

/** Whether the account is only a name: it did nothing, received nothing, and issued nothing. */
export function isBare(account: AccountData): boolean {
  const { key, sequence, issues } = account
  return key === null && sequence === 0 && !issues && holdsNothing(account, { hold: isUnsigned })
}

/**
 * Whether the account has no value, no NFT and no binding hold. `leftOut`: unreserved balances, or certain holds, to
 * ignore.
 */
export function holdsNothing(
  account: AccountData,
  leftOut: { readonly balances?: boolean; readonly hold?: (hold: Hold) => boolean } = {},
): boolean {
  const { balances, holds, nftCount, nftRoom } = account
  if (nftCount !== 0 || nftRoom !== 0) return false
  for (const hold of holds.values()) {
    if (bindsAccount(account, hold) && leftOut.hold?.(hold) !== true) return false
  }
  for (const { balance, reserved, incoming, room } of balances.values()) {
    if (reserved !== 0n || incoming !== 0n || room !== 0n) return false
    if (balance !== 0n && leftOut.balances !== true) return false
  }
  return true
}

/** An account whose import was dropped: the next client to register it may have it. */
export function unclaimed({ arrived: _arrived, ...account }: AccountData): AccountData {
  return { ...account, registeredBy: '' }
}

export function isUnclaimed(account: AccountData): boolean {
  return account.registeredBy === '' && account.arrived === undefined && isBare(account)
}

export const NOTHING_HELD: Balance = { balance: ZERO, reserved: ZERO, incoming: ZERO, room: ZERO, updatedAtMs: 0 }

export function balanceOf(account: AccountData, tokenId: string): Balance {
  return account.balances.get(tokenId) ?? NOTHING_HELD
}

export function availableOf(balance: Balance): Quantity {
  return balance.balance - balance.reserved
}

/** Names a hold within its account. */
export function holdId(hold: Hold): string {
  switch (hold.kind) {
    case 'pending':
      return hold.transaction.txnId
    case 'leg':
      return legHoldId(hold)
    case 'issue':
      return `issue ${hold.tokenId}`
    case 'mint':
      return mintHoldId(hold.idempotencyKey)
    case 'payment':
      return hold.holdId
    case 'arrival':
      return ARRIVAL_HOLD_ID
  }
}

export const ARRIVAL_HOLD_ID = 'arrival'

export function mintHoldId(idempotencyKey: string): string {
  return `mint ${idempotencyKey}`
}

export function legHoldId({ groupId, leg, role }: Pick<LegHold, 'groupId' | 'leg' | 'role'>): string {
  return `${groupId} ${leg} ${role}`
}

/**
 * Value that left a balance for a leg and belongs to the hold until the group ends. The sum over all holds is part of
 * the value in transit (I4).
 */
export function valueOf(hold: Hold): { readonly tokenId: string; readonly quantity: Quantity } | undefined {
  if (hold.kind !== 'leg' || hold.state !== 'completed' || hold.role !== 'own' || !leavesBalance(hold.terms))
    return undefined
  return { tokenId: hold.terms.tokenId, quantity: parseQuantity(hold.terms.amount) }
}

/** Whether a leg takes its amount out of the balance when applied; burned value and NFTs are only reserved. */
export function leavesBalance({ type, tokenId }: LegTerms): boolean {
  if (isNft(tokenId)) return false
  return type === 'debit' || type === 'transfer' || type === 'exchange'
}
