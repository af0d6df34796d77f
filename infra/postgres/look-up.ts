/**
 * The one look for everything that waits: accounts with all their balances, and what idempotency keys did before.
 * Both statements go out together and each is one snapshot, taken after they were sent (D4).
 */
import {
  type AccountView,
  type EarlierUse,
  originalAnswer,
  type RecordedOperation,
} from '../../actors/account/outcome.ts'
import type { AccountKey, AccountState, Balance } from '../../actors/account/state.ts'
import { parseQuantity } from '../../actors/money.ts'
import {
  type AccountAddress,
  addressOf,
  type KeyAddress,
  keyAddressOf,
  type LookUpAnswer,
  type LookUpQuestion,
} from '../../runtime/ports/ledger-store.ts'
import { arrayLiteral } from './array-literal.ts'
import type { Sql } from './connection.ts'

export async function lookUp(sql: Sql, question: LookUpQuestion): Promise<LookUpAnswer> {
  const isTransaction = (key: KeyAddress): boolean => key.operation === 'transaction'
  const [accounts, transactions, operations] = await Promise.all([
    findAccounts(sql, question.accounts),
    findTransactions(sql, question.keys.filter(isTransaction)),
    findOperations(
      sql,
      question.keys.filter((key) => !isTransaction(key)),
    ),
  ])
  return { accounts, keys: new Map([...transactions, ...operations]) }
}

export const ACCOUNTS_LOOK_UP = `
SELECT a.shard_id, a.account_id, a.version, a.status, a.incoming, a.key_id, a.public_key, a.sequence,
       encode(a.tip, 'hex') AS tip, a.completed_count, a.failed_count, a.registered_by,
       a.created_at, a.updated_at, a.last_time,
       (SELECT json_agg(json_build_array(b.token_id, b.balance::text, b.reserved::text, b.incoming::text, b.updated_at))
          FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN accounts a ON a.shard_id = i.shard_id AND a.account_id = i.account_id`

async function findAccounts(sql: Sql, addresses: readonly AccountAddress[]): Promise<Map<string, AccountState>> {
  if (addresses.length === 0) return new Map()
  const rows = await sql.unsafe<AccountRow[]>(ACCOUNTS_LOOK_UP, [shardIds(addresses), accountIds(addresses)], {
    prepare: true,
  })
  return new Map(
    rows.map((row) => [addressOf({ shardId: row.shard_id, accountId: row.account_id }), accountOf(row)] as const),
  )
}

/** `bigint` arrives as text; sequences and counts stay far below 2^53. */
interface AccountRow {
  readonly shard_id: number
  readonly account_id: string
  readonly version: string
  readonly status: AccountState['status']
  readonly incoming: AccountState['incoming']
  readonly key_id: string | null
  readonly public_key: string | null
  readonly sequence: string
  readonly tip: string
  readonly completed_count: string
  readonly failed_count: string
  readonly registered_by: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_time: Date
  readonly balances: readonly BalanceRow[] | null
}

/** Token, balance, reserved, incoming, time of the last change: quantities as text, since JSON numbers are doubles. */
type BalanceRow = readonly [string, string, string, string, string]

function accountOf(row: AccountRow): AccountState {
  return {
    accountId: row.account_id,
    shardId: row.shard_id,
    status: row.status,
    incoming: row.incoming,
    key: keyOf(row.key_id, row.public_key),
    version: Number(row.version),
    sequence: Number(row.sequence),
    tip: row.tip,
    balances: new Map((row.balances ?? []).map((balance) => [balance[0], balanceOf(balance)])),
    completedCount: Number(row.completed_count),
    failedCount: Number(row.failed_count),
    registeredBy: row.registered_by,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    lastTimeMs: row.last_time.getTime(),
  }
}

function keyOf(keyId: string | null, publicKey: string | null): AccountKey | null {
  return keyId === null || publicKey === null ? null : { keyId, publicKey }
}

function balanceOf([, balance, reserved, incoming, updatedAt]: BalanceRow): Balance {
  return {
    balance: parseQuantity(balance),
    reserved: parseQuantity(reserved),
    incoming: parseQuantity(incoming),
    updatedAtMs: Date.parse(updatedAt),
  }
}

/** The key that the original was accepted under, by its thumbprint; registered twice, it is the same key both times. */
const PUBLIC_KEY = `
       (SELECT k.public_key FROM account_keys k
         WHERE k.shard_id = u.shard_id AND k.account_id = u.account_id AND k.key_id = u.key_id LIMIT 1) AS public_key`

export const TRANSACTIONS_LOOK_UP = `
SELECT u.shard_id, u.account_id, u.idempotency_key, encode(u.payload_hash, 'hex') AS payload_hash, u.key_id,
       u.txn_id, u.group_id, u.created_at,${PUBLIC_KEY}
  FROM unnest($1::integer[], $2::text[], $3::text[]) AS i (shard_id, account_id, idempotency_key)
  JOIN transactions u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.idempotency_key = i.idempotency_key`

export const OPERATIONS_LOOK_UP = `
SELECT u.shard_id, u.account_id, u.idempotency_key, encode(u.payload_hash, 'hex') AS payload_hash, u.key_id,
       u.operation, u.answer,${PUBLIC_KEY}
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[]) AS i (shard_id, account_id, idempotency_key, operation)
  JOIN operations u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.operation = i.operation
   AND u.idempotency_key = i.idempotency_key`

interface UseRow {
  readonly shard_id: number
  readonly account_id: string
  readonly idempotency_key: string
  readonly payload_hash: string
  readonly key_id: string
  readonly public_key: string | null
}

interface TransactionRow extends UseRow {
  readonly txn_id: string
  readonly group_id: string | null
  readonly created_at: Date
}

interface OperationRow extends UseRow {
  readonly operation: RecordedOperation['operation']
  readonly answer: string
}

async function findTransactions(sql: Sql, keys: readonly KeyAddress[]): Promise<Map<string, EarlierUse>> {
  const rows = await findUses<TransactionRow>(sql, TRANSACTIONS_LOOK_UP, keys)
  return usesOf(
    rows,
    () => 'transaction',
    (row) => ({
      kind: 'accepted',
      receipt: {
        txnId: row.txn_id,
        accountId: row.account_id,
        shardId: row.shard_id,
        enqueuedAtMs: row.created_at.getTime(),
        groupId: row.group_id,
      },
      replayed: false,
      mismatch: false,
    }),
  )
}

async function findOperations(sql: Sql, keys: readonly KeyAddress[]): Promise<Map<string, EarlierUse>> {
  const operations = arrayLiteral(
    'text',
    keys.map((key) => key.operation),
  )
  const rows = await findUses<OperationRow>(sql, OPERATIONS_LOOK_UP, keys, operations)
  return usesOf(
    rows,
    (row) => row.operation,
    (row) => originalAnswer({ operation: row.operation, answer: JSON.parse(row.answer) as AccountView }),
  )
}

async function findUses<Row extends UseRow>(
  sql: Sql,
  text: string,
  keys: readonly KeyAddress[],
  ...further: readonly string[]
): Promise<readonly Row[]> {
  if (keys.length === 0) return []
  const idempotencyKeys = arrayLiteral(
    'text',
    keys.map((key) => key.idempotencyKey),
  )
  return sql.unsafe<Row[]>(text, [shardIds(keys), accountIds(keys), idempotencyKeys, ...further], {
    prepare: true,
  })
}

function usesOf<Row extends UseRow>(
  rows: readonly Row[],
  operation: (row: Row) => KeyAddress['operation'],
  answer: (row: Row) => EarlierUse['answer'],
): Map<string, EarlierUse> {
  const uses = new Map<string, EarlierUse>()
  for (const row of rows) {
    uses.set(
      keyAddressOf({
        shardId: row.shard_id,
        accountId: row.account_id,
        operation: operation(row),
        idempotencyKey: row.idempotency_key,
      }),
      {
        payloadHash: row.payload_hash,
        // Without its row nothing verifies under the key; one such row must not fail the look of everybody else.
        key: { keyId: row.key_id, publicKey: row.public_key ?? '' },
        answer: answer(row),
      },
    )
  }
  return uses
}

function shardIds(addresses: readonly AccountAddress[]): string {
  return arrayLiteral(
    'integer',
    addresses.map((address) => address.shardId),
  )
}

function accountIds(addresses: readonly AccountAddress[]): string {
  return arrayLiteral(
    'text',
    addresses.map((address) => address.accountId),
  )
}
