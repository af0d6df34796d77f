/**
 * Messages between actors. A message takes effect exactly once. Messages between two shards take effect in the order of
 * sending. The outcome of a message is data, so that every message can be consumed.
 *
 * Plain JSON: quantities are decimal strings. `carries`: the change of the ledger's balances and holds by consuming the
 * message, so that value in transit can be counted from durable data (I4).
 */
import type { ActorAddress, ActorKind } from './address.ts'
import type { HoldView } from './hold/state.ts'
import type { JsonObject } from './canonical-json.ts'
import type { TransactionType } from './account/commands.ts'
import type { Failure } from './account/transaction.ts'
import type { Refusal } from './refusal.ts'

export interface Envelope {
  readonly to: ActorAddress
  readonly message: Message
  readonly carries: readonly CarriedValue[]
}

/** A signed quantity of a fungible asset. */
export interface CarriedValue {
  readonly tokenId: string
  readonly quantity: string
}

/**
 * A side of a leg: its own account; the receiver of a transfer; the token of a mint or burn; the NFT.
 */
export type LegRole = 'own' | 'receiver' | 'supply' | 'instance'

/** An agreed leg of a registered group. */
export interface LegTerms {
  readonly accountId: string
  readonly type: TransactionType
  readonly amount: string
  /** `BASE`, a token, or an NFT as `class/instance` (nft-id.ts); here and everywhere. */
  readonly tokenId: string
  readonly toAccountId: string | null
  /** Its other side is an external account, not another leg. */
  readonly boundary: boolean
}

export interface LegName {
  readonly groupId: string
  /** Its index in the registration, from 0. */
  readonly leg: number
  readonly role: LegRole
}

export type AccountMessage =
  /** Another account has reserved value for this one, which decides once. */
  | {
      readonly type: 'receive_transfer'
      readonly txnId: string
      readonly fromAccountId: string
      readonly tokenId: string
      readonly amount: string
      readonly groupId: string | null
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number | null
      /** The transaction of this account that the transfer returns; null for an ordinary transfer. */
      readonly compensates: string | null
      /** The transfer of this account that is refunded; absent for an ordinary transfer. */
      readonly refunds?: string
    }
  /** The receiver's decision. `refunds`: as in `receive_transfer`, if the refund was received. */
  | {
      readonly type: 'conclude_transfer'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
      readonly refunds?: string
    }
  /** The exchange was paired or refused. */
  | {
      readonly type: 'conclude_exchange'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
    }
  /** The token's decision on a mint or burn. */
  | { readonly type: 'conclude_supply'; readonly txnId: string; readonly failure: Failure | null }
  /** Registers a token with this account as issuer: create the account if absent, judge, and reserve the room. */
  | {
      readonly type: 'prepare_issue'
      readonly tokenId: string
      readonly totalSupply: string
      readonly clientId: string
      /** Whether an issuer with a key must have signed the registration. */
      readonly consentNeeded: boolean
      /** The signed payload and the issuer's signature; empty without a signature. */
      readonly payload: string
      readonly signature: string
    }
  /** The same for a class: nothing is credited. */
  | {
      readonly type: 'prepare_class'
      /** The class's actor ID: its folded name. */
      readonly name: string
      readonly clientId: string
      readonly consentNeeded: boolean
      readonly payload: string
      readonly signature: string
    }
  /** An NFT's home holds it for this account, which decides once. `fromAccountId`: null for a mint to the issuer. */
  | {
      readonly type: 'receive_nft'
      readonly txnId: string
      readonly nftId: string
      readonly fromAccountId: string | null
      readonly groupId: string | null
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number | null
      /** The transaction of this account that the transfer returns; null for an ordinary transfer. */
      readonly compensates: string | null
    }
  /** The home's reply to `hold_nft`. */
  | {
      readonly type: 'nft_held'
      readonly txnId: string
      readonly leg: LegName | null
      readonly failure: Failure | null
    }
  /** The home released the NFT. `leg`: the leg of the former hold; null for an exchange. */
  | { readonly type: 'nft_released'; readonly txnId: string; readonly leg: LegName | null }
  /** The home's decision on a mint. */
  | {
      readonly type: 'conclude_mint'
      readonly nftId: string
      readonly txnId: string
      readonly refused: Refusal | null
      /** null for a refused mint. */
      readonly mintedAtMs: number | null
      /** The owner's transaction, where the owner is not the issuer. */
      readonly counterTxnId: string | null
    }
  /** The token is registered: credit its supply. */
  | { readonly type: 'credit_issue'; readonly tokenId: string; readonly totalSupply: string }
  /** Registers the expectation of a leg. The account has not signed it and reserves nothing for it. */
  | (LegName & {
      readonly type: 'expect_leg'
      readonly termsHash: string
      readonly terms: LegTerms
      /** The client that registered the group. */
      readonly clientId: string
      /** When the group reverts unless all its legs are in; milliseconds since 1970. */
      readonly dueAtMs: number
    })
  /**
   * The sender's value is on hold: the receiver reserves room or refuses. `incoming` includes it until the group
   * settles.
   */
  | (LegName & { readonly type: 'credit_leg'; readonly counterTxnId: string; readonly metadata: JsonObject | null })
  | (LegName & { readonly type: 'settle_leg' })
  /** Cancels an expectation, or undoes a completed leg. */
  | (LegName & { readonly type: 'revert_leg' })
  /** The hold of this payer is active. */
  | { readonly type: 'hold_opened'; readonly holdId: string; readonly hold: HoldView }
  /**
   * The hold has accepted a capture: the payer pays it. `txnId`: the beneficiary's transaction; `releases`: what
   * remained and is no longer on hold; `ends`: whether the hold has ended.
   */
  | {
      readonly type: 'pay_capture'
      readonly holdId: string
      readonly tokenId: string
      readonly txnId: string
      readonly toAccountId: string
      readonly amount: string
      readonly metadata: JsonObject | null
      readonly releases: string
      readonly ends: boolean
    }
  /** The hold was released or has expired: `amount` is no longer on hold. `reason`: an administrator's. */
  | {
      readonly type: 'free_hold'
      readonly holdId: string
      readonly tokenId: string
      readonly toAccountId: string
      readonly cause: 'hold_released' | 'hold_expired'
      readonly amount: string
      readonly reason: string | null
    }
  /** The reply to `end_hold`. null: the account is the beneficiary of no such hold. */
  | { readonly type: 'hold_ended'; readonly holdId: string; readonly hold: HoldView | null }
  /** Compensates a transaction of a linked group. */
  | {
      readonly type: 'compensate'
      readonly groupId: string
      /** The transaction to undo, and the transaction that the administrator named. */
      readonly compensates: string
      readonly asked: string
    }

export type GroupMessage =
  | (LegName & { readonly type: 'leg_expected'; readonly refused: Refusal | null })
  /** `txnId`: the account's transaction; null for a token. */
  | (LegName & { readonly type: 'leg_completed'; readonly txnId: string | null; readonly metadata: JsonObject | null })
  /** `txnId`: the account's failed transaction; null where it has none (a receiver, a token, a declined leg). */
  | (LegName & { readonly type: 'leg_failed'; readonly txnId: string | null; readonly failure: Failure })
  | (LegName & { readonly type: 'leg_settled' })
  /** `compensation`: the transaction that undid the completed leg; null without one. */
  | (LegName & { readonly type: 'leg_reverted'; readonly compensation: Compensation | null })
  /** `asked`: the transaction that the administrator named. */
  | {
      readonly type: 'compensation_ended'
      readonly asked: string
      readonly outcome: CompensationOutcome
    }

export interface Compensation {
  /** The transaction that was undone. */
  readonly compensates: string
  readonly txnId: string
}

export type CompensationOutcome =
  /** Two compensations if both sides of a transfer were undone. */
  | { readonly kind: 'done'; readonly compensations: readonly Compensation[] }
  /** The other side must return the value: its transaction to undo. */
  | { readonly kind: 'elsewhere'; readonly accountId: string; readonly txnId: string }
  | { readonly kind: 'failed'; readonly failure: Failure }

export type ExchangeMessage = {
  readonly type: 'offer_exchange'
  readonly txnId: string
  readonly accountId: string
  readonly toAccountId: string
  readonly gives: ExchangeSide
  readonly receives: ExchangeSide
  readonly expiresAtMs: number
}

/** An NFT has changed hands as ordered. */
export type ExchangeDeliveryMessage = { readonly type: 'nft_delivered'; readonly txnId: string }

export type ClassMessage = { readonly type: 'issue_prepared'; readonly refused: Refusal | null }

/** `txnId`: the owner's transaction, or the issuer's for a mint. */
export type InstanceMessage =
  | {
      readonly type: 'mint_nft'
      readonly txnId: string
      readonly issuer: string
      readonly owner: string
      readonly metadata: JsonObject
    }
  | {
      readonly type: 'move_nft'
      readonly txnId: string
      readonly accountId: string
      readonly toAccountId: string
      readonly groupId: string | null
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number | null
      readonly compensates: string | null
    }
  | { readonly type: 'burn_nft'; readonly txnId: string; readonly accountId: string }
  /** For an exchange, or for a leg. */
  | {
      readonly type: 'hold_nft'
      readonly txnId: string
      readonly accountId: string
      readonly leg: LegName | null
      /** The new owner once the leg's group settles; null for a burn and for an exchange. */
      readonly toAccountId: string | null
    }
  | {
      readonly type: 'release_nft'
      readonly txnId: string
      readonly accountId: string
      readonly leg: LegName | null
    }
  /** The exchange is paired: hand the NFT over. */
  | {
      readonly type: 'deliver_nft'
      readonly txnId: string
      readonly toAccountId: string
      /** The group ID of the exchange. */
      readonly exchangeId: string
    }
  /** The receiver's decision. `counterTxnId`: its transaction; null without one. */
  | {
      readonly type: 'nft_received'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
    }
  | (LegName & { readonly type: 'settle_leg' })

export type HoldMessage =
  /** The payer has reserved the amount. */
  | {
      readonly type: 'open_hold'
      readonly accountId: string
      readonly toAccountId: string
      readonly tokenId: string
      readonly amount: string
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number
      readonly createdAtMs: number
    }
  /** The beneficiary, `accountId`, has reserved room for the amount. `fromAccountId`: the payer, as its request names it. */
  | {
      readonly type: 'capture_hold'
      readonly txnId: string
      readonly accountId: string
      readonly fromAccountId: string
      readonly tokenId: string
      readonly amount: string
      /** Releases what remains. */
      readonly final: boolean
    }
  /** `accountId`: the account that signed. */
  | { readonly type: 'end_hold'; readonly accountId: string }

export interface ExchangeSide {
  readonly tokenId: string
  readonly amount: string
}

export type TokenMessage =
  | {
      readonly type: 'change_supply'
      readonly txnId: string
      readonly accountId: string
      readonly change: 'mint' | 'burn'
      readonly amount: string
    }
  | { readonly type: 'issue_prepared'; readonly refused: Refusal | null }
  | { readonly type: 'issue_credited' }
  /** The account has signed a mint or burn: the token holds the supply for it, or refuses. */
  | (LegName & {
      readonly type: 'hold_supply'
      readonly change: 'mint' | 'burn'
      readonly amount: string
      /** The client that registered the group. */
      readonly clientId: string
    })
  | (LegName & { readonly type: 'settle_leg' })
  | (LegName & { readonly type: 'revert_leg' })

export type Message =
  | AccountMessage
  | GroupMessage
  | ExchangeMessage
  | ExchangeDeliveryMessage
  | TokenMessage
  | ClassMessage
  | InstanceMessage
  | HoldMessage

type Types<M extends Message> = { readonly [Type in M['type']]: true }

const LEG_TYPES = { expect_leg: true, settle_leg: true, revert_leg: true } as const

/** The message types that each kind of actor handles. */
const MESSAGE_TYPES = {
  account: {
    receive_transfer: true,
    conclude_transfer: true,
    conclude_exchange: true,
    conclude_supply: true,
    prepare_issue: true,
    prepare_class: true,
    receive_nft: true,
    nft_held: true,
    nft_released: true,
    conclude_mint: true,
    credit_issue: true,
    credit_leg: true,
    compensate: true,
    hold_opened: true,
    pay_capture: true,
    free_hold: true,
    hold_ended: true,
    ...LEG_TYPES,
  } satisfies Types<AccountMessage>,
  group: {
    leg_expected: true,
    leg_completed: true,
    leg_failed: true,
    leg_settled: true,
    leg_reverted: true,
    compensation_ended: true,
  } satisfies Types<GroupMessage>,
  exchange: { offer_exchange: true, nft_delivered: true } satisfies Types<ExchangeMessage | ExchangeDeliveryMessage>,
  token: {
    change_supply: true,
    hold_supply: true,
    issue_prepared: true,
    issue_credited: true,
    ...LEG_TYPES,
  } satisfies Types<TokenMessage>,
  class: { issue_prepared: true } satisfies Types<ClassMessage>,
  instance: {
    mint_nft: true,
    move_nft: true,
    burn_nft: true,
    hold_nft: true,
    release_nft: true,
    deliver_nft: true,
    nft_received: true,
    ...LEG_TYPES,
  } satisfies Types<InstanceMessage>,
  hold: { open_hold: true, capture_hold: true, end_hold: true } satisfies Types<HoldMessage>,
} satisfies { readonly [Kind in ActorKind]: object }

/** Whether an actor of that kind handles messages of that type. */
export function isMessageType(kind: ActorKind, type: string): boolean {
  return Object.hasOwn(MESSAGE_TYPES[kind], type)
}

/** Set when a command enters the mailbox: a repeated step sees the same values (N1). */
export interface Stamp {
  /** Wall clock of the owner, milliseconds since 1970. */
  readonly atMs: number
  /** 32 hexadecimal digits. */
  readonly salt: string
  /** The ID for the transaction that the command may create. */
  readonly newTxnId: string
}
