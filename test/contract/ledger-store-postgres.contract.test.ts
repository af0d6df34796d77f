import { createPostgresHarness } from '../support/ledger-store-postgres.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

ledgerStoreContract('PostgreSQL', createPostgresHarness)
