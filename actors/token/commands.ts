/** Commands of a token. */
import type { StampedMessage } from '../define-actor.ts'
import type { ArrivalCommand, ArrivingToken, HoldArrivalCommand } from '../arrival.ts'
import type { TokenMessage } from '../message.ts'
import type { RegistrationCommand } from '../registration.ts'

export interface RegisterTokenCommand extends RegistrationCommand {
  readonly type: 'register_token'
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly totalSupply: string
}

export type HoldToken = HoldArrivalCommand<ArrivingToken>
export type TokenArrivalCommand = ArrivalCommand<ArrivingToken>

export type TokenCommand =
  | RegisterTokenCommand
  | TokenArrivalCommand
  | {
      [Type in TokenMessage['type']]: StampedMessage<Extract<TokenMessage, { readonly type: Type }>>
    }[TokenMessage['type']]
