/** Accounts and their entries as an audit reads them. */
import type { AccountHead, BalanceParts, LinkedTransaction, WalkedEntry } from '../../actors/audit/chain-walk.ts'
import { storedObject } from '../../actors/audit/stored-json.ts'
import type { Hold } from '../../actors/account/state.ts'
import { countedSql } from './walk.ts'

/** Entries, balances and holds that a page has about. */
export const PAGE_WEIGHT = 1_000

/** Accounts after ($1, $2). */
export const ACCOUNTS_AFTER = accountsPage('>')
/** Accounts from ($1, $2) on. */
export const ACCOUNTS_FROM = accountsPage('>=')

/**
 * As many accounts as have PAGE_WEIGHT of entries, balances and holds together, one at least. Of each the row, what stands
 * in its balances and holds, and its last entry, all of one moment.
 */
function accountsPage(comparison: '>' | '>='): string {
  return `
WITH page AS MATERIALIZED (
  SELECT shard_id, account_id, status, incoming, key_id, public_key, sequence, tip,
         (SELECT count(*) FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances,
         (SELECT count(*) FROM holds h WHERE h.shard_id = a.shard_id AND h.account_id = a.account_id) AS holds
    FROM accounts a WHERE (shard_id, account_id) ${comparison} ($1::integer, $2::text)
   ORDER BY shard_id, account_id LIMIT 100),
weighed AS (
  SELECT page.*, row_number() OVER w AS place,
         sum(greatest(sequence, 0)::numeric + 1 + balances + holds) OVER w AS weight
    FROM page WINDOW w AS (ORDER BY shard_id, account_id))
SELECT shard_id, account_id, status, incoming, key_id, public_key, sequence, tip,
       (SELECT max(e.sequence) FROM audit_entries e
         WHERE e.shard_id = w.shard_id AND e.account_id = w.account_id) AS last_entry,
       (SELECT json_agg(json_build_array(b.token_id, b.balance::text, b.reserved::text, b.incoming::text))
          FROM balances b WHERE b.shard_id = w.shard_id AND b.account_id = w.account_id) AS balance_parts,
       (SELECT json_agg(h.document) FROM holds h
         WHERE h.shard_id = w.shard_id AND h.account_id = w.account_id) AS hold_documents
  FROM weighed w
 WHERE place = 1 OR weight <= ${PAGE_WEIGHT}
 ORDER BY shard_id, account_id`
}

export interface AccountRow {
  readonly shard_id: number
  readonly account_id: string
  readonly status: string
  readonly incoming: string
  readonly key_id: string | null
  readonly public_key: string | null
  readonly sequence: string
  readonly tip: Buffer
  readonly last_entry: string | null
  readonly balance_parts: readonly (readonly [string, string, string, string])[] | null
  readonly hold_documents: readonly string[] | null
}

export function headOf(row: AccountRow): AccountHead {
  const holds = (row.hold_documents ?? []).map(storedObject)
  return {
    sequence: Number(row.sequence),
    tip: row.tip.toString('hex'),
    lastEntry: row.last_entry === null ? null : Number(row.last_entry),
    facts: { keyId: row.key_id, publicKey: row.public_key, status: row.status, incoming: row.incoming },
    balances: (row.balance_parts ?? []).map(([tokenId, balance, reserved, incoming]): BalanceParts => ({
      tokenId,
      balance,
      reserved,
      incoming,
    })),
    holds: holds.includes(undefined) ? undefined : (holds as unknown as readonly Hold[]),
  }
}

/** What an entry is read with: its transaction, and whether it is counted. `e` is the entry, `below` a parameter. */
export function entryColumns(below: string): string {
  return `e.shard_id, e.account_id, e.sequence, e.txn_id, e.previous_hash, e.audit_hash, e.payload,
       ${countedSql('e.commit_xid', below)} AS counted,
       t.account_id AS linked_account, t.status AS linked_status, t.sequence AS linked_sequence,
       t.audit_hash AS linked_hash`
}

/** Of each account in ($1, $2) the entries from $3 to $4, at most PAGE_WEIGHT. $5: what is counted. */
export const ENTRIES_PAGE = `
SELECT ${entryColumns('$5')}
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[]) AS a (shard_id, account_id, first, last)
  JOIN LATERAL (
    SELECT * FROM audit_entries e
     WHERE e.shard_id = a.shard_id AND e.account_id = a.account_id AND e.sequence BETWEEN a.first AND a.last
     ORDER BY e.sequence LIMIT ${PAGE_WEIGHT}) e ON true
  LEFT JOIN transactions t ON t.shard_id = e.shard_id AND t.txn_id = e.txn_id
 ORDER BY e.shard_id, e.account_id, e.sequence`

export interface EntryRow {
  readonly shard_id: number
  readonly account_id: string
  readonly sequence: string
  readonly txn_id: string | null
  readonly previous_hash: Buffer
  readonly audit_hash: Buffer
  readonly payload: string
  readonly counted: boolean
  readonly linked_account: string | null
  readonly linked_status: string | null
  readonly linked_sequence: string | null
  readonly linked_hash: Buffer | null
}

export function walkedEntryOf(row: EntryRow): WalkedEntry {
  return {
    sequence: Number(row.sequence),
    txnId: row.txn_id,
    previousHash: row.previous_hash.toString('hex'),
    auditHash: row.audit_hash.toString('hex'),
    payload: row.payload,
    transaction: linkedOf(row),
  }
}

function linkedOf(row: EntryRow): LinkedTransaction | null {
  if (row.linked_account === null) return null
  return {
    accountId: row.linked_account,
    status: row.linked_status ?? '',
    sequence: row.linked_sequence === null ? null : Number(row.linked_sequence),
    auditHash: row.linked_hash?.toString('hex') ?? null,
  }
}
