/**
 * The schema, as numbered steps that are applied in order and never changed once released.
 *
 * Every hot table leads with `shard_id`. Unique indexes are assertions, not mechanism: each fact has one writer, its
 * shard's owner. No foreign key points anywhere on the write path, and the `shards` row changes only with ownership
 * or an unknown outcome: it is locked by every commit.
 */
import { BASELINE } from './baseline.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Nodes of an earlier release must not run: they would go on writing the earlier form. */
  readonly alone?: boolean
}

export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: 'baseline', sql: BASELINE }]
