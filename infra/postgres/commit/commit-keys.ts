/** The data keys that a batch needs, and those that it creates. */
import type { CommitBatch, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { type KeyName, LEDGER_KEY_NAME, shardKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { actorKeyName, nftKeyName } from '../rows/row-sealer.ts'

/** Of everything that the batch seals and that may have been there before. */
export function keyNamesOfKnown(batch: CommitBatch, vault: RowVault): KeyName[] {
  const names = new Set<KeyName>([LEDGER_KEY_NAME])
  for (const part of batch.shards) {
    const { shardId } = part.token
    const add = (accountId: string): void => void names.add(vault.accountKeyName(accountId))
    if (part.outbox.length > 0) names.add(shardKeyName(shardId))
    for (const { account } of part.accounts) {
      if (account.status === 'erased') names.add(shardKeyName(shardId))
      else add(account.accountId)
    }
    for (const accountId of part.erased) add(accountId)
    for (const { transaction } of part.transactions) add(transaction.accountId)
    for (const { finished } of part.transactionChanges) if (finished !== null) add(finished.transaction.accountId)
    for (const { accountId } of part.operations) add(accountId)
    for (const { state } of part.actors) if (state !== null) names.add(actorKeyName(state, shardId))
    for (const { nftId } of part.nftEvents) names.add(nftKeyName(nftId, shardId))
    for (const name of newAccounts(part, vault)) names.delete(name)
  }
  return [...names]
}

/**
 * Keys of accounts, classes and attestations that the part creates. A class whose issuer refused leaves its key: a later
 * class under the same ID uses it again.
 */
export function keyNamesOfNew(part: ShardBatch, vault: RowVault): KeyName[] {
  return [...newAccounts(part, vault), ...newClasses(part).filter((name) => vault.keys.known(name) === undefined)]
}

function newAccounts({ accounts }: ShardBatch, vault: RowVault): KeyName[] {
  return accounts
    .filter(({ previousVersion }) => previousVersion === 0)
    .map(({ account }) => vault.accountKeyName(account.accountId))
}

function newClasses({ actors, token }: ShardBatch): KeyName[] {
  return actors.flatMap(({ previousVersion, state }) =>
    previousVersion === 0 && state?.kind === 'class' ? actorKeyName(state, token.shardId) : [],
  )
}
