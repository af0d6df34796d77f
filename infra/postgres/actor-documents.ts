/** Documents of actors as reads take them: of the kind that was asked for, in a format that this code knows. */
import type { ActorState } from '../../actors/actor-state.ts'
import type { GroupState } from '../../actors/group/state.ts'
import type { ClassState } from '../../actors/nft-class/state.ts'
import type { InstanceState } from '../../actors/nft-instance/state.ts'
import type { TokenState } from '../../actors/token/state.ts'
import { UnreadableRow } from './transaction-rows.ts'

const FORMAT = 1

/** Throws UnreadableRow. */
export function tokenStateOf(document: string): TokenState {
  return stateOf('token', document)
}

/** Throws UnreadableRow. */
export function groupStateOf(document: string): GroupState {
  return stateOf('group', document)
}

/** Throws UnreadableRow. */
export function classStateOf(document: string): ClassState {
  return stateOf('class', document)
}

/** Throws UnreadableRow. */
export function instanceStateOf(document: string): InstanceState {
  return stateOf('instance', document)
}

type StateOf<Kind extends ActorState['kind']> = Extract<ActorState, { kind: Kind }>

function stateOf<Kind extends ActorState['kind']>(kind: Kind, document: string): StateOf<Kind> {
  const state = parsed(document) as StateOf<Kind> | { readonly format: undefined }
  if (state.format !== FORMAT) throw new UnreadableRow('A document is in an unknown format.')
  if (state.kind !== kind) throw new UnreadableRow(`The document of a ${kind} is of something else.`)
  return state
}

function parsed(document: string): unknown {
  try {
    return JSON.parse(document)
  } catch {
    // The error quotes the document.
    throw new UnreadableRow('A document is not JSON.')
  }
}
