/** Changes a balance with the ledger's keys, past its owners, and the digest in the account's row with it. */
import type postgres from 'postgres'
import type { AccountState } from '../../actors/account/state.ts'
import { balanceOf } from '../../actors/account/state.ts'
import type { Quantity } from '../../actors/money.ts'
import { sealAccount } from '../../infra/postgres/rows/account-document.ts'
import { balanceText } from '../../infra/postgres/rows/account-parts.ts'
import { createRowSealer, PLACES } from '../../infra/postgres/rows/row-sealer.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { changeOf } from './tampering-with-keys.ts'

/** The account's key must have been fetched, and it must have the balance. */
export async function resealBalance(
  sql: postgres.Sql,
  vault: RowVault,
  account: AccountState,
  tokenId: string,
  balance: Quantity,
): Promise<void> {
  const { accountId, shardId, version } = account
  const ref = vault.accountRef(accountId)
  const name = accountKeyName(ref)
  const changed = { ...balanceOf(account, tokenId), balance }
  const after = { ...account, balances: account.balances.with(tokenId, changed) }
  const { digest, lasting, lastingVersion } = sealAccount(
    { previousVersion: version, account: after, since: changeOf(account, after) },
    createRowSealer(vault, shardId, new Map()),
  )
  const text = vault.seal(name, PLACES.balance(shardId, ref, tokenId), balanceText(changed))
  const { count } = await sql`
    WITH account AS (
      UPDATE accounts SET digest = ${Buffer.from(digest, 'base64')}, lasting_version = coalesce(${lastingVersion}::bigint, lasting_version),
             lasting = coalesce(${lasting === null ? null : Buffer.from(lasting, 'base64')}::bytea, lasting)
       WHERE shard_id = ${shardId} AND account_id = ${ref} AND version = ${version})
    UPDATE balances SET document = ${Buffer.from(text, 'hex')}
     WHERE shard_id = ${shardId} AND account_id = ${ref} AND token_id = ${tokenId}`
  if (count !== 1) throw new Error('the balance was not changed')
}
