/** Looks up earlier uses of idempotency keys. */
import {
  type EarlierUse,
  originalAnswer,
  type RecordedAnswer,
  type RecordedOperation,
} from '../../../actors/account/outcome.ts'
import type { AccountKey } from '../../../actors/account/state.ts'
import { type KeyAddress, keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import type { Sql } from '../connection/connection.ts'
import { accountRefs, shardIds, texts } from './look-up-parameters.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import { prepared } from '../connection/prepared.ts'

export const SUBMISSIONS_LOOK_UP = `
SELECT ${TRANSACTION_ROW_COLUMNS.map((column) => `u.${column}`).join(', ')}
  FROM unnest($1::integer[], $2::text[], $3::text[]) AS i (shard_id, account_id, idempotency_key)
  JOIN all_transactions u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.idempotency_key = i.idempotency_key`

export const OPERATIONS_LOOK_UP = `
SELECT u.shard_id, u.account_id, u.operation, u.idempotency_key, u.document
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[]) AS i (shard_id, account_id, idempotency_key, operation)
  JOIN operations u
    ON u.shard_id = i.shard_id AND u.account_id = i.account_id AND u.operation = i.operation
   AND u.idempotency_key = i.idempotency_key`

/**
 * All keys that these accounts ever had: the ones that originals were accepted under are among them. Asked for once an
 * account, however many of its keys are repeated, for an account may have had thousands.
 */
export const ACCOUNT_KEYS_LOOK_UP = `
SELECT k.shard_id, k.account_id, k.from_sequence, k.document
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN account_keys k ON k.shard_id = i.shard_id AND k.account_id = i.account_id
 ORDER BY k.from_sequence`

interface OfAccount {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
}

export interface OperationRow extends OfAccount {
  readonly operation: RecordedOperation['operation']
  /** The reference. */
  readonly idempotency_key: string
  readonly document: Buffer
}

export interface AccountKeyRow extends OfAccount {
  readonly from_sequence: string
  readonly document: Buffer
}

export interface UseRows {
  readonly submissions: readonly TransactionRow[]
  readonly operations: readonly OperationRow[]
}

export async function findUseRows(sql: Sql, keys: readonly KeyAddress[], vault: RowVault): Promise<UseRows> {
  const isSubmission = (key: KeyAddress): boolean => key.operation === 'transaction'
  const others = keys.filter((key) => !isSubmission(key))
  const [submissions, operations] = await Promise.all([
    findUses<TransactionRow>(sql, SUBMISSIONS_LOOK_UP, keys.filter(isSubmission), vault),
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

export function findAccountKeyRows(sql: Sql, { submissions, operations }: UseRows): Promise<readonly AccountKeyRow[]> {
  const accounts = new Map([...submissions, ...operations].map((row) => [nameOf(row), row]))
  if (accounts.size === 0) return Promise.resolve([])
  const rows = [...accounts.values()]
  const homes = shardIds(rows.map((row) => ({ shardId: row.shard_id })))
  return prepared<AccountKeyRow>(sql, ACCOUNT_KEYS_LOOK_UP, [homes, texts(rows.map((row) => row.account_id))])
}

/**
 * The public key that the account of a row had under this ID. Without its row nothing verifies under it: one such row must
 * not fail the look of everybody else. Throws UnreadableRow.
 */
export type PublicKeyOf = (row: OfAccount, keyId: string) => string

/** The accounts' data keys must have been fetched. The latest are opened first, each once at most. */
export function publicKeysIn(rows: readonly AccountKeyRow[], vault: RowVault): PublicKeyOf {
  const accounts = new Map<string, { readonly unopened: AccountKeyRow[]; readonly opened: Map<string, string> }>()
  for (const row of rows) {
    const account = accounts.get(nameOf(row))
    if (account === undefined) accounts.set(nameOf(row), { unopened: [row], opened: new Map() })
    else account.unopened.push(row)
  }
  return (of, keyId) => {
    const { unopened, opened } = accounts.get(nameOf(of)) ?? { unopened: [], opened: new Map<string, string>() }
    for (let row = unopened.at(-1); row !== undefined && !opened.has(keyId); row = unopened.at(-1)) {
      const { shard_id: shardId, account_id: ref, from_sequence: fromSequence } = row
      const place = PLACES.key(shardId, ref, Number(fromSequence))
      const key = openJson<AccountKey>(vault, accountKeyName(ref), place, row.document)
      // A key that does not open stays in the list: each later look reports it again.
      unopened.pop()
      opened.set(key.keyId, key.publicKey)
    }
    return opened.get(keyId) ?? ''
  }
}

function nameOf({ shard_id: shardId, account_id: ref }: OfAccount): string {
  return `${shardId} ${ref}`
}

/** By `keyAddressOf`. The account's key must have been fetched. Throws UnreadableRow. */
export function submissionUse(
  row: TransactionRow,
  publicKeyOf: PublicKeyOf,
  vault: RowVault,
): readonly [string, EarlierUse] {
  const { transaction } = openTransaction(row, vault)
  const { accountId, shardId, idempotencyKey, txnId, groupId, payloadHash, keyId, createdAtMs } = transaction
  return [
    keyAddressOf({ shardId: row.shard_id, accountId, operation: 'transaction', idempotencyKey }),
    {
      payloadHash,
      key: { keyId, publicKey: publicKeyOf(row, keyId) },
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
  publicKeyOf: PublicKeyOf,
  vault: RowVault,
): readonly [string, EarlierUse] {
  const { shard_id: shardId, account_id: ref, operation, idempotency_key: keyRef } = row
  const place = PLACES.operation(shardId, ref, operation, keyRef)
  const recorded = openJson<RecordedOperation>(vault, accountKeyName(ref), place, row.document)
  const { idempotencyKey, payloadHash, keyId, answer } = recorded
  const accountId = accountIdOf(ref)
  if (accountId === undefined || vault.keyRef(accountId, idempotencyKey) !== keyRef) {
    throw new UnreadableRow(place, 'it is of another key')
  }
  return [
    keyAddressOf({ shardId, accountId, operation, idempotencyKey }),
    {
      payloadHash,
      key: { keyId, publicKey: publicKeyOf(row, keyId) },
      answer: originalAnswer({ operation, answer } as RecordedAnswer),
    },
  ]
}
