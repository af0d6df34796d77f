/** Which data keys a batch needs, and which come into being with it. */
import type postgres from 'postgres'
import type { CommitBatch, ShardBatch } from '../../runtime/ports/ledger-store.ts'
import { classKeyName, type KeyName, LEDGER_KEY_NAME, partsOf, shardKeyName } from '../vault/key-name.ts'
import type { MadeKey } from '../vault/data-keys.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { actorKeyName, nftKeyName } from './row-sealer.ts'

/** Of everything that the batch seals and that may have been there before. */
export function keyNamesOfKnown(batch: CommitBatch, vault: RowVault): KeyName[] {
  if (!vault.encrypts) return []
  const names = new Set<KeyName>([LEDGER_KEY_NAME])
  for (const part of batch.shards) {
    const { shardId } = part.token
    if (!vault.seals(shardId)) continue
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
 * Of what comes into being with the part and has no key yet. A class whose issuer refused leaves its key behind: one that
 * comes after it under its ID has the same.
 */
export function keyNamesOfNew(part: ShardBatch, vault: RowVault): KeyName[] {
  if (!vault.seals(part.token.shardId)) return []
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

/**
 * While a ledger is being encrypted an instance may stand on a shard that is, and its class on one that is not yet: whoever
 * comes first makes the key of the class, and the others find it. Nothing is sealed under it before it is committed.
 */
export async function makeClassKeys(
  sql: postgres.ISql,
  names: readonly KeyName[],
  batch: CommitBatch,
  vault: RowVault,
): Promise<void> {
  const shardIds = new Map<KeyName, number>()
  for (const { token, actors, nftEvents } of batch.shards) {
    const { shardId } = token
    for (const { state } of actors) if (state !== null) shardIds.set(actorKeyName(state, shardId), shardId)
    for (const { nftId } of nftEvents) shardIds.set(nftKeyName(nftId, shardId), shardId)
  }
  const news = new Set(batch.shards.flatMap((part) => keyNamesOfNew(part, vault)))
  const missing = names.filter((name) => !news.has(name) && vault.keys.known(name) === undefined && isOfClass(name))
  for (const name of missing) await insertKey(sql, shardIds.get(name) ?? 0, vault.keys.make(name))
  if (missing.length > 0) await vault.keys.fetch(sql, missing)
}

function isOfClass(name: KeyName): boolean {
  return name.startsWith(classKeyName(''))
}

/** False: there is one already. */
export async function insertKey(sql: postgres.ISql, shardId: number, { name, wrapped }: MadeKey): Promise<boolean> {
  const { scope, ref } = partsOf(name)
  const row = { shard_id: shardId, scope, ref, master_key_id: wrapped.masterKeyId, wrapped: wrapped.wrapped }
  return (await sql`INSERT INTO data_keys ${sql(row)} ON CONFLICT DO NOTHING`).count === 1
}
