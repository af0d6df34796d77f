/**
 * The schema, as numbered steps that are applied in order and never changed once released.
 *
 * Every hot table leads with `shard_id`. Unique indexes are assertions, not mechanism: each fact has one writer, its
 * shard's owner. No foreign key points anywhere on the write path, and the `shards` row changes only with ownership
 * or an unknown outcome: it is locked by every commit.
 */
import { ACCESS } from './access.ts'
import { ACCOUNTS } from './accounts.ts'
import { ACTORS } from './actors.ts'
import { ASSERTIONS } from './assertions.ts'
import { AUDIT } from './audit.ts'
import { FOUNDATION } from './foundation.ts'
import { LOG } from './log.ts'
import { PORTABILITY } from './portability.ts'
import { TRANSACTIONS } from './transactions.ts'
import { WEBHOOKS } from './webhooks.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Nodes of an earlier release must not run: they would go on writing the earlier form. */
  readonly alone?: boolean
}

/** No part refers to a table of another. */
const BASELINE = [
  FOUNDATION,
  ACCOUNTS,
  TRANSACTIONS,
  ACTORS,
  ACCESS,
  AUDIT,
  ASSERTIONS,
  PORTABILITY,
  WEBHOOKS,
  LOG,
].join('')

export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: 'baseline', sql: BASELINE }]
