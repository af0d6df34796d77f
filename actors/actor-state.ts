/** Stored state of the actors that are not accounts: plain JSON with the version of its format. */
import type { ActorAddress } from './address.ts'
import type { ExchangeData, ExchangeState } from './exchange/state.ts'
import type { GroupState } from './group/state.ts'
import type { ClassState } from './nft-class/state.ts'
import type { InstanceState } from './nft-instance/state.ts'
import type { TokenState } from './token/state.ts'

export type ActorState = GroupState | ExchangeState | TokenState | ClassState | InstanceState

/** As it may be stored: exchanges that 0.7 wrote have no status. */
export type StoredActor = Exclude<ActorState, ExchangeState> | ExchangeData | ExchangeState

export function restoredActor(stored: StoredActor): ActorState {
  if (stored.kind !== 'exchange' || 'status' in stored) return stored
  const { offers, pairs = [] } = stored
  return { ...stored, status: offers.length + pairs.length > 0 ? 'waiting' : 'expired' }
}

export function addressOfState({ kind, id }: ActorState): ActorAddress {
  return { kind, id }
}
