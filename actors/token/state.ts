/** State of a token, with pending changes of its supply. Plain JSON, quantities as decimal strings. */
import type { CommandBase } from '../account/commands.ts'
import type { ArrivalCommand, ArrivedFrom, ArrivingToken, HoldArrivalCommand } from '../arrival.ts'
import { formatQuantity, parseQuantity } from '../money.ts'
import type { Stamp, TokenMessage } from '../message.ts'
import type { RegistrationCommand } from '../registration.ts'

/**
 * `preparing`: waiting for the issuer's consent, or staged for an import; `crediting`: its supply is on the way to the
 * issuer.
 */
export type TokenStatus = 'preparing' | 'crediting' | 'active'

export interface TokenData {
  readonly kind: 'token'
  readonly format: 1
  /** The symbol in lower case. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly totalSupply: string
  readonly initialSupply: string
  /** Mints and burns of open groups, by group ID and leg. */
  readonly held: { readonly [leg: string]: HeldSupply }
  readonly clientId: string
  /** Idempotency key of the registration: from a header, or of the request itself. */
  readonly registrationKey: string
  /** For an imported token: its supply on the source ledger, none of which the import of the token credits. */
  readonly arrived?: ArrivedFrom & { readonly supply: string }
  /** More supply, staged for a later import. */
  readonly growing?: ArrivedFrom & { readonly by: string }
  readonly createdAtMs: number
  readonly lastTimeMs: number
  readonly dueAtMs: null
}

export interface TokenState extends TokenData {
  readonly status: TokenStatus
}

/** `clientId`: the client that registered the group. */
export interface HeldSupply {
  readonly change: 'mint' | 'burn'
  readonly amount: string
  readonly clientId: string
}

/** Immutable facts of a registered token: any shard may cache them. */
export interface TokenFacts {
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
}

export interface TokenView extends TokenFacts {
  readonly totalSupply: string
  readonly createdAtMs: number
}

export function newToken(
  { tokenId, decimals, issuer, totalSupply, initialSupply }: ArrivingToken,
  { caller: { clientId }, atMs }: CommandBase,
  registrationKey: string,
): TokenData {
  return {
    kind: 'token',
    format: 1,
    id: tokenId.toLowerCase(),
    version: 1,
    tokenId,
    decimals,
    issuer,
    totalSupply,
    initialSupply,
    held: {},
    clientId,
    registrationKey,
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
}

/** undefined until the registration is final. */
export function tokenFactsOf(token: TokenState): TokenFacts | undefined {
  if (token.status === 'preparing') return undefined
  return { tokenId: token.tokenId, decimals: token.decimals, issuer: token.issuer }
}

/** The supply in minimal form (D4). */
export function tokenViewOf({ tokenId, decimals, issuer, totalSupply, createdAtMs }: TokenData): TokenView {
  return { tokenId, decimals, issuer, totalSupply: formatQuantity(parseQuantity(totalSupply)), createdAtMs }
}

export interface RegisterTokenCommand extends RegistrationCommand {
  readonly type: 'register_token'
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly totalSupply: string
}

export type HoldToken = HoldArrivalCommand<ArrivingToken>

export type TokenCommand = RegisterTokenCommand | ArrivalCommand<ArrivingToken> | (TokenMessage & Stamp)
export type TokenCommandOf<Type extends TokenCommand['type']> = Extract<TokenCommand, { readonly type: Type }>
