/**
 * Reads the accounts of a snapshot one by one, with their balances, holds and used idempotency keys.
 *   A1. An account's balances and holds must match its digest (account-parts.ts), and its decided transactions must match
 *       its count. Rows that were removed or restored are therefore detected.
 *   A2. Memory grows with the balances and holds of one account only, not with its history or the number of accounts.
 */
import type postgres from 'postgres'
import { type Hold, holdId } from '../../actors/account/state.ts'
import type { SignedOperation, UsedKey } from '../../actors/account/used-key.ts'
import {
  ACCOUNT_COLUMNS,
  type AccountDocument,
  type AccountRow,
  keyNameOfAccountRow,
  openAccount,
} from '../postgres/rows/account-document.ts'
import {
  balanceFrom,
  digestOfTexts,
  holdRefOf,
  isOfTransaction,
  type PartText,
} from '../postgres/rows/account-parts.ts'
import type { AccountPlace } from '../postgres/reads/account-reads.ts'
import { column } from '../postgres/connection/array-literal.ts'
import { fetchKeys, opened } from '../postgres/rows/opened-rows.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../postgres/rows/transaction-document.ts'
import { accountKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { AccountRows, batchesOf, type OfAccount } from './export-snapshot.ts'

export interface ReadAccount {
  readonly row: AccountRow
  /** Its status is not `erased`. */
  readonly document: AccountDocument
  /** Every balance that has a row, zero or not. */
  readonly balances: ReadonlyMap<string, ReturnType<typeof balanceFrom>>
  readonly holds: readonly Hold[]
  /** Number of pending transactions. */
  readonly pending: number
}

interface BalanceRow extends OfAccount {
  readonly token_id: string
  readonly document: Buffer
}

interface HoldRow extends OfAccount {
  readonly hold_id: string
  readonly document: Buffer
}

interface OperationRow extends OfAccount {
  readonly operation: string
  readonly idempotency_key: string
  readonly document: Buffer
}

export interface AccountsQuery {
  /** Prefix of the cursors' names. */
  readonly name: string
  readonly vault: RowVault
  /** null: all accounts. */
  readonly places: readonly AccountPlace[] | null
}

const ACCOUNTS_EACH = 200
const PARTS_EACH = 1_000

/** Yields the accounts that exist and are not erased. Throws UnreadableRow or an error of the driver. */
export async function* readAccounts(sql: postgres.Sql, query: AccountsQuery): AsyncGenerator<ReadAccount> {
  const { name, vault } = query
  const balances = new AccountRows<BalanceRow>(
    sql,
    ofAccounts(query, 'balances', 't.shard_id, t.account_id, t.token_id, t.document', 'token_id'),
  )
  const holds = new AccountRows<HoldRow>(
    sql,
    ofAccounts(query, 'all_holds', 't.shard_id, t.account_id, t.hold_id, t.document', 'hold_id'),
  )
  const { text, parameters } = selected(query, 'accounts a', 'a', ACCOUNT_COLUMNS)
  const accounts = batchesOf<AccountRow>(sql, {
    name: `${name}_accounts`,
    text: `${text} ORDER BY a.shard_id, a.account_id`,
    parameters,
    rowsEach: ACCOUNTS_EACH,
  })
  for await (const rows of accounts) {
    await fetchKeys(sql, rows.map(keyNameOfAccountRow), vault)
    for (const row of rows) {
      // A slow consumer may outlast the batch's keys in the cache.
      await fetchKeys(sql, [keyNameOfAccountRow(row)], vault)
      const document = opened(placeOfRow(row), () => openAccount(row, vault))
      const read = await readParts(row, document, balances, holds, vault)
      if (document.status !== 'erased') yield read
      else if (read.balances.size > 0 || read.holds.length > 0 || read.pending > 0) {
        throw new UnreadableRow(placeOfRow(row), 'it was erased, but balances or holds of it exist')
      }
    }
  }
  await balances.rest(rejectOrphan)
  await holds.rest(rejectOrphan)
}

async function readParts(
  row: AccountRow,
  document: AccountDocument,
  balanceRows: AccountRows<BalanceRow>,
  holdRows: AccountRows<HoldRow>,
  vault: RowVault,
): Promise<ReadAccount> {
  const { shard_id: shardId, account_id: ref } = row
  const name = accountKeyName(ref)
  const balances = new Map<string, ReturnType<typeof balanceFrom>>()
  const holds: Hold[] = []
  const texts: PartText[] = []
  let pending = 0
  for (;;) {
    const found = await balanceRows.nextOf(row, rejectOrphan)
    if (found === undefined) break
    const { token_id: tokenId } = found
    const place = PLACES.balance(shardId, ref, tokenId)
    const text = vault.open(name, place, found.document)
    texts.push(['balance', tokenId, text])
    balances.set(
      tokenId,
      opened(place, () => balanceFrom(text)),
    )
  }
  for (;;) {
    const found = await holdRows.nextOf(row, rejectOrphan)
    if (found === undefined) break
    const place = PLACES.hold(shardId, ref, found.hold_id)
    const text = found.document.length === 0 ? '' : vault.open(name, place, found.document)
    if (isOfTransaction(found.hold_id)) {
      texts.push(['hold', found.hold_id, text])
      pending += 1
      continue
    }
    const hold = opened(place, () => JSON.parse(text) as Hold)
    if (holdRefOf(vault, document.accountId, holdId(hold)) !== found.hold_id) {
      throw new UnreadableRow(place, 'it belongs to another hold')
    }
    texts.push(['hold', holdId(hold), text])
    holds.push(hold)
  }
  if (document.status !== 'erased' && digestOfTexts(texts, vault, name) !== document.parts) {
    throw new UnreadableRow(placeOfRow(row), 'its balances or holds do not match its digest')
  }
  return { row, document, balances, holds, pending }
}

function rejectOrphan({ account_id: ref }: OfAccount): void {
  throw new UnreadableRow(`accounts ${ref}`, 'balances or holds exist without their account')
}

function placeOfRow({ shard_id: shardId, account_id: ref, version }: AccountRow): ReturnType<typeof PLACES.account> {
  return PLACES.account(shardId, ref, Number(version))
}

/** Prefix of keys of the ledger's own transactions and of mints. Client keys cannot begin with it. */
const OWN = '§'

const HASHED_OPERATIONS: readonly SignedOperation[] = ['key_rotation', 'mint', 'hold']

/** Used idempotency keys. Accounts must be queried in the order of `readAccounts`. */
export class UsedKeys {
  private readonly sql: postgres.Sql
  private readonly vault: RowVault
  private readonly transactions: AccountRows<TransactionRow>
  private readonly operations: AccountRows<OperationRow>

  constructor(sql: postgres.Sql, query: AccountsQuery) {
    this.sql = sql
    this.vault = query.vault
    const columns = TRANSACTION_ROW_COLUMNS.map((column) => `t.${column}`).join(', ')
    this.transactions = new AccountRows(sql, ofAccounts(query, 'all_transactions', columns, 'txn_id'))
    const operations = ofAccounts(
      query,
      'operations',
      't.shard_id, t.account_id, t.operation, t.idempotency_key, t.document',
      'operation, t.idempotency_key',
      `t.operation IN (${HASHED_OPERATIONS.map((operation) => `'${operation}'`).join(', ')})`,
    )
    this.operations = new AccountRows(sql, operations)
  }

  /** Throws UnreadableRow or an error of the driver. */
  async *of({ row, document, holds }: ReadAccount): AsyncGenerator<UsedKey> {
    const { sql, vault } = this
    const skip = (): void => undefined
    let decided = 0
    for (;;) {
      const found = await this.transactions.nextOf(row, skip)
      if (found === undefined) break
      await fetchKeys(sql, [keyNameOfAccountRow(row)], vault)
      const { transaction } = openTransaction(found, vault)
      if (transaction.status !== 'pending') decided += 1
      const { idempotencyKey } = transaction
      if (!idempotencyKey.startsWith(OWN)) yield { operation: 'transaction', idempotencyKey }
    }
    if (decided !== document.completedCount + document.failedCount) {
      throw new UnreadableRow(placeOfRow(row), 'its number of transactions does not match its counts')
    }
    for (;;) {
      const found = await this.operations.nextOf(row, skip)
      if (found === undefined) break
      yield { operation: this.operationOf(found), idempotencyKey: this.keyOf(found, document.accountId) }
    }
    for (const hold of holds) {
      if (hold.kind === 'payment' && hold.opening !== null) {
        yield { operation: 'hold', idempotencyKey: hold.opening.idempotencyKey }
      }
      if (hold.kind === 'mint') yield { operation: 'mint', idempotencyKey: hold.idempotencyKey }
    }
  }

  private operationOf({ operation }: OperationRow): SignedOperation {
    return HASHED_OPERATIONS.find((hashed) => hashed === operation) ?? 'key_rotation'
  }

  private keyOf(row: OperationRow, accountId: string): string {
    const { shard_id: shardId, account_id: ref, operation, idempotency_key: keyRef, document } = row
    const place = PLACES.operation(shardId, ref, operation, keyRef)
    const sealed = openJson<{ readonly idempotencyKey: string }>(this.vault, accountKeyName(ref), place, document)
    const { idempotencyKey } = sealed
    if (this.vault.keyRef(accountId, idempotencyKey) === keyRef) return idempotencyKey
    throw new UnreadableRow(place, 'it belongs to another key')
  }
}

interface SelectedQuery {
  readonly text: string
  readonly parameters: readonly string[]
}

/** `from`: a table and its alias. */
function selected({ places }: AccountsQuery, from: string, alias: string, columns: string): SelectedQuery {
  const text = `SELECT ${columns} FROM ${from}`
  if (places === null) return { text, parameters: [] }
  return {
    text: `${text} JOIN unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
      ON i.shard_id = ${alias}.shard_id AND i.account_id = ${alias}.account_id`,
    parameters: [column('integer', places, ({ shardId }) => shardId), column('text', places, ({ ref }) => ref)],
  }
}

function ofAccounts(query: AccountsQuery, table: string, columns: string, then: string, only?: string) {
  const { text, parameters } = selected(query, `${table} t`, 't', columns)
  const where = only === undefined ? '' : ` WHERE ${only}`
  return {
    name: `${query.name}_${table}`,
    text: `${text}${where} ORDER BY t.shard_id, t.account_id, t.${then}`,
    parameters,
    rowsEach: PARTS_EACH,
  }
}
