/** What idempotency keys did before. */
import {
  type EarlierUse,
  originalAnswer,
  type RecordedAnswer,
  type RecordedOperation,
} from '../../actors/account/outcome.ts'
import { type KeyAddress, keyAddressOf } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import { accountIds, shardIds, texts } from './look-up-parameters.ts'

export async function findKeys(sql: Sql, keys: readonly KeyAddress[]): Promise<Map<string, EarlierUse>> {
  const isSubmission = (key: KeyAddress): boolean => key.operation === 'transaction'
  const [submissions, operations] = await Promise.all([
    findSubmissions(sql, keys.filter(isSubmission)),
    findOperations(
      sql,
      keys.filter((key) => !isSubmission(key)),
    ),
  ])
  return new Map([...submissions, ...operations])
}

/** The key that the original was accepted under, by its thumbprint; registered twice, it is the same key both times. */
const PUBLIC_KEY = `
       (SELECT k.public_key FROM account_keys k
         WHERE k.shard_id = u.shard_id AND k.account_id = u.account_id AND k.key_id = u.key_id LIMIT 1) AS public_key`

export const SUBMISSIONS_LOOK_UP = `
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

interface SubmissionRow extends UseRow {
  readonly txn_id: string
  readonly group_id: string | null
  readonly created_at: Date
}

interface OperationRow extends UseRow {
  readonly operation: RecordedOperation['operation']
  readonly answer: string
}

async function findSubmissions(sql: Sql, keys: readonly KeyAddress[]): Promise<Map<string, EarlierUse>> {
  const rows = await findUses<SubmissionRow>(sql, SUBMISSIONS_LOOK_UP, keys)
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
  const operations = texts(keys.map((key) => key.operation))
  const rows = await findUses<OperationRow>(sql, OPERATIONS_LOOK_UP, keys, operations)
  return usesOf(
    rows,
    (row) => row.operation,
    (row) => originalAnswer({ operation: row.operation, answer: JSON.parse(row.answer) as unknown } as RecordedAnswer),
  )
}

async function findUses<Row extends UseRow>(
  sql: Sql,
  text: string,
  keys: readonly KeyAddress[],
  ...further: readonly string[]
): Promise<readonly Row[]> {
  if (keys.length === 0) return []
  const idempotencyKeys = texts(keys.map((key) => key.idempotencyKey))
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
