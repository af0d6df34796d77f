import { createPostgresHarness } from '../support/ledger-store-postgres.ts'
import { rewoundContract } from './ledger-store-rewound.contract.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

ledgerStoreContract('PostgreSQL', createPostgresHarness)
rewoundContract('PostgreSQL', async () => {
  const harness = await createPostgresHarness()
  return {
    ...harness,
    takeBack: async ({ shardId, accountId, version }) => {
      await harness.sql`
        UPDATE accounts SET version = ${version} WHERE shard_id = ${shardId} AND account_id = ${accountId}`
    },
  }
})
