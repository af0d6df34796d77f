/**
 * Messages between actors. A message takes effect exactly once, in the order in which its sender's shard sent it to
 * its receiver's. Its outcome is data, so that every message can be consumed.
 *
 * Plain JSON: quantities are decimal strings. `carries` is what consuming the message will add to the balances and holds
 * of the ledger, so that value in transit can be counted from what is durable (I4).
 */
import type { ActorAddress, ActorKind } from './address.ts'
import type { JsonObject } from './canonical-json.ts'
import type { Failure } from './account/transaction.ts'
import type { RefusalCode } from './refusal.ts'

export interface Envelope {
  readonly to: ActorAddress
  readonly message: Message
  readonly carries: readonly Carried[]
}

/** A signed quantity of a fungible asset. */
export interface Carried {
  readonly tokenId: string
  readonly quantity: string
}

/**
 * The side of a leg: its own account; the account that a transfer goes to; the token that a mint or burn changes; the NFT
 * that it moves.
 */
export type LegRole = 'own' | 'receiver' | 'supply' | 'instance'

/** A leg of a registered group, as it was agreed. */
export interface LegTerms {
  readonly accountId: string
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  readonly amount: string
  /** `BASE`, a token, or an NFT as `class/instance` (nft-id.ts); here and everywhere. */
  readonly tokenId: string
  readonly toAccountId: string | null
  /** Its other side is the outside world, not another leg. */
  readonly boundary: boolean
}

/** Names one side of one leg of a group. */
export interface LegName {
  readonly groupId: string
  /** Its place in the registration, from 0. */
  readonly leg: number
  readonly role: LegRole
}

export interface Refused {
  readonly code: RefusalCode
  readonly detail: string
  /** The key expected to sign, if the signature is the cause. */
  readonly keyId?: string
}

/** To an account. */
export type AccountMessage =
  /** Value that another account has reserved for this one: it decides, once and for good. */
  | {
      readonly type: 'receive_transfer'
      readonly txnId: string
      readonly fromAccountId: string
      readonly tokenId: string
      readonly amount: string
      readonly groupId: string | null
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number | null
      /** The transaction of this account that the transfer gives back; null for an ordinary one. */
      readonly compensates: string | null
    }
  /** The receiver has decided. */
  | {
      readonly type: 'conclude_transfer'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
    }
  /** The group's home has paired an exchange, or given it up. */
  | {
      readonly type: 'conclude_exchange'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
    }
  /** The token has decided on a mint or burn. */
  | { readonly type: 'conclude_supply'; readonly txnId: string; readonly failure: Failure | null }
  /** A token is being registered with this account as its issuer: open it if need be, judge, and reserve the room. */
  | {
      readonly type: 'prepare_issue'
      readonly tokenId: string
      readonly totalSupply: string
      readonly clientId: string
      /** Whether the issuer, if it has a key, must have signed the registration. */
      readonly consentNeeded: boolean
      /** The signed payload and the issuer's signature; empty where there is none. */
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
  /** An NFT that its home holds for this account: it decides, once and for good. `fromAccountId`: null for a mint to its issuer. */
  | {
      readonly type: 'receive_nft'
      readonly txnId: string
      readonly nftId: string
      readonly fromAccountId: string | null
      readonly groupId: string | null
      readonly metadata: JsonObject | null
      readonly expiresAtMs: number | null
      /** The transaction of this account that the transfer gives back; null for an ordinary one. */
      readonly compensates: string | null
    }
  /** The NFT's home holds it for the transaction, or does not. */
  | {
      readonly type: 'nft_held'
      readonly txnId: string
      readonly leg: LegName | null
      readonly failure: Failure | null
    }
  /** The NFT is free again. `leg`: the leg of the former hold; null for an exchange. */
  | { readonly type: 'nft_released'; readonly txnId: string; readonly leg: LegName | null }
  /** The NFT is minted, or is not. */
  | {
      readonly type: 'conclude_mint'
      readonly nftId: string
      readonly txnId: string
      readonly refused: Refused | null
      /** null where it is refused. */
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
  /** The sender's value is on hold: the receiver reserves room or refuses. `incoming` includes it until the group settles. */
  | (LegName & { readonly type: 'credit_leg'; readonly counterTxnId: string; readonly metadata: JsonObject | null })
  | (LegName & { readonly type: 'settle_leg' })
  /** Cancels a leg that is only expected, undoes one that is completed. */
  | (LegName & { readonly type: 'revert_leg' })
  /** An administrator undoes a transaction of a linked group. */
  | {
      readonly type: 'compensate'
      readonly groupId: string
      /** The transaction to be undone, and the one that the administrator named. */
      readonly compensates: string
      readonly asked: string
    }

/** To a settlement group. */
export type GroupMessage =
  | (LegName & { readonly type: 'leg_expected'; readonly refused: Refused | null })
  /** `txnId`: the account's transaction; null for a token. */
  | (LegName & { readonly type: 'leg_completed'; readonly txnId: string | null; readonly metadata: JsonObject | null })
  /** `txnId`: the account's failed transaction; null where it has none (a receiver, a token, a declined leg). */
  | (LegName & { readonly type: 'leg_failed'; readonly txnId: string | null; readonly failure: Failure })
  | (LegName & { readonly type: 'leg_settled' })
  /** `compensation`: the transaction that undid the completed leg; null where there was nothing to undo. */
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
  /** More than one where both sides of a transfer were undone. */
  | { readonly kind: 'done'; readonly compensations: readonly Compensation[] }
  /** Its other side must give the value back: the transaction there that is to be undone. */
  | { readonly kind: 'elsewhere'; readonly accountId: string; readonly txnId: string }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** To the home of the exchanges of a group ID. */
export type ExchangeMessage = {
  readonly type: 'offer_exchange'
  readonly txnId: string
  readonly accountId: string
  readonly toAccountId: string
  readonly gives: ExchangeSide
  readonly receives: ExchangeSide
  readonly expiresAtMs: number
}

/** To the same: the NFT that it has ordered to change hands has. */
export type ExchangeDeliveryMessage = { readonly type: 'nft_delivered'; readonly txnId: string }

/** To an NFT class. */
export type ClassMessage = { readonly type: 'issue_prepared'; readonly refused: Refused | null }

/** To an NFT instance. `txnId`: the transaction of its owner; of a mint, the issuer's. */
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
  /** An exchange is paired: it changes hands. */
  | {
      readonly type: 'deliver_nft'
      readonly txnId: string
      readonly toAccountId: string
      /** The group ID of the exchange. */
      readonly exchangeId: string
    }
  /** The receiver has decided. `counterTxnId`: its transaction; null where it has none, or refused. */
  | {
      readonly type: 'nft_received'
      readonly txnId: string
      readonly failure: Failure | null
      readonly counterTxnId: string | null
    }
  | (LegName & { readonly type: 'settle_leg' })

export interface ExchangeSide {
  readonly tokenId: string
  readonly amount: string
}

/** To a token. */
export type TokenMessage =
  | {
      readonly type: 'change_supply'
      readonly txnId: string
      readonly accountId: string
      readonly change: 'mint' | 'burn'
      readonly amount: string
    }
  | { readonly type: 'issue_prepared'; readonly refused: Refused | null }
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
} satisfies { readonly [Kind in ActorKind]: object }

/** Whether an actor of that kind handles messages of that type. */
export function isMessageType(kind: ActorKind, type: string): boolean {
  return Object.hasOwn(MESSAGE_TYPES[kind], type)
}

/** Members of every command from its entry into the mailbox: a repeated step sees the same (N1). */
export interface Stamp {
  /** Wall clock of the owner, milliseconds since 1970. */
  readonly atMs: number
  /** 32 hexadecimal digits. */
  readonly salt: string
  /** The ID of the transaction that the command may make. */
  readonly newTxnId: string
}
