/**
 * Follows the commits and checks each new row once.
 *   T1. Entries and NFT events contain the number of the PostgreSQL transaction that wrote them. The log of commits lists
 *       the ledger transactions of each. No row can appear below the oldest running PostgreSQL transaction. Windows end
 *       there, so the tail misses no row and scans no table.
 *   T2. A new entry follows the one before it, and its account's sequence has reached it.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import {
  type EntryPlace,
  type Holding,
  newEntryFindings,
  newErasedEntryFindings,
} from '../../runtime/audit/new-entry.ts'
import { formatQuantity } from '../../actors/money.ts'
import { balanceFrom } from '../postgres/rows/account-parts.ts'
import { CHAIN_ENTRY_COLUMNS, type ChainEntryRow } from '../postgres/rows/chain-entries.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { Query } from './audit-reads.ts'
import { linkOf, walkedEntryOf } from './chain-rows.ts'
import { fetchKeysOfAccounts, opened } from './opened.ts'
import { type TransactionRow, transactionsSql } from './transaction-checks.ts'
import type { Look, Seen } from './walk.ts'
import { checkNfts } from './walk-nfts.ts'
import { seenOf } from './walk-transactions.ts'

/** Commits from `from` up to, not including, `until`: PostgreSQL transaction numbers (xid8) in decimal. */
export interface Window {
  readonly from: string
  readonly until: string
  /** No commit in the window wrote a row that the tail checks. This is normal while only heartbeats are written. */
  readonly isEmpty: boolean
}

/** Current end of the commits. */
export interface FeedEnd {
  /** All transactions with smaller numbers have ended. */
  readonly settled: string
  /** All commits so far have smaller numbers. */
  readonly next: string
  readonly nowMs: number
}

/** Rows per window and kind. All rows of the last commit belong to the window, too. */
const WINDOW_ROWS = 300

const FEED_END = `
SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS settled,
       pg_snapshot_xmax(pg_current_snapshot())::text AS next, clock_timestamp() AS now`

export async function readFeedEnd(query: Query): Promise<FeedEnd> {
  const [row] = await query<{ settled: string; next: string; now: Date }>(FEED_END)
  return { settled: row?.settled ?? '0', next: row?.next ?? '0', nowMs: row?.now.getTime() ?? 0 }
}

/** Relations whose rows count towards the size of a window. */
const FED = {
  entries: 'audit_entries',
  transactions: '(SELECT commit_xid FROM commits CROSS JOIN LATERAL unnest(final || pending || ended)) named',
  nft_events: 'nft_events',
} as const

const IN_WINDOW = 'commit_xid >= $1::xid8 AND commit_xid < $2::xid8'

/** SQL: whether a relation has more than this number of rows in the window. */
function hasMoreThan(rows: number): string {
  return Object.values(FED)
    .map((relation) => `EXISTS (SELECT FROM ${relation} WHERE ${IN_WINDOW} OFFSET ${rows} LIMIT 1)`)
    .join('\n    OR ')
}

const FULL_AT = `
SELECT ${Object.entries(FED)
  .map(
    ([name, relation]) => `(SELECT commit_xid FROM ${relation} WHERE ${IN_WINDOW}
         ORDER BY commit_xid OFFSET ${WINDOW_ROWS - 1} LIMIT 1)::text AS ${name}`,
  )
  .join(',\n       ')},
       ${hasMoreThan(0)} AS written`

type WindowRow = Readonly<Record<keyof typeof FED, string | null>> & { readonly written: boolean }

/** The next window from `from`; undefined: no commit is settled there. */
export async function nextWindow(query: Query, from: string, settled: string): Promise<Window | undefined> {
  if (BigInt(from) >= BigInt(settled)) return undefined
  const [row] = await query<WindowRow>(FULL_AT, [from, settled])
  const { written = true, ...fullAt } = row ?? {}
  let until = BigInt(settled)
  for (const xid of Object.values(fullAt)) {
    if (xid !== null && BigInt(xid) + 1n < until) until = BigInt(xid) + 1n
  }
  return { from, until: String(until), isEmpty: !written }
}

/**
 * Commits of the ledger write at most a few thousand rows. A larger commit, such as a restore, is left to a pass.
 */
const MAX_WINDOW_ROWS = 10_000
export async function isTooMuch(query: Query, { from, until }: Window): Promise<boolean> {
  const [row] = await query<{ too_much: boolean }>(`SELECT ${hasMoreThan(MAX_WINDOW_ROWS)} AS too_much`, [from, until])
  return row?.too_much === true
}

export interface SeenInWindow extends Seen {
  /** Tokens whose supply was changed, in lower case. */
  readonly tokens: readonly string[]
}

export async function lookAtWindow(look: Look, { from, until }: Window): Promise<SeenInWindow> {
  const entries = await look.query<NewEntryRow>(NEW_ENTRIES, [from, until])
  const erased = await fetchKeysOfAccounts(look, entries)
  const ofEntries = entries.flatMap((row) =>
    erased.has(row.account_id) ? newErasedEntryFindings(linkOf(row), placeOf(row)) : findingsOf(row, look.vault),
  )
  const transactions = await seenOf(await look.query<TransactionRow>(NEW_TRANSACTIONS, [from, until, null]), look)
  const events = await look.query<{ nft_id: string; mints: number }>(NEW_EVENTS, [from, until])
  const ofNfts = await checkNfts(
    look,
    events.map(({ nft_id: nftId }) => nftId),
  )
  return {
    checked: {
      ...transactions.checked,
      chains_verify: entries.length,
      provenance: events.reduce((sum, { mints }) => sum + mints, 0),
    },
    findings: [...ofEntries, ...transactions.findings, ...ofNfts],
    tokens: [
      ...new Set(entries.flatMap(({ supply_of: tokenId }) => (tokenId === null ? [] : [tokenId.toLowerCase()]))),
    ],
  }
}

/** Transactions that commits of the window $1, $2 name in `ids`, an expression on `commits c`. */
function named(ids: string): string {
  return `SELECT n.txn_id FROM commits c CROSS JOIN LATERAL unnest(${ids}) AS n (txn_id)
           WHERE c.commit_xid >= $1::xid8 AND c.commit_xid < $2::xid8`
}

/** Transactions that ended in the window, and those entered in it that are still pending. */
const NEW_TRANSACTIONS = transactionsSql(
  `SELECT t.* FROM (${named('c.final || c.ended')}) named
    CROSS JOIN LATERAL (SELECT * FROM all_transactions a WHERE a.txn_id = named.txn_id) t
    UNION ALL
   SELECT t.* FROM (${named('c.pending')}) named
    CROSS JOIN LATERAL (SELECT * FROM all_transactions a WHERE a.txn_id = named.txn_id AND a.ended_xid IS NULL) t`,
  '$3',
)

const NEW_CHAIN_ENTRIES = `
SELECT * FROM chain_entries WHERE txn_id IS NULL AND commit_xid >= $1::xid8 AND commit_xid < $2::xid8
 UNION ALL
SELECT e.* FROM (${named('c.final || c.ended')}) named
 CROSS JOIN LATERAL (SELECT * FROM chain_entries e WHERE e.txn_id = named.txn_id) e`

/** $1, $2: the window. The account's balances are read beside its last entry only. */
const NEW_ENTRIES = `
SELECT ${CHAIN_ENTRY_COLUMNS.map((column) => `e.${column}`).join(', ')},
       p.audit_hash AS before_hash, a.sequence AS head_sequence, a.tip AS head_tip, b.document AS balance, r.document AS received_balance,
       CASE WHEN e.type IN ('mint', 'burn') AND position('/' IN e.token_id) = 0 THEN e.token_id END AS supply_of
  FROM (${NEW_CHAIN_ENTRIES}) e
  LEFT JOIN LATERAL (
    SELECT audit_hash FROM chain_entries p
     WHERE p.shard_id = e.shard_id AND p.account_id = e.account_id AND p.sequence = e.sequence - 1 LIMIT 1) p ON true
  LEFT JOIN accounts a ON a.shard_id = e.shard_id AND a.account_id = e.account_id
  LEFT JOIN balances b
    ON b.shard_id = e.shard_id AND b.account_id = e.account_id AND b.token_id = e.token_id AND e.sequence = a.sequence
  LEFT JOIN balances r
    ON r.shard_id = e.shard_id AND r.account_id = e.account_id AND r.token_id = e.received_token_id
   AND e.sequence = a.sequence`

type NewEntryRow = ChainEntryRow & {
  readonly before_hash: Buffer | null
  readonly head_sequence: string | null
  readonly head_tip: Buffer | null
  readonly balance: Buffer | null
  readonly received_token_id: string | null
  readonly received_balance: Buffer | null
  readonly supply_of: string | null
}

const NEW_EVENTS = `
SELECT nft_id, (count(*) FILTER (WHERE number = 0))::integer AS mints FROM nft_events
 WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 GROUP BY nft_id ORDER BY nft_id`

function findingsOf(row: NewEntryRow, vault: RowVault): readonly Finding[] {
  const account = `account ${row.account_id}`
  const findings: Finding[] = []
  const holdings: Holding[] = []
  for (const [side, tokenId, sealed] of [
    ['given', row.token_id, row.balance],
    ['received', row.received_token_id, row.received_balance],
  ] as const) {
    if (tokenId === null || sealed === null) continue
    const holding = opened(() => holdingOf(row, tokenId, sealed, vault))
    if (holding.isOpen) holdings.push({ side, ...holding.value })
    else findings.push({ subject: 'no_negative_balance', place: `${account}, ${tokenId}`, problem: holding.problem })
  }
  const entry = opened(() =>
    newEntryFindings(walkedEntryOf(row, vault), { ...placeOf(row), holdings }, vault.accountRef),
  )
  if (entry.isOpen) findings.push(...entry.value)
  else {
    findings.push({ subject: 'chains_verify', place: `${account}, entry ${row.sequence}`, problem: entry.problem })
  }
  return findings
}

function placeOf(row: NewEntryRow): Omit<EntryPlace, 'holdings'> {
  const { head_sequence: sequence, head_tip: tip } = row
  return {
    accountId: row.account_id,
    before: row.before_hash?.toString('hex') ?? null,
    head: sequence === null || tip === null ? null : { sequence: Number(sequence), tip: tip.toString('hex') },
  }
}

/** Throws UnreadableRow. */
function holdingOf(row: NewEntryRow, tokenId: string, sealed: Buffer, vault: RowVault): Omit<Holding, 'side'> {
  const { shard_id: shardId, account_id: ref } = row
  const { balance, incoming } = balanceFrom(
    vault.open(accountKeyName(ref), PLACES.balance(shardId, ref, tokenId), sealed),
  )
  return { tokenId, balance: formatQuantity(balance), incoming: formatQuantity(incoming) }
}
