/** Commands of an NFT instance. */
import type { ArrivalCommand, ArrivingInstance } from '../arrival.ts'
import type { Heard } from '../define-actor.ts'
import type { InstanceMessage } from '../message.ts'

export type InstanceArrivalCommand = ArrivalCommand<ArrivingInstance>

export type InstanceCommand =
  | InstanceArrivalCommand
  | {
      [Type in InstanceMessage['type']]: Heard<Extract<InstanceMessage, { readonly type: Type }>>
    }[InstanceMessage['type']]
