/** Documents of actors as reads take them: of the kind that was asked for, in a format that this code knows. */
import type { ActorState } from '../../../actors/actor-state.ts'
import { classKeyName, type KeyName, shardKeyName } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { PLACES } from './row-sealer.ts'

const FORMAT = 1

/** Columns that every reader of an actor selects. */
export interface ActorRow {
  readonly shard_id: number
  readonly kind: string
  readonly actor_id: string
  /** `bigint` arrives as text. */
  readonly version: string
  readonly class_id: string | null
  readonly document: Buffer
}

/** Of `actors a`. */
export const ACTOR_ROW_COLUMNS = 'a.shard_id, a.kind, a.actor_id, a.version, a.class_id, a.document'

/** The key must have been fetched. Throws UnreadableRow. */
export function openActor(row: ActorRow, name: KeyName, vault: RowVault): ActorState {
  const place = PLACES.actor(row.shard_id, row.kind, row.actor_id, Number(row.version))
  const state = openJson<ActorState | { readonly format: undefined }>(vault, name, place, row.document)
  if (state.format !== FORMAT) throw new UnreadableRow(place, 'its document is in an unknown format')
  if (state.kind !== row.kind) throw new UnreadableRow(place, 'its document is of something else')
  return state
}

type StateOf<Kind extends ActorState['kind']> = Extract<ActorState, { kind: Kind }>

/** The key must have been fetched. Throws UnreadableRow. */
export function stateOf<Kind extends ActorState['kind']>(kind: Kind, row: ActorRow, vault: RowVault): StateOf<Kind> {
  const state = openActor(row, keyNameOfActorRow(row), vault)
  if (state.kind !== kind) throw new UnreadableRow(`actors ${row.actor_id}`, `it is no ${kind}`)
  return state as StateOf<Kind>
}

/** The name of the data key that seals a row, from its columns. */
export function keyNameOfActorRow({ kind, class_id: classId, shard_id: shardId }: ActorRow): KeyName {
  return (kind === 'class' || kind === 'instance') && classId !== null ? classKeyName(classId) : shardKeyName(shardId)
}
