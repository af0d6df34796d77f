/** Commands of an NFT class. */
import type { ArrivalCommand, ArrivingClass, HoldArrivalCommand } from '../arrival.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { ClassMessage, Stamp } from '../message.ts'
import type { RegistrationCommand } from '../registration.ts'

export interface RegisterClassCommand extends RegistrationCommand {
  readonly type: 'register_class'
  /** Set when the command enters the mailbox: `cls_` and a ULID of the name's home. */
  readonly newClassId: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
}

export type HoldClass = HoldArrivalCommand<ArrivingClass>
export type ClassArrivalCommand = ArrivalCommand<ArrivingClass>

export type ClassCommand = RegisterClassCommand | ClassArrivalCommand | (ClassMessage & Stamp)
