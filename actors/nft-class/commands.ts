/** Commands of an NFT class. */
import type { CommandBase } from '../account/commands.ts'
import type { Heard } from '../define-actor.ts'
import type { ArrivalCommand, ArrivingClass, HoldArrivalCommand } from '../arrival.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { ClassMessage } from '../message.ts'

export interface RegisterClassCommand extends CommandBase {
  readonly type: 'register_class'
  /** Given as the command entered the mailbox: `cls_` and a ULID of the name's home. */
  readonly newClassId: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
  /** The canonical body, and the issuer's signature over it; empty where there is none. */
  readonly payload: string
  readonly signature: string
  /** Whether an issuer that has a key must have signed. */
  readonly consentNeeded: boolean
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

export type HoldClass = HoldArrivalCommand<ArrivingClass>
export type ClassArrivalCommand = ArrivalCommand<ArrivingClass>

export type ClassCommand = RegisterClassCommand | ClassArrivalCommand | Heard<ClassMessage>
