/** What idempotency keys did before. */
import {
  type EarlierUse,
  originalAnswer,
  type RecordedAnswer,
  type RecordedOperation,
} from '../../actors/account/outcome.ts'
import { type KeyAddress, keyAddressOf } from '../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { keyFrom } from './account-document.ts'
import type { Sql } from './connection.ts'
import { accountRefs, shardIds, texts } from './look-up-parameters.ts'
import { operationFrom } from './operation-document.ts'
import { PLACES } from './row-sealer.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from './transaction-document.ts'
import { prepared } from './prepared.ts'

/** All keys that the account ever had: a handful. The one that the original was accepted under is among them. */
const ACCOUNT_KEYS = `
       (SELECT json_agg(json_build_array(k.from_sequence, encode(k.document, 'base64'))) FROM account_keys k
         WHERE k.shard_id = u.shard_id AND k.account_id = u.account_id) AS account_keys`

export const SUBMISSIONS_LOOK_UP = `
SELECT ${TRANSACTION_ROW_COLUMNS.map((column) => `u.${column}`).join(', ')},${ACCOUNT_KEYS}
  FROM unnest($1::integer[], $2::text[], $3::text[]) AS i (shard_id, account_id, idempotency_key)
  JOIN transactions u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.idempotency_key = i.idempotency_key`

export const OPERATIONS_LOOK_UP = `
SELECT u.shard_id, u.account_id, u.operation, u.idempotency_key, u.document,${ACCOUNT_KEYS}
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[]) AS i (shard_id, account_id, idempotency_key, operation)
  JOIN operations u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.operation = i.operation
   AND u.idempotency_key = i.idempotency_key`

interface WithKeys {
  readonly shard_id: number
  readonly account_id: string
  /** From which sequence on, and sealed text in base64. */
  readonly account_keys: readonly (readonly [number, string])[] | null
}

export interface SubmissionRow extends TransactionRow, WithKeys {}

export interface OperationRow extends WithKeys {
  readonly operation: RecordedOperation['operation']
  /** The reference. */
  readonly idempotency_key: string
  readonly document: Buffer
}

export interface UseRows {
  readonly submissions: readonly SubmissionRow[]
  readonly operations: readonly OperationRow[]
}

export async function findUseRows(sql: Sql, keys: readonly KeyAddress[], vault: RowVault): Promise<UseRows> {
  const isSubmission = (key: KeyAddress): boolean => key.operation === 'transaction'
  const others = keys.filter((key) => !isSubmission(key))
  const [submissions, operations] = await Promise.all([
    findUses<SubmissionRow>(sql, SUBMISSIONS_LOOK_UP, keys.filter(isSubmission), vault),
    findUses<OperationRow>(sql, OPERATIONS_LOOK_UP, others, vault, texts(others.map((key) => key.operation))),
  ])
  return { submissions, operations }
}

async function findUses<Row extends object>(
  sql: Sql,
  text: string,
  keys: readonly KeyAddress[],
  vault: RowVault,
  ...further: readonly string[]
): Promise<readonly Row[]> {
  if (keys.length === 0) return []
  const refs = texts(keys.map((key) => vault.keyRef(key.accountId, key.idempotencyKey)))
  return prepared<Row>(sql, text, [shardIds(keys), accountRefs(keys, vault), refs, ...further])
}

/** By `keyAddressOf`. The account's key must have been fetched. Throws UnreadableRow. */
export function submissionUse(row: SubmissionRow, vault: RowVault): readonly [string, EarlierUse] {
  const { transaction } = openTransaction(row, vault)
  const { accountId, shardId, idempotencyKey, txnId, groupId, payloadHash, keyId, createdAtMs } = transaction
  return [
    keyAddressOf({ shardId: row.shard_id, accountId, operation: 'transaction', idempotencyKey }),
    {
      payloadHash,
      key: { keyId, publicKey: publicKeyOf(row, keyId, vault) },
      answer: {
        kind: 'accepted',
        receipt: { txnId, accountId, shardId, enqueuedAtMs: createdAtMs, groupId },
        replayed: false,
        mismatch: false,
      },
    },
  ]
}

/** `accountIdOf`: whose reference it is, among those that were asked about. Throws UnreadableRow. */
export function operationUse(
  row: OperationRow,
  accountIdOf: (ref: string) => string | undefined,
  vault: RowVault,
): readonly [string, EarlierUse] {
  const { shard_id: shardId, account_id: ref, operation, idempotency_key: keyRef } = row
  const place = PLACES.operation(shardId, ref, operation, keyRef)
  const { idempotencyKey, payloadHash, keyId, answer } = operationFrom(
    vault.open(accountKeyName(ref), place, row.document),
  )
  const accountId = accountIdOf(ref)
  if (accountId === undefined || vault.keyRef(accountId, idempotencyKey) !== keyRef) {
    throw new UnreadableRow(place, 'it is of another key')
  }
  return [
    keyAddressOf({ shardId, accountId, operation, idempotencyKey }),
    {
      payloadHash,
      key: { keyId, publicKey: publicKeyOf(row, keyId, vault) },
      answer: originalAnswer({ operation, answer } as RecordedAnswer),
    },
  ]
}

/** Without its row nothing verifies under the key; one such row must not fail the look of everybody else. */
function publicKeyOf(row: WithKeys, keyId: string, vault: RowVault): string {
  const { shard_id: shardId, account_id: ref } = row
  for (const [fromSequence, sealed] of row.account_keys ?? []) {
    const place = PLACES.key(shardId, ref, fromSequence)
    const key = keyFrom(vault.open(accountKeyName(ref), place, Buffer.from(sealed, 'base64')))
    if (key.keyId === keyId) return key.publicKey
  }
  return ''
}
