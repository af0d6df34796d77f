/**
 * Encrypts one shard of a ledger, in one transaction.
 *   N1. The transaction holds the shard's row from its first statement to its end: no commit passes the fence meanwhile, and
 *       nobody acquires the shard. With it the epoch changes and the shard is nobody's: whoever writes it next has looked
 *       how far the encryption has come (F1 of the vault). Cut short, it leaves everything as it was, the owner included.
 *   N2. A text is sealed as it stands, but for what an account's digest covers: that is in the form in which commits write it.
 *   N3. Memory: the keys of the shard's accounts, and one batch of rows.
 */
import { invariant } from '../../actors/result.ts'
import type { Sql } from './connection.ts'
import { encryptAccounts } from './encrypt-accounts.ts'
import { createShardSealer, type EncryptionKeys } from './encrypt-sealer.ts'
import { ENCRYPTED_TABLES } from './encrypt-tables.ts'

/** Rejects with the driver's error; nothing has changed then, unless the connection was lost at the very end. */
export async function encryptShard(
  sql: Sql,
  shardId: number,
  keys: EncryptionKeys,
  onRows: (count: number) => void,
): Promise<void> {
  await sql.begin(async (transaction) => {
    const { count } = await transaction`
      UPDATE shards SET epoch = epoch + 1, attempt = 0, node_id = NULL, session = NULL, updated_at = now()
       WHERE shard_id = ${shardId}`
    invariant(count === 1, 'the shard is there')
    const sealer = createShardSealer(transaction, shardId, keys, onRows)
    await encryptAccounts(sealer)
    for (const encryptTable of ENCRYPTED_TABLES) await encryptTable(sealer)
    const counted = await transaction`
      UPDATE ledger SET encrypted_shards = ${shardId + 1}
       WHERE encryption = 'converting' AND encrypted_shards = ${shardId}`
    invariant(counted.count === 1, 'shards are encrypted one after the other')
  })
}
