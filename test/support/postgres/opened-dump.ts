/** All rows of a database, opened with every key that is left: the knowledge of an operator with the master key. */
import postgres from 'postgres'
import type { FailureCode, Transaction } from '../../../actors/account/transaction.ts'
import { openAttestation, type AttestationRow } from '../../../infra/postgres/rows/attestation-document.ts'
import { nftKeyName, PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { placeOfTransaction } from '../../../infra/postgres/rows/transaction-document.ts'
import {
  accountKeyName,
  classKeyName,
  type KeyName,
  LEDGER_KEY_NAME,
  shardKeyName,
} from '../../../infra/vault/key-name.ts'
import type { Place } from '../../../infra/vault/place.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'

/** A text that opens. `owner`: the reference of the account that the row is of; empty of others. */
export interface OpenedText {
  readonly table: string
  readonly owner: string
  readonly text: string
}

interface Row {
  readonly [column: string]: unknown
}

interface Sealed {
  readonly table: string
  readonly column: string
  readonly placeOf: (row: Row) => Place
  /** Whose keys it may be under. */
  readonly keysOf: (row: Row) => readonly KeyName[]
}

const text = (row: Row, column: string): string => String(row[column])
const number = (row: Row, column: string): number => Number(row[column])
const shard = (row: Row): number => number(row, 'shard_id')
const ref = (row: Row): string => text(row, 'account_id')
const ofAccount = (row: Row): readonly KeyName[] => [accountKeyName(ref(row)), shardKeyName(shard(row))]

const SEALED: readonly Sealed[] = [
  sealed('accounts', 'lasting', (row) => PLACES.lasting(shard(row), ref(row), number(row, 'lasting_version'))),
  sealed('account_keys', 'document', (row) => PLACES.key(shard(row), ref(row), number(row, 'from_sequence'))),
  sealed('balances', 'document', (row) => PLACES.balance(shard(row), ref(row), text(row, 'token_id'))),
  sealed('audit_entries', 'payload', (row) => PLACES.entry(shard(row), ref(row), number(row, 'sequence'))),
  sealed('transactions', 'document', transactionPlace),
  sealed('pending_transactions', 'document', transactionPlace),
  sealed('pending_transactions', 'hold', (row) => PLACES.hold(shard(row), ref(row), text(row, 'txn_id'))),
  sealed('operations', 'document', (row) =>
    PLACES.operation(shard(row), ref(row), text(row, 'operation'), text(row, 'idempotency_key')),
  ),
  sealed('holds', 'document', (row) => PLACES.hold(shard(row), ref(row), text(row, 'hold_id'))),
  sealed(
    'actors',
    'document',
    (row) => PLACES.actor(shard(row), text(row, 'kind'), text(row, 'actor_id'), number(row, 'version')),
    (row) => [shardKeyName(shard(row)), classKeyName(text(row, 'class_id'))],
  ),
  sealed(
    'nft_events',
    'payload',
    (row) => PLACES.nftEvent(shard(row), text(row, 'nft_id'), number(row, 'number')),
    (row) => [nftKeyName(text(row, 'nft_id'), shard(row))],
  ),
  sealed(
    'outbox',
    'message',
    (row) => PLACES.message(shard(row), number(row, 'target_shard'), number(row, 'number')),
    (row) => [shardKeyName(shard(row))],
  ),
  sealed(
    'boundary_crossings',
    'document',
    (row) => PLACES.crossings(text(row, 'session'), number(row, 'number')),
    () => [LEDGER_KEY_NAME],
  ),
]

/** With all that its columns say. */
function transactionPlace(row: Row): Place {
  const failureCode = (row['failure_code'] ?? null) as FailureCode | null
  const keyId = (row['receipt_key_id'] ?? null) as string | null
  const hex = (column: string): string | null => (row[column] as Buffer | null | undefined)?.toString('hex') ?? null
  const receivedTokenId = (row['received_token_id'] as string | undefined) ?? null
  const transaction = {
    shardId: shard(row),
    txnId: text(row, 'txn_id'),
    type: row['type'],
    tokenId: row['token_id'],
    status: row['status'] ?? 'pending',
    failure: failureCode === null ? null : { code: failureCode, detail: '' },
    origin: row['origin'],
    createdAtMs: (row['created_at'] as Date).getTime(),
    processedAtMs: (row['processed_at'] as Date | undefined)?.getTime() ?? null,
    sequence: (row['sequence'] ?? null) === null ? null : number(row, 'sequence'),
    previousHash: hex('previous_hash'),
    auditHash: hex('audit_hash'),
    receive: receivedTokenId === null ? null : { tokenId: receivedTokenId, amount: '' },
  } as Transaction
  const receipt = keyId === null ? null : { keyId, signature: '' }
  const refs = {
    account: ref(row),
    key: text(row, 'idempotency_key'),
    group: row['group_id'] as string | null,
    bucket: number(row, 'amount_bucket'),
  }
  return placeOfTransaction({ transaction, receipt }, refs)
}

function sealed(table: string, column: string, placeOf: Sealed['placeOf'], keysOf = ofAccount): Sealed {
  return { table, column, placeOf, keysOf }
}

export async function openedDump(databaseUrl: string, vault: RowVault): Promise<readonly OpenedText[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    const found: OpenedText[] = []
    for (const one of SEALED) {
      const rows = await sql.unsafe<Row[]>(`SELECT * FROM ${one.table} WHERE ${one.column} IS NOT NULL`)
      await vault.keys.fetch(sql, rows.flatMap(one.keysOf))
      for (const row of rows) {
        const opened = one.keysOf(row).flatMap((name) => tryOpen(vault, name, one.placeOf(row), row[one.column]))
        found.push(...opened.map((said) => ({ table: one.table, owner: ownerOf(row), text: said })))
      }
    }
    const stated = await sql<AttestationRow[]>`SELECT * FROM attestations`
    for (const row of stated) {
      found.push({ table: 'attestations', owner: '', text: JSON.stringify(openAttestation(row, vault)) })
    }
    return found
  } finally {
    await sql.end()
  }
}

function ownerOf(row: Row): string {
  return typeof row['account_id'] === 'string' ? row['account_id'] : ''
}

function tryOpen(vault: RowVault, name: KeyName, place: Place, bytes: unknown): readonly string[] {
  if (!(bytes instanceof Uint8Array)) throw new Error(`${place} has no text`)
  try {
    return [vault.open(name, place, bytes)]
  } catch {
    return []
  }
}
