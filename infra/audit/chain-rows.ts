/** Reads accounts and their chain entries for an audit. */
import { type Balance, type Hold, holdId } from '../../actors/account/state.ts'
import type { AuditEntry } from '../../actors/audit-chain.ts'
import { type AccountHead, arrivalFact, type BalanceParts } from '../../runtime/audit/chain-walk.ts'
import type { Finding } from '../../runtime/audit/finding.ts'
import { formatQuantity } from '../../actors/money.ts'
import {
  ACCOUNT_COLUMNS,
  type AccountDocument,
  type AccountRow as StoredAccountRow,
  openAccount,
} from '../postgres/rows/account-document.ts'
import { balanceFrom, holdRefOf, partsDigest } from '../postgres/rows/account-parts.ts'
import { CHAIN_ENTRY_COLUMNS, type ChainEntryRow, payloadOf } from '../postgres/rows/chain-entries.ts'
import { openPending, type PendingPart, pendingPartsOf } from '../postgres/rows/pending-parts.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { keyFindings, opened } from './opened.ts'
import { countedSql } from './walk.ts'

/** Approximate number of entries, balances and holds per page. */
export const PAGE_WEIGHT = 1_000

/** Accounts after ($1, $2). */
export const ACCOUNTS_AFTER = accountsPage('>')
/** Accounts from ($1, $2) on. */
export const ACCOUNTS_FROM = accountsPage('>=')

/**
 * Accounts with at most PAGE_WEIGHT entries, balances and holds together, at least one account. Each with its balances and
 * holds, its last entry and whether its data key exists, from one snapshot.
 */
function accountsPage(comparison: '>' | '>='): string {
  return `
WITH page AS MATERIALIZED (
  SELECT shard_id, account_id, sequence,
         (SELECT count(*) FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances,
         (SELECT count(*) FROM holds h WHERE h.shard_id = a.shard_id AND h.account_id = a.account_id)
         + (SELECT count(*) FROM pending_transactions p WHERE p.shard_id = a.shard_id AND p.account_id = a.account_id) AS holds
    FROM accounts a WHERE (shard_id, account_id) ${comparison} ($1::integer, $2::text)
   ORDER BY shard_id, account_id LIMIT 100),
weighed AS (
  SELECT page.*, row_number() OVER w AS place,
         sum(greatest(sequence, 0)::numeric + 1 + balances + holds) OVER w AS weight
    FROM page WINDOW w AS (ORDER BY shard_id, account_id))
SELECT ${ACCOUNT_COLUMNS},
       (SELECT e.sequence FROM chain_entries e WHERE e.shard_id = w.shard_id AND e.account_id = w.account_id
         ORDER BY e.sequence DESC LIMIT 1) AS last_entry,
       (SELECT json_agg(json_build_array(b.token_id, encode(b.document, 'base64'), ${milliseconds('b.updated_at')}))
          FROM balances b WHERE b.shard_id = w.shard_id AND b.account_id = w.account_id) AS balance_parts,
       (SELECT json_agg(json_build_array(h.hold_id, encode(h.document, 'base64'))) FROM holds h
         WHERE h.shard_id = w.shard_id AND h.account_id = w.account_id) AS hold_parts,
       ${pendingPartsOf('w')} AS pending_parts,
       EXISTS (SELECT FROM data_keys k WHERE k.scope = 'account' AND k.ref = w.account_id) AS has_key
  FROM weighed w
  JOIN accounts a ON a.shard_id = w.shard_id AND a.account_id = w.account_id
 WHERE w.place = 1 OR w.weight <= ${PAGE_WEIGHT}
 ORDER BY a.shard_id, a.account_id`
}

function milliseconds(column: string): string {
  return `round(extract(epoch FROM ${column}) * 1000)::text`
}

type BalancePart = readonly [tokenId: string, sealed: string, updatedAtMs: string]
type HoldPart = readonly [holdRef: string, sealed: string]

export interface AccountRow extends StoredAccountRow {
  readonly last_entry: string | null
  readonly balance_parts: readonly BalancePart[] | null
  readonly hold_parts: readonly HoldPart[] | null
  readonly pending_parts: readonly PendingPart[] | null
  readonly has_key: boolean
}

export interface OpenedAccount {
  /** undefined: the account's row cannot be read. */
  readonly head: AccountHead | undefined
  /** Unreadable or inconsistent parts. */
  readonly findings: readonly Finding[]
}

/** Its key must have been fetched. */
export function openAccountRow(row: AccountRow, vault: RowVault): OpenedAccount {
  const account = `account ${row.account_id}`
  const key = { name: accountKeyName(row.account_id), of: account, isThere: row.has_key }
  const isErased = row.status === 'erased'
  const findings: Finding[] = isErased ? remainsOf(row, account) : [...keyFindings(vault, 'chains_verify', key)]
  const wrong = (subject: Finding['subject'], place: string, problem: string): void =>
    void findings.push({ subject, place, problem })
  const own = opened(() => openAccount(row, vault))
  if (!own.isOpen) {
    wrong('chains_verify', account, own.problem)
    return { head: undefined, findings }
  }
  if (isErased) return { head: headOf(row, own.value, new Map(), []), findings }
  const balances = new Map<string, Balance>()
  for (const part of row.balance_parts ?? []) {
    const balance = opened(() => openBalance(row, part, vault))
    if (balance.isOpen) balances.set(part[0], balance.value)
    else wrong('no_negative_balance', `${account}, ${part[0]}`, balance.problem)
  }
  const holds = new Map<string, Hold>()
  const takeHold = (name: string, open: () => Hold): void => {
    const hold = opened(open)
    if (hold.isOpen) holds.set(holdId(hold.value), hold.value)
    else wrong('no_negative_balance', `${account}, hold ${name}`, hold.problem)
  }
  for (const part of row.hold_parts ?? []) takeHold(part[0], () => openHold(row, part, own.value.accountId, vault))
  const owner = { shardId: row.shard_id, ref: row.account_id }
  for (const part of row.pending_parts ?? []) takeHold(part[0], () => openPending(owner, part, vault))
  const isWhole = findings.every(({ subject }) => subject !== 'no_negative_balance')
  if (isWhole && partsDigest({ balances, holds }, vault, key.name) !== own.value.parts) {
    wrong('no_negative_balance', account, 'its balances or holds are not those that were written with it')
  }
  const areHoldsRead = holds.size === (row.hold_parts ?? []).length + (row.pending_parts ?? []).length
  return { head: headOf(row, own.value, balances, areHoldsRead ? [...holds.values()] : undefined), findings }
}

/** An erased account must only have its row and its chain. */
function remainsOf(row: AccountRow, account: string): Finding[] {
  const findings: Finding[] = []
  if (row.has_key) {
    findings.push({ subject: 'chains_verify', place: `data key of ${account}`, problem: 'it was to be destroyed' })
  }
  if (row.balance_parts !== null || row.hold_parts !== null || row.pending_parts !== null) {
    findings.push({ subject: 'no_negative_balance', place: account, problem: 'it was erased, and holds something' })
  }
  return findings
}

function openBalance({ shard_id: shardId, account_id: ref }: AccountRow, part: BalancePart, vault: RowVault): Balance {
  const [tokenId, sealed, updatedAtMs] = part
  const place = PLACES.balance(shardId, ref, tokenId)
  const balance = balanceFrom(vault.open(accountKeyName(ref), place, Buffer.from(sealed, 'base64')))
  if (String(balance.updatedAtMs) !== updatedAtMs) throw new UnreadableRow(place, 'its time is not what was sealed')
  return balance
}

function openHold(
  { shard_id: shardId, account_id: ref }: AccountRow,
  [holdRef, sealed]: HoldPart,
  accountId: string,
  vault: RowVault,
): Hold {
  const place = PLACES.hold(shardId, ref, holdRef)
  const hold = JSON.parse(vault.open(accountKeyName(ref), place, Buffer.from(sealed, 'base64'))) as Hold
  if (holdRefOf(vault, accountId, holdId(hold)) === holdRef) return hold
  throw new UnreadableRow(place, 'it is of another hold')
}

function headOf(
  row: AccountRow,
  { key, status, incoming, paused, arrived }: AccountDocument,
  balances: ReadonlyMap<string, Balance>,
  holds: readonly Hold[] | undefined,
): AccountHead {
  return {
    sequence: Number(row.sequence),
    tip: row.tip,
    lastEntry: row.last_entry === null ? null : Number(row.last_entry),
    facts: {
      keyId: key?.keyId ?? null,
      publicKey: key?.publicKey ?? null,
      status,
      incoming,
      paused,
      arrival: arrived === undefined || arrived.keySalt === null ? undefined : arrivalFact(arrived),
    },
    balances: [...balances].map(([tokenId, { balance, reserved, incoming: comes }]): BalanceParts => ({
      tokenId,
      balance: formatQuantity(balance),
      reserved: formatQuantity(reserved),
      incoming: formatQuantity(comes),
    })),
    holds,
  }
}

/**
 * Accounts with entries after ($1, $2), and whether each exists. One index probe per account, however long its chain is.
 */
export const CHAINS_EXAMINED = 500
export const CHAINS_PAGE = `
WITH RECURSIVE chains AS (
  (SELECT shard_id, account_id FROM audit_entries WHERE (shard_id, account_id) > ($1::integer, $2::text)
    ORDER BY shard_id, account_id LIMIT 1)
  UNION ALL
  SELECT following.* FROM chains c CROSS JOIN LATERAL (
    SELECT e.shard_id, e.account_id FROM audit_entries e
     WHERE (e.shard_id, e.account_id) > (c.shard_id, c.account_id)
     ORDER BY e.shard_id, e.account_id LIMIT 1) following),
page AS MATERIALIZED (SELECT * FROM chains LIMIT ${CHAINS_EXAMINED})
SELECT p.shard_id, p.account_id, a.account_id IS NULL AS orphaned
  FROM page p LEFT JOIN accounts a ON a.shard_id = p.shard_id AND a.account_id = p.account_id
 ORDER BY p.shard_id, p.account_id`

export interface ChainRow {
  readonly shard_id: number
  readonly account_id: string
  readonly orphaned: boolean
}

/** Entries from $3 to $4 of each account in ($1, $2), at most PAGE_WEIGHT. $5: bound of `countedSql`. */
export const ENTRIES_PAGE = `
SELECT ${CHAIN_ENTRY_COLUMNS.map((column) => `e.${column}`).join(', ')}, ${countedSql('e.commit_xid', '$5')} AS counted
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[]) AS a (shard_id, account_id, first, last)
  JOIN LATERAL (
    SELECT * FROM chain_entries e
     WHERE e.shard_id = a.shard_id AND e.account_id = a.account_id AND e.sequence BETWEEN a.first AND a.last
     ORDER BY e.sequence LIMIT ${PAGE_WEIGHT}) e ON true
 ORDER BY e.shard_id, e.account_id, e.sequence`

export type EntryRow = ChainEntryRow & { readonly counted: boolean }

/** An entry without its payload. */
export function linkOf(row: ChainEntryRow): Omit<AuditEntry, 'payload'> {
  return {
    sequence: Number(row.sequence),
    txnId: row.txn_id,
    previousHash: row.previous_hash.toString('hex'),
    auditHash: row.audit_hash.toString('hex'),
  }
}

/** Its account's key must have been fetched. Throws UnreadableRow. */
export function walkedEntryOf(row: ChainEntryRow, vault: RowVault): AuditEntry {
  return { ...linkOf(row), payload: payloadOf(row, vault) }
}
