/** A balance changed behind the ledger's back by somebody who has its keys: the account's row says the same. */
import type postgres from 'postgres'
import type { AccountState } from '../../actors/account/state.ts'
import { balanceOf } from '../../actors/account/state.ts'
import type { Quantity } from '../../actors/money.ts'
import { accountText } from '../../infra/postgres/account-document.ts'
import { balanceText, partsDigest } from '../../infra/postgres/account-parts.ts'
import { PLACES } from '../../infra/postgres/row-sealer.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'

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
  const digest = partsDigest({ ...account, balances: account.balances.with(tokenId, changed) }, vault, name)
  const document = vault.seal(name, PLACES.account(shardId, ref, version), accountText(account, digest))
  const text = vault.seal(name, PLACES.balance(shardId, ref, tokenId), balanceText(changed))
  const { count } = await sql`
    WITH account AS (
      UPDATE accounts SET document = ${Buffer.from(document, 'hex')}
       WHERE shard_id = ${shardId} AND account_id = ${ref} AND version = ${version})
    UPDATE balances SET document = ${Buffer.from(text, 'hex')}
     WHERE shard_id = ${shardId} AND account_id = ${ref} AND token_id = ${tokenId}`
  if (count !== 1) throw new Error('the balance was not changed')
}
