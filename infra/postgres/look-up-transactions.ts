/** Earlier transactions as others need them: to undo one, and to know what a client did under a group ID. */
import type { CompensableTransaction } from '../../actors/account/transaction.ts'
import {
  type GroupUse,
  type GroupUseAddress,
  groupUseAddressOf,
  type TransactionName,
} from '../../runtime/ports/ledger-store.ts'
import { arrayLiteral } from './array-literal.ts'
import type { Sql } from './connection.ts'
import { accountIds, shardIds, texts } from './look-up-parameters.ts'
import { detailsOf } from './transaction-details.ts'

/** `+ 0`: found by the ID alone, whichever of the indexes that lead with `shard_id` promises as little. */
export const COMPENSABLE_LOOK_UP = `
SELECT t.txn_id, t.account_id, t.type, t.amount, t.token_id, t.group_id, t.status, t.to_account_id, t.from_account_id,
       t.details, t.compensated_by, t.payload
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, txn_id)
  JOIN transactions t ON t.txn_id = i.txn_id AND t.shard_id + 0 = i.shard_id`

interface CompensableRow {
  readonly txn_id: string
  readonly account_id: string
  readonly type: CompensableTransaction['type']
  readonly amount: string
  readonly token_id: string
  readonly group_id: string | null
  readonly status: CompensableTransaction['status']
  readonly to_account_id: string | null
  readonly from_account_id: string | null
  readonly details: string | null
  readonly compensated_by: string | null
  readonly payload: string
}

export async function findTransactions(
  sql: Sql,
  names: readonly TransactionName[],
): Promise<Map<string, CompensableTransaction>> {
  if (names.length === 0) return new Map()
  const txnIds = texts(names.map(({ txnId }) => txnId))
  const rows = await sql.unsafe<CompensableRow[]>(COMPENSABLE_LOOK_UP, [shardIds(names), txnIds], { prepare: true })
  return new Map(rows.map((row) => [row.txn_id, compensableOf(row)] as const))
}

function compensableOf(row: CompensableRow): CompensableTransaction {
  return {
    txnId: row.txn_id,
    accountId: row.account_id,
    type: row.type,
    amount: row.amount,
    tokenId: row.token_id,
    groupId: row.group_id,
    status: row.status,
    toAccountId: row.to_account_id,
    fromAccountId: row.from_account_id,
    ...detailsOf(row.details),
    compensatedBy: row.compensated_by,
    termsHash: termsHashOf(row.payload),
  }
}

/** The signed field `terms_hash`, as 64 hexadecimal digits. */
function termsHashOf(payload: string): string | null {
  const fields = JSON.parse(payload) as { readonly terms_hash?: unknown }
  const found = fields.terms_hash
  return typeof found === 'string' ? found.replace(/^sha256:/, '') : null
}

export const GROUP_USES_LOOK_UP = `
SELECT i.shard_id, i.account_id, i.group_id, i.type, i.token_id
  FROM unnest($1::integer[], $2::text[], $3::uuid[], $4::text[], $5::text[])
    AS i (shard_id, account_id, group_id, type, token_id)
 WHERE EXISTS (
   SELECT FROM transactions t
    WHERE t.shard_id = i.shard_id AND t.account_id = i.account_id AND t.group_id = i.group_id AND t.type = i.type
      AND t.token_id = i.token_id AND t.origin = 'client')`

interface GroupUseRow {
  readonly shard_id: number
  readonly account_id: string
  readonly group_id: string
  readonly type: GroupUse['type']
  readonly token_id: string
}

/** An account may use one group ID without end: only whether there is such a use is looked at. */
export async function findGroupUses(
  sql: Sql,
  addresses: readonly (GroupUseAddress & GroupUse)[],
): Promise<Map<string, readonly GroupUse[]>> {
  if (addresses.length === 0) return new Map()
  const groupIds = arrayLiteral(
    'uuid',
    addresses.map(({ groupId }) => groupId),
  )
  const texts = (value: (address: GroupUse) => string): string => arrayLiteral('text', addresses.map(value))
  const parameters = [
    shardIds(addresses),
    accountIds(addresses),
    groupIds,
    texts(({ type }) => type),
    texts(({ tokenId }) => tokenId),
  ]
  const rows = await sql.unsafe<GroupUseRow[]>(GROUP_USES_LOOK_UP, parameters, { prepare: true })
  const uses = new Map<string, GroupUse[]>()
  for (const row of rows) {
    const key = groupUseAddressOf({ shardId: row.shard_id, accountId: row.account_id, groupId: row.group_id })
    uses.set(key, [...(uses.get(key) ?? []), { type: row.type, tokenId: row.token_id }])
  }
  return uses
}
