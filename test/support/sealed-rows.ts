/** Rows as somebody writes and changes them who has the ledger's keys, and goes past its owners. */
import type postgres from 'postgres'
import type { ActorState } from '../../actors/actor-state.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, openActor } from '../../infra/postgres/actor-documents.ts'
import { arrayExpression, arrayParameter, elementExpression } from '../../infra/postgres/array-literal.ts'
import { keyNamesOfNew } from '../../infra/postgres/commit-keys.ts'
import { SECTIONS } from '../../infra/postgres/commit-rows.ts'
import { SECTION_NAMES } from '../../infra/postgres/commit-section.ts'
import { createRowSealer, PLACES } from '../../infra/postgres/row-sealer.ts'
import { openTransaction, type TransactionRow, transactionText } from '../../infra/postgres/transaction-document.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import type { ShardBatch, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { partWith, type Rows } from './ledger-rows.ts'

/** Sections of new rows whose table has another name; the others that are named so change rows that are there. */
const TABLES: Readonly<Record<string, string>> = { new_accounts: 'accounts', new_actors: 'actors' }
const CHANGING: ReadonlySet<string> = new Set([
  'changed_accounts',
  'transaction_changes',
  'changed_actors',
  'removed_actors',
])

/** New rows of one shard, with the keys of the accounts and classes that are new in them; those of others are fetched. */
export async function insertRows(
  sql: postgres.ISql,
  vault: RowVault,
  shardId: number,
  ...rows: readonly Partial<Rows>[]
): Promise<void> {
  const part: ShardBatch = partWith({ shardId, epoch: 1, attempt: 0 }, ...rows)
  const made = new Map(keyNamesOfNew(part, vault).map((name) => [name, vault.keys.make(name)]))
  const sealer = createRowSealer(vault, shardId, made)
  for (const name of SECTION_NAMES) {
    const { columns, rowsOf } = SECTIONS[name]
    const values = rowsOf(part, sealer)
    if (values.length === 0) continue
    if (CHANGING.has(name)) throw new Error(`${name} change rows that are there`)
    const names = columns.map((column) => column.name).join(', ')
    const arrays = columns.map(({ type }, index) => arrayExpression(type, `$${index + 1}`)).join(', ')
    const selected = columns.map((column) => elementExpression(column.type, `u.${column.name}`)).join(', ')
    const parameters = columns.map(({ type }, index) =>
      arrayParameter(
        type,
        values.map((row) => row[index] ?? null),
      ),
    )
    await sql.unsafe(
      `INSERT INTO ${TABLES[name] ?? name} (shard_id, ${names})
       SELECT ${shardId}, ${selected} FROM unnest(${arrays}) AS u (${names})`,
      parameters,
    )
  }
  for (const key of made.values()) vault.keys.adopt(key)
}

/** Rows that a condition without parameters finds: their documents are what `change` makes of the states. */
export async function rewriteActors(
  sql: postgres.ISql,
  vault: RowVault,
  condition: string,
  change: (state: ActorState) => string,
): Promise<void> {
  const rows = await sql.unsafe<ActorRow[]>(`SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE ${condition}`)
  await vault.keys.fetch(sql, rows.map(keyNameOfActorRow))
  for (const row of rows) {
    const { shard_id: shardId, kind, actor_id: id, version } = row
    const name = keyNameOfActorRow(row)
    const document = vault.seal(
      name,
      PLACES.actor(shardId, kind, id, Number(version)),
      change(openActor(row, name, vault)),
    )
    await sql`
      UPDATE actors SET document = decode(${document}, 'hex')
      WHERE shard_id = ${shardId} AND kind = ${kind} AND actor_id = ${id}`
  }
}

/** One that was decided at once. The columns beside it stay. */
export async function rewriteTransaction(
  sql: postgres.ISql,
  vault: RowVault,
  txnId: string,
  change: (stored: TransactionWrite) => TransactionWrite,
): Promise<void> {
  const [row] = await sql<TransactionRow[]>`SELECT * FROM transactions WHERE txn_id = ${txnId}`
  if (row === undefined) throw new Error('there is no such transaction')
  const { shard_id: shardId, account_id: ref } = row
  const name = accountKeyName(ref)
  await vault.keys.fetch(sql, [name])
  const text = transactionText(change(openTransaction(row, vault)))
  const document = vault.seal(name, PLACES.transaction(shardId, ref, txnId), text)
  await sql`UPDATE transactions SET document = decode(${document}, 'hex') WHERE txn_id = ${txnId}`
}
