/** Writes and changes rows with the ledger's keys, past the owners of its shards. */
import type postgres from 'postgres'
import type { ActorState } from '../../../actors/actor-state.ts'
import {
  ACTOR_ROW_COLUMNS,
  type ActorRow,
  keyNameOfActorRow,
  openActor,
} from '../../../infra/postgres/rows/actor-documents.ts'
import { arrayExpression, arrayParameter, elementExpression } from '../../../infra/postgres/connection/array-literal.ts'
import { keyNamesOfNew } from '../../../infra/postgres/commit/commit-keys.ts'
import { SECTION_NAMES, SECTIONS } from '../../../infra/postgres/commit/commit-rows.ts'
import { createRowSealer, PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import {
  openTransaction,
  placeOfTransaction,
  receivedTokenOf,
  refsOfTransaction,
  type TransactionRow,
  transactionText,
} from '../../../infra/postgres/rows/transaction-document.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { ShardBatch, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { partWith, type Rows } from './ledger-rows.ts'

/** Sections of new rows whose table has another name; the others that are named so change rows that are there. */
const TABLES: Readonly<Record<string, string>> = { new_accounts: 'accounts', new_actors: 'actors' }
const CHANGING: ReadonlySet<string> = new Set([
  'changed_accounts',
  'pending_holds',
  'ended_transactions',
  'compensations',
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
    const [enteredColumn, enteredValue] =
      name === 'transactions' ? [', entered_xid', ', pg_current_xact_id()'] : ['', '']
    const insert = `INSERT INTO ${TABLES[name] ?? name} (shard_id, ${names}${enteredColumn})
       SELECT ${shardId}, ${selected}${enteredValue} FROM unnest(${arrays}) AS u (${names})`
    await sql.unsafe(
      name.endsWith('transactions') ? logged(insert, name === 'transactions' ? 'final' : 'pending') : insert,
      parameters,
    )
  }
  for (const key of made.values()) vault.keys.adopt(key)
}

/** With the transactions that it enters in the log of commits. */
function logged(insert: string, as: 'final' | 'pending'): string {
  const other = as === 'final' ? 'pending' : 'final'
  return `WITH written AS (${insert} RETURNING txn_id)
    INSERT INTO commits (${as}, ${other}, ended) SELECT array_agg(txn_id ORDER BY txn_id), '{}', '{}' FROM written
    ON CONFLICT (commit_xid) DO UPDATE SET ${as} = commits.${as} || excluded.${as}`
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

/** One that has ended, with its columns, but for the account's and the key's references. */
export async function rewriteTransaction(
  sql: postgres.Sql,
  vault: RowVault,
  txnId: string,
  change: (stored: TransactionWrite) => TransactionWrite,
): Promise<void> {
  const [row] = await sql<TransactionRow[]>`SELECT * FROM transactions WHERE txn_id = ${txnId}`
  if (row === undefined) throw new Error('there is no such transaction')
  await vault.keys.fetch(sql, [accountKeyName(row.account_id)])
  await resealTransaction(sql, vault, row, change(openTransaction(row, vault)))
}

/** The row says `after` from now on, whatever of it is another: the ID, the shard and the end, too. Its key must have been fetched. */
export async function resealTransaction(
  sql: postgres.Sql,
  vault: RowVault,
  row: TransactionRow,
  after: TransactionWrite,
): Promise<void> {
  const { transaction, receipt } = after
  const { sequence, processedAtMs, previousHash, auditHash } = transaction
  const refs = { ...refsOfTransaction(transaction, vault), account: row.account_id, key: row.idempotency_key }
  const place = placeOfTransaction(after, refs)
  const document = Buffer.from(vault.seal(accountKeyName(row.account_id), place, transactionText(after)), 'hex')
  const common = {
    shard_id: transaction.shardId,
    txn_id: transaction.txnId,
    type: transaction.type,
    token_id: transaction.tokenId,
    group_id: refs.group,
    origin: transaction.origin,
    created_at: new Date(transaction.createdAtMs),
    amount_bucket: refs.bucket,
    document,
  }
  if (transaction.status === 'pending') {
    await sql`UPDATE pending_transactions SET ${sql(common)} WHERE txn_id = ${row.txn_id}`
    return
  }
  const final = {
    ...common,
    received_token_id: receivedTokenOf(transaction),
    status: transaction.status,
    failure_code: transaction.failure?.code ?? null,
    sequence,
    processed_at: processedAtMs === null ? null : new Date(processedAtMs),
    previous_hash: previousHash === null ? null : Buffer.from(previousHash, 'hex'),
    audit_hash: auditHash === null ? null : Buffer.from(auditHash, 'hex'),
    receipt_key_id: receipt?.keyId ?? null,
  }
  if (row.status !== 'pending') {
    await sql`UPDATE transactions SET ${sql(final)} WHERE txn_id = ${row.txn_id}`
    return
  }
  await sql.begin(async (commit) => {
    const [pending] = await commit<{ entered_xid: string }[]>`
      DELETE FROM pending_transactions WHERE txn_id = ${row.txn_id} RETURNING entered_xid::text`
    if (pending === undefined) throw new Error('there is no such transaction')
    const named = { account_id: row.account_id, idempotency_key: row.idempotency_key }
    await commit`INSERT INTO transactions ${commit({ ...final, ...named, entered_xid: pending.entered_xid })}`
    await commit`INSERT INTO commits (final, pending, ended) VALUES ('{}', '{}', ARRAY[${row.txn_id}])`
  })
}
