/** Stored state of the actors other than accounts: plain JSON with the version of its format. */
import type { ActorAddress } from './address.ts'
import type { ExchangeState } from './exchange/state.ts'
import type { GroupState } from './group/state.ts'
import type { HoldState } from './hold/state.ts'
import type { ClassState } from './nft-class/state.ts'
import type { InstanceState } from './nft-instance/state.ts'
import type { TokenState } from './token/state.ts'

export type ActorState = GroupState | ExchangeState | TokenState | ClassState | InstanceState | HoldState

export function addressOfState({ kind, id }: ActorState): ActorAddress {
  return { kind, id }
}
