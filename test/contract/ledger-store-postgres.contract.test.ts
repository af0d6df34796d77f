import { acceptServer } from '../../infra/postgres/accepted-servers.ts'
import { PLACES } from '../../infra/postgres/row-sealer.ts'
import { vaultOf } from '../support/ledger-database.ts'
import { createPostgresHarness } from '../support/ledger-store-postgres.ts'
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
    // A document is sealed for the version beside it: without the keys such a row could not be read at all.
    takeBack: async ({ shardId, accountId, version }) => {
      const [ref, name] = [vault.accountRef(accountId), vault.accountKeyName(accountId)]
      const [row] = await harness.sql<{ version: string; document: Buffer }[]>`
        SELECT version, document FROM accounts WHERE shard_id = ${shardId} AND account_id = ${ref}`
      if (row === undefined) throw new Error('there is no such account')
      await vault.keys.fetch(harness.sql, [name])
      const text = vault.open(name, PLACES.account(shardId, ref, Number(row.version)), row.document)
      const document = vault.seal(name, PLACES.account(shardId, ref, version), text)
      await harness.sql`
        UPDATE accounts SET version = ${version}, document = decode(${document}, 'hex')
        WHERE shard_id = ${shardId} AND account_id = ${ref}`
    },
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
