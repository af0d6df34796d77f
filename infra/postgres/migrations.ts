/**
 * The schema, as numbered steps that are applied in order and never changed once released.
 *
 * Every hot table leads with `shard_id`. Unique indexes are assertions, not mechanism: each fact has one writer, its
 * shard's owner. No foreign key points anywhere on the write path, and the `shards` row changes only with ownership
 * or an unknown outcome: it is locked by every commit.
 */
import { ACCESS_CHANGES } from './migrations/access-changes.ts'
import { AMOUNTS } from './migrations/amounts.ts'
import { ASSERTIONS } from './migrations/assertions.ts'
import { ATTESTATIONS } from './migrations/attestations.ts'
import { AUDIT } from './migrations/audit.ts'
import { DRAINS } from './migrations/drains.ts'
import { IDEMPOTENT_REQUESTS } from './migrations/idempotent-requests.ts'
import { INITIAL } from './migrations/initial.ts'
import { KEYS_BY_PURPOSE, prepareKeysByPurpose } from './migrations/keys-by-purpose.ts'
import { NFTS } from './migrations/nfts.ts'
import { PORTABILITY } from './migrations/portability.ts'
import { preparePrivacy, type PrepareStep } from './migrations/prepare-privacy.ts'
import { PRIVACY } from './migrations/privacy.ts'
import { SERVERS } from './migrations/servers.ts'
import { SHARD_COUNTS } from './migrations/shard-counts.ts'
import { SHARD_HEALTH } from './migrations/shard-health.ts'
import { STORE_POSITIONS } from './migrations/store-positions.ts'
import { UNSIGNED_LEGS } from './migrations/unsigned-legs.ts'
import { VALUE_MOVES } from './migrations/value-moves.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Comes before it, in its transaction. */
  readonly prepare?: PrepareStep
  /** Nodes of the program before it must not run: they would go on writing what was there. */
  readonly alone?: boolean
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'initial', sql: INITIAL },
  { version: 2, name: 'value moves', sql: VALUE_MOVES },
  { version: 3, name: 'nfts', sql: NFTS },
  { version: 4, name: 'attestations', sql: ATTESTATIONS },
  { version: 5, name: 'assertions', sql: ASSERTIONS },
  { version: 6, name: 'audit', sql: AUDIT },
  { version: 7, name: 'shard health', sql: SHARD_HEALTH },
  { version: 8, name: 'drains', sql: DRAINS },
  { version: 9, name: 'accepted servers', sql: SERVERS },
  { version: 10, name: 'privacy', sql: PRIVACY, prepare: preparePrivacy, alone: true },
  { version: 11, name: 'portability', sql: PORTABILITY, alone: true },
  { version: 12, name: 'amounts', sql: AMOUNTS, alone: true },
  { version: 13, name: 'shard counts', sql: SHARD_COUNTS, alone: true },
  { version: 14, name: 'keys by purpose', sql: KEYS_BY_PURPOSE, prepare: prepareKeysByPurpose, alone: true },
  { version: 15, name: 'access changes', sql: ACCESS_CHANGES },
  { version: 16, name: 'unsigned legs', sql: UNSIGNED_LEGS, alone: true },
  { version: 17, name: 'idempotent requests', sql: IDEMPOTENT_REQUESTS },
  { version: 18, name: 'store positions', sql: STORE_POSITIONS },
]
