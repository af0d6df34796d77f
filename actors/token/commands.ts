/** Commands of a token. */
import type { ArrivalCommand, ArrivingToken, HoldArrivalCommand } from '../arrival.ts'
import type { Stamp, TokenMessage } from '../message.ts'
import type { RegistrationCommand } from '../registration.ts'

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
