/** Documents of actors as reads take them: of the kind that was asked for, in a format that this code knows. */
import type { ActorState } from '../../actors/actor-state.ts'
import type { GroupState } from '../../actors/group/state.ts'
import type { TokenState } from '../../actors/token/state.ts'
import { UnreadableRow } from './transaction-rows.ts'

const FORMAT = 1

/** Throws UnreadableRow. */
export function tokenStateOf(document: string): TokenState {
  const state = stateOf(document)
  if (state.kind !== 'token') throw new UnreadableRow('The document of a token is of something else.')
  return state
}

/** Throws UnreadableRow. */
export function groupStateOf(document: string): GroupState {
  const state = stateOf(document)
  if (state.kind !== 'group') throw new UnreadableRow('The document of a group is of something else.')
  return state
}

function stateOf(document: string): ActorState {
  const state = JSON.parse(document) as ActorState | { readonly format: undefined }
  if (state.format !== FORMAT) throw new UnreadableRow('A document is in an unknown format.')
  return state
}
