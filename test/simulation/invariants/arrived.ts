/** Compares answers about the arrival of tokens, classes and NFTs with their states (I10). */
import type { ActorState } from '../../../actors/actor-state.ts'
import type { ArrivedFrom, ArrivalState } from '../../../actors/arrival.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { PortageOperation } from '../reference/portage.ts'

/** Whether an answer about an arrival is true of an actor in this state. */
export function isTrueOfActor(
  state: ActorState | null,
  operation: GatewayRequest['operation'],
  said: ArrivalState,
): boolean {
  const arrived = originIn(state)
  switch (operation.kind) {
    case 'hold_arrival': {
      const { from } = operation
      if (arrived?.ledgerId !== from.ledgerId || arrived.recordHash !== from.recordHash) return false
      return isHeld(state) ? said === 'held' && arrived.importId === from.importId : said === 'present'
    }
    case 'take_arrival':
      return said === 'taken' && arrived !== undefined && !isHeld(state)
    case 'drop_arrival':
      return said === 'dropped' && !(isHeld(state) && arrived?.importId === operation.importId)
    default:
      return false
  }
}

export function objectionToPortage(
  code: string,
  operation: PortageOperation,
  states: readonly (ActorState | null)[],
  caller: GatewayRequest['caller'],
): string | undefined {
  if (caller.role !== 'admin') return code === 'not_allowed' ? undefined : `${code} to a stranger`
  const isTaken = ['token_exists', 'class_exists', 'instance_exists'].includes(code)
  if (operation.kind !== 'hold_arrival' || !isTaken) return `${operation.kind} refused with ${code}`
  const { from } = operation
  const isAnothers = (state: ActorState | null): boolean => {
    const arrived = originIn(state)
    const isSame = arrived?.ledgerId === from.ledgerId && arrived.recordHash === from.recordHash
    return state !== null && !(isSame && (!isHeld(state) || arrived.importId === from.importId))
  }
  return states.some(isAnothers) ? undefined : `${code}, and there was no other`
}

/** The origin of the actor's arrival, taken or held. */
export function originIn(state: ActorState | null): ArrivedFrom | undefined {
  return state !== null && 'arrived' in state ? state.arrived : undefined
}

/** Whether the actor is held for an import and has not arrived yet. */
export function isHeld(state: ActorState | null): boolean {
  if (state === null || originIn(state) === undefined || !('status' in state)) return false
  return state.status === 'preparing' || state.status === 'minting'
}
