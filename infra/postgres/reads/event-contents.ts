/**
 * Reads and opens the rows at the places of events: transactions and entries of chains.
 *   C1. The events of an erased account keep their IDs and places. They show the account's pseudonym and its hashes.
 *   C2. A transaction is shown as it ended: a later compensation or refund does not change the event.
 *   C3. An entry of a kind that this program does not know is `account.changed`: a newer program may run beside it.
 */
import { receiptPayload } from '../../../actors/account/receipt.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { EventName, LedgerEvent } from '../../../runtime/ports/ledger-events.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { column } from '../connection/array-literal.ts'
import type { Sql } from '../connection/connection.ts'
import { prepared } from '../connection/prepared.ts'
import { openAccount } from '../rows/account-document.ts'
import { erasedName, findErasedRows } from '../rows/erased-accounts.ts'
import { fetchKeys, opened } from '../rows/opened-rows.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import { transactionViewOf } from '../rows/transaction-rows.ts'
import type { EventPlace } from './event-places.ts'

/** An event without its ID and position. */
export type EventFacts = Omit<LedgerEvent, 'id' | 'position'>

export type FactsOf = (place: EventPlace) => EventFacts

const TRANSACTIONS = `
SELECT ${TRANSACTION_ROW_COLUMNS.join(', ')} FROM transactions WHERE txn_id = ANY($1::text[])`

const ENTRIES = `
SELECT e.shard_id, e.account_id, e.sequence, e.previous_hash, e.audit_hash, e.payload
  FROM unnest($1::integer[], $2::text[], $3::bigint[]) AS i (shard_id, account_id, sequence)
  JOIN audit_entries e USING (shard_id, account_id, sequence)`

interface EntryRow {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
  readonly sequence: string
  readonly previous_hash: Buffer
  readonly audit_hash: Buffer
  readonly payload: Buffer
}

/** Last entries of erased accounts, by reference. */
type ErasedAccounts = ReadonlyMap<string, number>

export async function readChainFacts(
  sql: Sql,
  places: readonly EventPlace[],
  { vault, ledgerId }: { readonly vault: RowVault; readonly ledgerId: string },
): Promise<FactsOf> {
  const ofTransactions = places.filter(({ kind }) => kind === 'transaction')
  const ofEntries = places.filter(({ kind }) => kind === 'entry')
  const transactions = new Map<string, TransactionRow>()
  if (ofTransactions.length > 0) {
    const txnIds = column('text', ofTransactions, (place) => place.txn_id)
    for (const row of await prepared<TransactionRow>(sql, TRANSACTIONS, [txnIds])) transactions.set(row.txn_id, row)
  }
  const entries = new Map<string, EntryRow>()
  if (ofEntries.length > 0) {
    const parameters = [
      column('integer', ofEntries, (place) => place.shard_id),
      column('text', ofEntries, (place) => place.id),
      column('bigint', ofEntries, (place) => place.number),
    ]
    for (const row of await prepared<EntryRow>(sql, ENTRIES, parameters)) entries.set(entryName(row), row)
  }
  const refs = [...ofTransactions, ...ofEntries].map(({ id }) => id)
  await fetchKeys(sql, refs.map(accountKeyName), vault)
  const erased = await erasedAccounts(sql, refs, vault)
  return (place) => {
    if (place.kind === 'transaction') {
      const row = found(transactions.get(place.txn_id ?? ''), place)
      return erased.has(row.account_id) ? erasedTransaction(row, vault) : transactionFacts(row, vault, ledgerId)
    }
    const { shard_id, id, number } = place
    const row = found(entries.get(entryName({ shard_id, account_id: id, sequence: number })), place)
    const last = erased.get(row.account_id)
    return last === undefined ? entryFacts(row, vault) : erasedEntry(row, last, vault)
  }
}

function entryName(row: {
  readonly shard_id: number | null
  readonly account_id: string
  readonly sequence: string | null
}): string {
  return `${row.shard_id} ${row.account_id} ${row.sequence}`
}

export function found<Row>(row: Row | undefined, { kind, id, txn_id: txnId }: EventPlace): Row {
  if (row === undefined) throw new UnreadableRow(`${kind} ${txnId ?? id}`, 'an index says otherwise')
  return row
}

/** Reads the keys of the rows before the erased accounts (E2 of erased-accounts.ts). */
async function erasedAccounts(sql: Sql, refs: readonly string[], vault: RowVault): Promise<ErasedAccounts> {
  const rows = await findErasedRows(sql, refs, vault)
  return new Map(rows.map((row) => [row.account_id, openAccount(row, vault).sequence]))
}

function transactionFacts(row: TransactionRow, vault: RowVault, ledgerId: string): EventFacts {
  const stored = openTransaction(row, vault)
  const { transaction, receipt } = stored
  if (receipt === null) throw new UnreadableRow(`transactions ${row.txn_id}`, 'it has ended and has no receipt')
  const { accountId, tokenId, receive, processedAtMs } = transaction
  return {
    name: transaction.status === 'completed' ? 'transaction.completed' : 'transaction.failed',
    subject: accountId,
    timeMs: processedAtMs,
    accountIds: [accountId],
    tokenIds: receive === null ? [tokenId] : [tokenId, receive.tokenId],
    content: {
      kind: 'transaction',
      transaction: { ...transactionViewOf(row, stored), compensatedBy: null, refunded: null },
      receipt: { payload: receiptPayload(transaction, ledgerId, receipt.keyId), signature: receipt.signature },
    },
  }
}

function erasedTransaction(row: TransactionRow, vault: RowVault): EventFacts {
  const accountId = erasedName(row.account_id, vault)
  return {
    name: row.status === 'completed' ? 'transaction.completed' : 'transaction.failed',
    subject: accountId,
    timeMs: row.processed_at?.getTime() ?? null,
    accountIds: [accountId],
    tokenIds: [],
    content: {
      kind: 'erased_transaction',
      accountId,
      transaction: { txnId: row.txn_id, auditHash: row.audit_hash?.toString('hex') ?? null },
    },
  }
}

/** The members of an entry's payload that events need. */
interface EntryPayload {
  readonly account_id: string
  readonly kind: string
  readonly created_at?: string
  readonly processed_at?: string
  readonly token_id?: string
}

const NAMES: Readonly<Record<string, EventName>> = {
  registration: 'account.registered',
  key_registration: 'account.key_registered',
  key_rotation: 'account.key_rotated',
  status_change: 'account.status_changed',
  pause: 'account.paused',
  resumption: 'account.resumed',
  arrival: 'account.imported',
  settlement: 'account.leg_settled',
  hold_created: 'hold.created',
  hold_released: 'hold.released',
  hold_expired: 'hold.expired',
  erasure: 'account.erased',
}

function entryFacts(row: EntryRow, vault: RowVault): EventFacts {
  const { shard_id: shardId, account_id: ref } = row
  const place = PLACES.entry(shardId, ref, Number(row.sequence))
  const payload = vault.open(accountKeyName(ref), place, row.payload)
  const {
    account_id: accountId,
    kind,
    token_id: tokenId,
    ...times
  } = opened(place, () => JSON.parse(payload) as EntryPayload)
  const name = NAMES[kind] ?? 'account.changed'
  const timeMs = parseTimestamp(times.processed_at ?? times.created_at ?? '') ?? null
  const facts = factsOfEntry(row, { name, accountId, timeMs, payload })
  return tokenId === undefined ? facts : { ...facts, tokenIds: [tokenId] }
}

/** The erasure is an account's last entry, and the registration its first. */
function erasedEntry(row: EntryRow, last: number, vault: RowVault): EventFacts {
  const sequence = Number(row.sequence)
  const name = sequence === last ? 'account.erased' : sequence === 0 ? 'account.registered' : 'account.redacted'
  return factsOfEntry(row, { name, accountId: erasedName(row.account_id, vault), timeMs: null, payload: null })
}

function factsOfEntry(
  row: EntryRow,
  {
    name,
    accountId,
    timeMs,
    payload,
  }: Pick<EventFacts, 'name' | 'timeMs'> & { readonly accountId: string; readonly payload: string | null },
): EventFacts {
  const entry = {
    sequence: Number(row.sequence),
    previousHash: row.previous_hash.toString('hex'),
    auditHash: row.audit_hash.toString('hex'),
    payload,
  }
  const content = { kind: 'entry', accountId, entry } as const
  return { name, subject: accountId, timeMs, accountIds: [accountId], tokenIds: [], content }
}
