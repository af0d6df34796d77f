/** A table of private service keys for each part that uses them, and a secret that edges and nodes share. */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { firstRootSecret, sealLedgerSecret } from '../../keys/ledger-seals.ts'
import { createMasterSeal } from '../../keys/master-seal.ts'
import { createServiceKeySeals } from '../../keys/service-key-seals.ts'
import type { KeyRing } from '../../keys/wrapping-keys.ts'
import { PRIVATE_KEY_TABLES, purposeOf } from '../service-key-table.ts'
import type { PrepareStep } from './prepare-privacy.ts'

const NEW = `
-- sealed: the private key (PKCS #8), under the wrapping key of the key's purpose.
CREATE TABLE node_private_keys (key_id text PRIMARY KEY, sealed bytea NOT NULL);
CREATE TABLE edge_private_keys (key_id text PRIMARY KEY, sealed bytea NOT NULL);
-- tag: proves that the ledger made the key, without its private key.
ALTER TABLE service_keys ADD COLUMN tag bytea;
ALTER TABLE ledger ADD COLUMN sealed_message_secret bytea;
`

export const KEYS_BY_PURPOSE = `
ALTER TABLE service_keys DROP COLUMN sealed_private_key, ALTER COLUMN tag SET NOT NULL;
ALTER TABLE ledger ALTER COLUMN sealed_root_secret SET NOT NULL, ALTER COLUMN sealed_message_secret SET NOT NULL;
`

/** Reseals the existing keys. Throws MasterKeyMissing. */
export const prepareKeysByPurpose: PrepareStep = async (sql, { masterKeys }) => {
  await sql.unsafe(NEW)
  await moveServiceKeys(sql, masterKeys)
  await addLedgerSecrets(sql, masterKeys)
}

interface EarlierKey {
  readonly keyId: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly sealed: Buffer
}

async function moveServiceKeys(sql: postgres.TransactionSql, masterKeys: KeyRing): Promise<void> {
  const before = createMasterSeal(masterKeys, 'service-keys')
  const seals = createServiceKeySeals(masterKeys)
  const rows = await sql<EarlierKey[]>`
    SELECT key_id AS "keyId", purpose, x, y, sealed_private_key AS sealed FROM service_keys`
  for (const { sealed, ...row } of rows) {
    const key = { ...row, purpose: purposeOf(row.purpose) }
    const { secret } = before.open(['service-key', key.purpose, key.keyId], sealed)
    const after = seals.seal(key, secret)
    secret.fill(0)
    await sql`INSERT INTO ${sql(PRIVATE_KEY_TABLES[key.purpose])} (key_id, sealed) VALUES (${key.keyId}, ${after})`
    await sql`UPDATE service_keys SET tag = ${seals.tag(key)} WHERE key_id = ${key.keyId}`
  }
}

async function addLedgerSecrets(sql: postgres.TransactionSql, masterKeys: KeyRing): Promise<void> {
  const [ledger] = await sql<{ shard: Buffer; root: Buffer | null }[]>`
    SELECT sealed_shard_secret AS shard, sealed_root_secret AS root FROM ledger`
  if (ledger === undefined) return
  const root = ledger.root ?? sealLedgerSecret(masterKeys, 'root-secret', firstRootSecret(masterKeys, ledger.shard))
  const message = sealLedgerSecret(masterKeys, 'message-secret', randomBytes(32))
  await sql`UPDATE ledger SET sealed_root_secret = ${root}, sealed_message_secret = ${message}`
}
