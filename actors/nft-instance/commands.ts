/** Commands of an NFT instance. */
import type { ArrivalCommand, ArrivingInstance } from '../arrival.ts'
import type { StampedMessage } from '../define-actor.ts'
import type { InstanceMessage } from '../message.ts'

export type InstanceArrivalCommand = ArrivalCommand<ArrivingInstance>

export type InstanceCommand =
  | InstanceArrivalCommand
  | {
      [Type in InstanceMessage['type']]: StampedMessage<Extract<InstanceMessage, { readonly type: Type }>>
    }[InstanceMessage['type']]
