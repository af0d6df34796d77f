/** Commands of a token. */
import type { CommandBase } from '../account/commands.ts'
import type { Heard } from '../define-actor.ts'
import type { ArrivalCommand, ArrivingToken, HoldArrivalCommand } from '../arrival.ts'
import type { TokenMessage } from '../message.ts'

export interface RegisterTokenCommand extends CommandBase {
  readonly type: 'register_token'
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly totalSupply: string
  /** The canonical body, and the issuer's signature over it; empty where there is none. */
  readonly payload: string
  readonly signature: string
  /** Whether an issuer that has a key must have signed. */
  readonly consentNeeded: boolean
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

export type HoldToken = HoldArrivalCommand<ArrivingToken>
export type TokenArrivalCommand = ArrivalCommand<ArrivingToken>

export type TokenCommand =
  | RegisterTokenCommand
  | TokenArrivalCommand
  | { [Type in TokenMessage['type']]: Heard<Extract<TokenMessage, { readonly type: Type }>> }[TokenMessage['type']]
