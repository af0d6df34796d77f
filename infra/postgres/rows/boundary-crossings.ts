/**
 * Value that came in from outside the ledger and left it: one row a commit, which says what it was by shard, and which of
 * those shards the fence let pass. A row is never changed, and in time added up with others (crossing-fold.ts); what it says
 * is sealed.
 */
import type { BoundaryCrossing, CommitBatch } from '../../../runtime/ports/ledger-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { PLACES } from './row-sealer.ts'

type Crossings = readonly (readonly [shardId: number, readonly BoundaryCrossing[]])[]

/** Undefined when nothing crosses. */
export function crossingsText({ shards }: CommitBatch): string | undefined {
  const crossings: Crossings = shards
    .filter(({ boundary }) => boundary.length > 0)
    .map(({ token, boundary }) => [token.shardId, boundary] as const)
  return crossings.length === 0 ? undefined : JSON.stringify(crossings)
}

/** In the place of a shard: what was added up over many. */
const ADDED_UP = -1

/** Totals as a row of their own has them. */
export function crossingsOf(totals: readonly BoundaryCrossing[]): {
  readonly shards: readonly number[]
  readonly text: string
} {
  return { shards: [ADDED_UP], text: JSON.stringify([[ADDED_UP, totals]] satisfies Crossings) }
}

export interface CrossingsRow {
  readonly session: string
  readonly number: string
  /** Those that passed the fence. */
  readonly shards: readonly number[]
  readonly document: Buffer
}

/** The crossings of a row that took effect; the ledger's key must have been fetched. Throws UnreadableRow. */
export function openCrossings(row: CrossingsRow, vault: RowVault): readonly BoundaryCrossing[] {
  const place = PLACES.crossings(row.session, Number(row.number))
  const crossings = openJson<Crossings>(vault, LEDGER_KEY_NAME, place, row.document)
  return crossings.filter(([shardId]) => row.shards.includes(shardId)).flatMap(([, crossed]) => crossed)
}
