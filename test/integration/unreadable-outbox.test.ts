/** An unreadable outbox row is a fault of its shard, and not an outage of PostgreSQL. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UnreadableRow } from '../../infra/vault/unreadable-row.ts'
import { LedgerStoreUnavailable } from '../../runtime/ports/ledger-store.ts'
import { createPostgresHarness, type PostgresHarness } from '../support/postgres/ledger-store-postgres.ts'

let harness: PostgresHarness

beforeEach(async () => {
  harness = await createPostgresHarness()
})
afterEach(() => harness.close())

test('a shard with an unreadable outbox row does not open; an outage of PostgreSQL has another error', async () => {
  const { store, wire } = await harness.open({ callTimeoutMs: 1_000 })
  await harness.sql`
    INSERT INTO outbox (shard_id, target_shard, number, message, written_at) VALUES (3, 4, 1, 'no envelope', now())`
  await harness.sql`INSERT INTO outbox_channels (shard_id, target_shard, sent) VALUES (3, 4, 1)`
  await expect(store.openShard(3)).rejects.toBeInstanceOf(UnreadableRow)
  expect(await store.openShard(5)).toMatchObject({ outbox: [] })
  await wire.close()
  await expect(store.openShard(3)).rejects.toBeInstanceOf(LedgerStoreUnavailable)
})
