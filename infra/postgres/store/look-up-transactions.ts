/** Earlier transactions as others need them: to undo or refund one, and to know what a client did under a group ID. */
import { creditKeyOf } from '../../../actors/account/record.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import {
  type CreditName,
  creditNameOf,
  type GroupUse,
  type GroupUseAddress,
  groupUseAddressOf,
  type TransactionName,
} from '../../../runtime/ports/ledger-store.ts'
import { appendTo } from '../../../runtime/common/append-to.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import type { Sql } from '../connection/connection.ts'
import { SUBMISSIONS_LOOK_UP } from './look-up-keys.ts'
import { accountRefs, shardIds, texts } from './look-up-parameters.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import { prepared } from '../connection/prepared.ts'

/** `+ 0`: found by the ID alone, whichever of the indexes that lead with `shard_id` promises as little. */
export const COMPENSABLE_LOOK_UP = `
SELECT ${TRANSACTION_ROW_COLUMNS.map((column) => `t.${column}`).join(', ')}
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, txn_id)
  JOIN all_transactions t ON t.txn_id = i.txn_id AND t.shard_id + 0 = i.shard_id`

export function findTransactionRows(sql: Sql, names: readonly TransactionName[]): Promise<readonly TransactionRow[]> {
  if (names.length === 0) return Promise.resolve([])
  const txnIds = texts(names.map(({ txnId }) => txnId))
  return prepared<TransactionRow>(sql, COMPENSABLE_LOOK_UP, [shardIds(names), txnIds])
}

/** By transaction ID. Its account's key must have been fetched. Throws UnreadableRow. */
export function compensableOf(row: TransactionRow, vault: RowVault): readonly [string, CompensableTransaction] {
  const { transaction, refunded } = openTransaction(row, vault)
  const { txnId, accountId, type, amount, tokenId, groupId, status, toAccountId, fromAccountId } = transaction
  const { receive, compensates, refunds, counterTxnId, payload } = transaction
  return [
    txnId,
    {
      txnId,
      accountId,
      type,
      amount,
      tokenId,
      groupId,
      status,
      toAccountId,
      fromAccountId,
      receive,
      compensates,
      refunds,
      counterTxnId,
      compensatedBy: row.compensated_by,
      refunded,
      termsHash: termsHashOf(payload),
    },
  ]
}

/** A row that may be the credit with this name. */
export interface NamedCreditRow extends TransactionRow {
  readonly name: CreditName
}

/** Credits are found by the transfer's ID, which is part of their idempotency key, or by their own ID. */
export async function findCreditRows(
  sql: Sql,
  names: readonly CreditName[],
  vault: RowVault,
): Promise<readonly NamedCreditRow[]> {
  if (names.length === 0) return []
  const keys = names.map(({ accountId, txnId }) => vault.keyRef(accountId, creditKeyOf(txnId)))
  const [byKey, byId] = await Promise.all([
    prepared<TransactionRow>(sql, SUBMISSIONS_LOOK_UP, [shardIds(names), accountRefs(names, vault), texts(keys)]),
    findTransactionRows(sql, names),
  ])
  return names.flatMap((name, index) => {
    const ref = vault.accountRef(name.accountId)
    const isOfAccount = (row: TransactionRow): boolean => row.shard_id === name.shardId && row.account_id === ref
    const row =
      byKey.find((found) => isOfAccount(found) && found.idempotency_key === keys[index]) ??
      byId.find((found) => isOfAccount(found) && found.txn_id === name.txnId)
    return row === undefined ? [] : [{ ...row, name }]
  })
}

/** undefined: the row is no credit of a transfer. Its account's key must have been fetched. Throws UnreadableRow. */
export function creditOf(row: NamedCreditRow, vault: RowVault): readonly [string, CompensableTransaction] | undefined {
  const { transaction } = openTransaction(row, vault)
  const { counterTxnId, idempotencyKey } = transaction
  if (counterTxnId === null || idempotencyKey !== creditKeyOf(counterTxnId)) return undefined
  return [creditNameOf(row.name), compensableOf(row, vault)[1]]
}

/** The signed field `terms_hash`, as 64 hexadecimal digits. */
function termsHashOf(payload: string): string | null {
  const fields = JSON.parse(payload) as { readonly terms_hash?: unknown }
  const found = fields.terms_hash
  return typeof found === 'string' ? found.replace(/^sha256:/, '') : null
}

export const GROUP_USES_LOOK_UP = `
SELECT i.place::integer
  FROM unnest($1::integer[], $2::text[], $3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY
    AS i (shard_id, account_id, group_id, type, token_id, place)
 WHERE EXISTS (
   SELECT FROM all_transactions t
    WHERE t.shard_id = i.shard_id AND t.account_id = i.account_id AND t.group_id = i.group_id AND t.type = i.type
      AND t.token_id = i.token_id AND t.origin = 'client')`

/** An account may use one group ID without end: only whether there is such a use is looked at. */
export async function findGroupUses(
  sql: Sql,
  addresses: readonly (GroupUseAddress & GroupUse)[],
  vault: RowVault,
): Promise<Map<string, readonly GroupUse[]>> {
  if (addresses.length === 0) return new Map()
  const groupRefs = addresses.map(({ accountId, groupId }) => vault.groupRef(accountId, groupId))
  const texts = (value: (address: GroupUse) => string): string => arrayLiteral('text', addresses.map(value))
  const rows = await prepared<{ readonly place: number }>(sql, GROUP_USES_LOOK_UP, [
    shardIds(addresses),
    accountRefs(addresses, vault),
    arrayLiteral('uuid', groupRefs),
    texts(({ type }) => type),
    texts(({ tokenId }) => tokenId),
  ])
  const uses = new Map<string, GroupUse[]>()
  for (const { place } of rows) {
    const address = addresses[place - 1]
    if (address !== undefined)
      appendTo(uses, groupUseAddressOf(address), { type: address.type, tokenId: address.tokenId })
  }
  return uses
}
