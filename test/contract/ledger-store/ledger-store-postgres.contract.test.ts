import { acceptServer } from '../../../infra/postgres/connection/accepted-servers.ts'
import { changeAccount } from '../../support/postgres/tampering-with-keys.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import { createPostgresHarness } from '../../support/postgres/ledger-store-postgres.ts'
import { erasureContract } from './ledger-store-erasure.contract.ts'
import { rewoundContract } from './ledger-store-rewound.contract.ts'
import { serverContract } from './ledger-store-server.contract.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

ledgerStoreContract('PostgreSQL', () => createPostgresHarness())
erasureContract('PostgreSQL', () => createPostgresHarness())
rewoundContract('PostgreSQL', async () => {
  const harness = await createPostgresHarness()
  const vault = await vaultOf(harness.url)
  return {
    ...harness,
    // A row is sealed for its version: without the keys such a row could not be read at all.
    takeBack: ({ accountId, version }) =>
      changeAccount(accountId, (account) => ({ ...account, version }))({ ...harness, vault }),
  }
})
serverContract('PostgreSQL', async () => {
  const harness = await createPostgresHarness()
  return {
    ...harness,
    open: async () => {
      const stops: string[] = []
      const session = await harness.open({ onStopped: (reason) => stops.push(reason) })
      return { ...session, stops }
    },
    // As after a promotion: the server is on another timeline than any that is listed.
    promote: async () => {
      await harness.sql`UPDATE accepted_servers SET timeline = '0000DEAD'`
    },
    accept: async () => {
      await acceptServer(harness.sql)
    },
  }
})
