/** Reads tokens for an audit. */
import type { TokenState } from '../../actors/token/state.ts'
import { type ActorRow, stateOf } from '../postgres/rows/actor-documents.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'

export const TOKEN_COLUMNS = 'shard_id, kind, actor_id, version, class_id, status, document'

export interface TokenRow extends ActorRow {
  readonly status: string
}

/** Its shard's key must have been fetched. Throws UnreadableRow. */
export function openToken(row: TokenRow, vault: RowVault): TokenState {
  const state = stateOf('token', row, vault)
  const { status, id, version } = state
  if (status === row.status && id === row.actor_id && version === Number(row.version)) return state
  const place = PLACES.actor(row.shard_id, row.kind, row.actor_id, Number(row.version))
  throw new UnreadableRow(place, 'its columns are not what was sealed')
}
