/** Commands of an NFT instance. */
import type { ArrivalCommand, ArrivingInstance } from '../arrival.ts'
import type { InstanceMessage, Stamp } from '../message.ts'

export type InstanceCommand = ArrivalCommand<ArrivingInstance> | (InstanceMessage & Stamp)
export type InstanceCommandOf<Type extends InstanceCommand['type']> = Extract<InstanceCommand, { readonly type: Type }>
