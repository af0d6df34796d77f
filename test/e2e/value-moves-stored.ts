/** Transactions, balances and actors of a whole ledger as they are stored, opened. */
import type postgres from 'postgres'
import type { Balance } from '../../actors/account/state.ts'
import type { Transaction } from '../../actors/account/transaction.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import { balanceFrom } from '../../infra/postgres/account-parts.ts'
import { type ActorRow, keyNameOfActorRow, openActor } from '../../infra/postgres/actor-documents.ts'
import { PLACES } from '../../infra/postgres/row-sealer.ts'
import { openTransaction, type TransactionRow } from '../../infra/postgres/transaction-document.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'

/** A transaction, and what stands beside it. */
export interface Booked extends Transaction {
  /** The account's reference. */
  readonly accountRef: string
  readonly compensatedBy: string | null
}

export interface HeldBalance {
  readonly accountRef: string
  readonly tokenId: string
  readonly balance: Balance
}

type StateOf<Kind extends ActorState['kind']> = Extract<ActorState, { kind: Kind }>

/** Each throws for a row that cannot be read. */
export interface StoredMoves {
  readonly transactions: () => Promise<readonly Booked[]>
  readonly balances: () => Promise<readonly HeldBalance[]>
  readonly actors: <Kind extends 'token' | 'group'>(kind: Kind) => Promise<readonly StateOf<Kind>[]>
}

interface BalanceRow {
  readonly shard_id: number
  readonly account_id: string
  readonly token_id: string
  readonly document: Buffer
}

export function createStoredMoves(sql: postgres.Sql, vault: RowVault): StoredMoves {
  return {
    transactions: async () => {
      const rows = await sql<TransactionRow[]>`SELECT * FROM transactions ORDER BY txn_id`
      await vault.keys.fetch(
        sql,
        rows.map((row) => accountKeyName(row.account_id)),
      )
      return rows.map((row) => ({
        ...openTransaction(row, vault).transaction,
        accountRef: row.account_id,
        compensatedBy: row.compensated_by,
      }))
    },
    balances: async () => {
      const rows = await sql<BalanceRow[]>`SELECT shard_id, account_id, token_id, document FROM balances`
      await vault.keys.fetch(
        sql,
        rows.map((row) => accountKeyName(row.account_id)),
      )
      return rows.map(({ shard_id: shardId, account_id: ref, token_id: tokenId, document }) => ({
        accountRef: ref,
        tokenId,
        balance: balanceFrom(vault.open(accountKeyName(ref), PLACES.balance(shardId, ref, tokenId), document)),
      }))
    },
    actors: async <Kind extends 'token' | 'group'>(kind: Kind) => {
      const rows = await sql<ActorRow[]>`SELECT * FROM actors WHERE kind = ${kind} ORDER BY actor_id`
      await vault.keys.fetch(sql, rows.map(keyNameOfActorRow))
      return rows.map((row) => openActor(row, keyNameOfActorRow(row), vault) as StateOf<Kind>)
    },
  }
}
