/**
 * Follows what is written, commit by commit, and looks at each new row once.
 *   T1. Entries, transactions and NFT events carry the PostgreSQL transaction that wrote them. What lies below every
 *       transaction that still runs can no longer be joined by anything: a window ends there, and the next begins where
 *       it ended. So nothing is missed and nothing is scanned.
 *   T2. A new entry follows the one before it, its account knows of it, and it has its transaction and receipt.
 *   T3. A transaction that failed later than it was entered writes no row: those that were pending are remembered, and
 *       looked at again until they are final.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import { type EntryPlace, newEntryFindings, newErasedEntryFindings } from '../../runtime/audit/new-entry.ts'
import { formatQuantity } from '../../actors/money.ts'
import type { TransactionName } from '../../runtime/ports/ledger-store.ts'
import { balanceFrom } from '../postgres/account-parts.ts'
import { PLACES } from '../postgres/row-sealer.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { Query } from './audit-reads.ts'
import { entryColumns, type EntryRow, linkOf, walkedEntryOf } from './chain-rows.ts'
import { fetchKeysOfAccounts } from './erased.ts'
import { opened } from './opened.ts'
import {
  agreementFindings,
  namedTransactions,
  transactionFindings,
  type TransactionRow,
  transactionsSql,
} from './transaction-checks.ts'
import type { Look, Seen } from './walk.ts'
import { checkNfts } from './walk-nfts.ts'
import { seenOf } from './walk-transactions.ts'

/** Commits from `from` up to, not including, `until`: PostgreSQL transaction numbers (xid8) in decimal. */
export interface Window {
  readonly from: string
  readonly until: string
}

/** What the feed looks like now. */
export interface FeedEnd {
  /** Commits below are settled: all that they wrote is there to be seen. */
  readonly settled: string
  /** Every commit that was answered before now is below. */
  readonly next: string
  readonly nowMs: number
}

/** Rows of a window, of each of the three kinds; and the rest of what the last of its commits wrote. */
const WINDOW_ROWS = 300

const FEED_END = `
SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS settled,
       pg_snapshot_xmax(pg_current_snapshot())::text AS next, clock_timestamp() AS now`

export async function readFeedEnd(query: Query): Promise<FeedEnd> {
  const [row] = await query<{ settled: string; next: string; now: Date }>(FEED_END)
  return { settled: row?.settled ?? '0', next: row?.next ?? '0', nowMs: row?.now.getTime() ?? 0 }
}

const FED = ['audit_entries', 'transactions', 'nft_events'] as const

const FULL_AT = `
SELECT ${FED.map(
  (table) => `(SELECT commit_xid FROM ${table} WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8
         ORDER BY commit_xid OFFSET ${WINDOW_ROWS - 1} LIMIT 1)::text AS ${table}`,
).join(',\n       ')}`

/** The next window from `from` on; undefined when nothing is settled there. */
export async function nextWindow(query: Query, from: string, settled: string): Promise<Window | undefined> {
  if (BigInt(from) >= BigInt(settled)) return undefined
  const [row] = await query<Readonly<Record<string, string | null>>>(FULL_AT, [from, settled])
  let until = BigInt(settled)
  for (const xid of Object.values(row ?? {})) {
    if (xid !== null && BigInt(xid) + 1n < until) until = BigInt(xid) + 1n
  }
  return { from, until: String(until) }
}

/**
 * Commits of the ledger write a few thousand rows at most. What wrote more was something else, and is too much for a
 * window: it is looked at by a pass.
 */
const MAX_WINDOW_ROWS = 10_000
const TOO_MUCH = `
SELECT ${FED.map(
  (table) => `EXISTS (SELECT FROM ${table} WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8
                 OFFSET ${MAX_WINDOW_ROWS} LIMIT 1)`,
).join('\n    OR ')} AS too_much`

export async function isTooMuch(query: Query, { from, until }: Window): Promise<boolean> {
  const [row] = await query<{ too_much: boolean }>(TOO_MUCH, [from, until])
  return row?.too_much === true
}

export interface SeenInWindow extends Seen {
  /** Tokens whose supply was changed, in lower case. */
  readonly tokens: readonly string[]
}

export async function lookAtWindow(look: Look, { from, until }: Window): Promise<SeenInWindow> {
  const parameters = [from, until, null]
  const entries = await look.query<NewEntryRow>(NEW_ENTRIES, parameters)
  const erased = await fetchKeysOfAccounts(look, refsOf(entries))
  const allEntered = await look.query<TransactionRow>(ENTERED, parameters)
  const ofEntries = new Set(entries.map(nameOf))
  const isCompleted = (row: TransactionRow): boolean => row.status === 'completed' && ofEntries.has(nameOf(row))
  const enteredHere = new Set(allEntered.map(nameOf))
  const elsewhere = entries.filter((row) => row.linked_account !== null && !enteredHere.has(nameOf(row)))
  const enteredElsewhere = await namedTransactions(look, elsewhere.flatMap(transactionOf))
  const completed = await seenOf([...allEntered.filter(isCompleted), ...enteredElsewhere], look)
  const gone = await fetchKeysOfAccounts(look, refsOf(allEntered))
  const entered = allEntered.filter((row) => !gone.has(row.account_id))
  const failed = entered.filter(({ status }) => status === 'failed')
  const others = entered.filter((row) => row.status !== 'failed' && !isCompleted(row))
  const events = await look.query<{ nft_id: string; mints: number }>(NEW_EVENTS, [from, until])
  return {
    checked: {
      chains_verify: entries.length,
      receipts_verify: entered.length,
      provenance: events.reduce((sum, { mints }) => sum + mints, 0),
    },
    findings: [
      ...entries.flatMap((row) =>
        erased.has(row.account_id) ? newErasedEntryFindings(linkOf(row), placeOf(row)) : findingsOf(row, look.vault),
      ),
      ...completed.findings,
      ...failed.flatMap((row) => transactionFindings(row, look)),
      ...others.flatMap((row) => agreementFindings(row, look)),
      ...(await checkNfts(
        look,
        events.map(({ nft_id: nftId }) => nftId),
      )),
    ],
    pending: entered
      .filter(({ status }) => status === 'pending')
      .map(({ shard_id: shardId, txn_id: txnId }) => ({ shardId, txnId })),
    tokens: [
      ...new Set(entries.flatMap(({ supply_of: tokenId }) => (tokenId === null ? [] : [tokenId.toLowerCase()]))),
    ],
  }
}

/** $1, $2: the window. The account's balance is read beside its last entry only. */
const NEW_ENTRIES = `
SELECT ${entryColumns('$3')},
       p.audit_hash AS before_hash, a.sequence AS head_sequence, a.tip AS head_tip,
       t.token_id AS linked_token, b.document AS balance,
       CASE WHEN t.type IN ('mint', 'burn') AND position('/' IN t.token_id) = 0 THEN t.token_id END AS supply_of
  FROM audit_entries e
  LEFT JOIN audit_entries p
    ON p.shard_id = e.shard_id AND p.account_id = e.account_id AND p.sequence = e.sequence - 1
  LEFT JOIN transactions t ON t.shard_id = e.shard_id AND t.txn_id = e.txn_id
  LEFT JOIN accounts a ON a.shard_id = e.shard_id AND a.account_id = e.account_id
  LEFT JOIN balances b
    ON b.shard_id = e.shard_id AND b.account_id = e.account_id AND b.token_id = t.token_id AND e.sequence = a.sequence
 WHERE e.commit_xid >= $1::xid8 AND e.commit_xid < $2::xid8`

interface NewEntryRow extends EntryRow {
  readonly before_hash: Buffer | null
  readonly head_sequence: string | null
  readonly head_tip: Buffer | null
  readonly linked_token: string | null
  readonly balance: Buffer | null
  readonly supply_of: string | null
}

const ENTERED = transactionsSql(
  'SELECT * FROM transactions WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8',
  '$3',
)

const NEW_EVENTS = `
SELECT nft_id, (count(*) FILTER (WHERE number = 0))::integer AS mints FROM nft_events
 WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 GROUP BY nft_id ORDER BY nft_id`

function nameOf(row: { readonly shard_id: number; readonly txn_id: string | null }): string {
  return `${row.shard_id} ${row.txn_id}`
}

function transactionOf({ shard_id: shardId, txn_id: txnId }: NewEntryRow): TransactionName[] {
  return txnId === null ? [] : [{ shardId, txnId }]
}

function refsOf(rows: readonly { readonly account_id: string }[]): readonly string[] {
  return rows.map((row) => row.account_id)
}

function findingsOf(row: NewEntryRow, vault: RowVault): readonly Finding[] {
  const account = `account ${row.account_id}`
  const findings: Finding[] = []
  const holding = opened(() => holdingOf(row, vault))
  if (!holding.isOpen) {
    const place = `${account}, ${row.linked_token ?? ''}`
    findings.push({ subject: 'no_negative_balance', place, problem: holding.problem })
  }
  const entry = opened(() =>
    newEntryFindings(
      walkedEntryOf(row, vault),
      { ...placeOf(row), holding: holding.isOpen ? holding.value : null },
      vault.accountRef,
    ),
  )
  if (entry.isOpen) findings.push(...entry.value)
  else {
    findings.push({ subject: 'chains_verify', place: `${account}, entry ${row.sequence}`, problem: entry.problem })
  }
  return findings
}

function placeOf(row: NewEntryRow): Omit<EntryPlace, 'holding'> {
  const { head_sequence: sequence, head_tip: tip } = row
  return {
    accountId: row.account_id,
    before: row.before_hash?.toString('hex') ?? null,
    head: sequence === null || tip === null ? null : { sequence: Number(sequence), tip: tip.toString('hex') },
  }
}

/** Throws UnreadableRow. */
function holdingOf(row: NewEntryRow, vault: RowVault): EntryPlace['holding'] {
  const { shard_id: shardId, account_id: ref, linked_token: tokenId, balance: sealed } = row
  if (tokenId === null || sealed === null) return null
  const { balance, incoming } = balanceFrom(
    vault.open(accountKeyName(ref), PLACES.balance(shardId, ref, tokenId), sealed),
  )
  return { tokenId, balance: formatQuantity(balance), incoming: formatQuantity(incoming) }
}
