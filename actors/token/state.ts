/** State of a token: its supply and pending changes of it. Plain JSON, quantities as decimal strings. */
import type { CommandBase } from '../account/commands.ts'
import type { ArrivedFrom, ArrivingToken } from '../arrival.ts'
import { formatQuantity, parseQuantity } from '../money.ts'

/** `preparing`: the issuer has not agreed, or it is held for an import; `crediting`: the token exists, its supply is on the way; `active`. */
export type TokenStatus = 'preparing' | 'crediting' | 'active'

/** Everything of a token but its status, which its machine knows. */
export interface TokenData {
  readonly kind: 'token'
  readonly format: 1
  /** The symbol in lower case. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  /** The symbol as it was registered. */
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly totalSupply: string
  readonly initialSupply: string
  /** Legs of open groups that will mint or burn when their group settles, by group ID and leg. */
  readonly held: { readonly [leg: string]: HeldSupply }
  readonly clientId: string
  /** Idempotency key of the registration: from a header, or of the request itself. */
  readonly registrationKey: string
  /** Of a token that came from another ledger: none of its supply was credited here when it came. */
  readonly arrived?: ArrivedFrom & { readonly supply: string }
  /** It comes again, with more supply: held for an import. */
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

/** A token as it is shown. */
export interface TokenView extends TokenFacts {
  readonly totalSupply: string
  readonly createdAtMs: number
}

/** A token when it is registered or imported. */
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

/** undefined while the registration is not final. */
export function tokenFactsOf(token: TokenState): TokenFacts | undefined {
  if (token.status === 'preparing') return undefined
  return { tokenId: token.tokenId, decimals: token.decimals, issuer: token.issuer }
}

/** The supply in minimal form, however it was written (D4). */
export function tokenViewOf({ tokenId, decimals, issuer, totalSupply, createdAtMs }: TokenData): TokenView {
  return { tokenId, decimals, issuer, totalSupply: formatQuantity(parseQuantity(totalSupply)), createdAtMs }
}
