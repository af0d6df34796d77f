/** Accounts and their chains. */
import type { AccountView } from '../../../actors/account/outcome.ts'
import type { AccountsPage, AuditChainPage, ChainEntryView } from '../../../runtime/ports/ledger-reads.ts'
import { accountKeyName, type KeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { ACCOUNT_COLUMNS, type AccountRow, keyNameOfAccountRow, openAccount } from '../rows/account-document.ts'
import { fetchKeysOfAccounts } from '../rows/erased-accounts.ts'
import type { Sql } from '../connection/connection.ts'
import { countingFirst, type Reading, readPage, readRows } from './reading.ts'
import { fetchKeys, opened } from '../rows/opened-rows.ts'
import { CHAIN_ENTRY_COLUMNS, type ChainEntryRow, payloadOf } from '../rows/chain-entries.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { prepared } from '../connection/prepared.ts'

/** Where an account is found. */
export interface AccountPlace {
  readonly shardId: number
  readonly accountId: string
  /** The keyed hash of the ID in tables. */
  readonly ref: string
}

export function keyNameOf({ ref }: AccountPlace): KeyName {
  return accountKeyName(ref)
}

const ACCOUNT = `
SELECT ${ACCOUNT_COLUMNS} FROM accounts a WHERE a.shard_id = $1 AND a.account_id = $2`

export async function readAccount(reading: Reading, accountId: string): Promise<AccountView | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const select = (sql: Sql): Promise<AccountRow[]> => prepared(sql, ACCOUNT, [place.shardId, place.ref])
  const [row] = await readRows(reading, select, keyNameOfAccountRow, [keyNameOf(place)])
  return row === undefined ? undefined : accountViewOf(row, reading.vault, accountId)
}

/** `askedFor`: the ID that was looked for, which the row of an account that was erased does not say. */
function accountViewOf(row: AccountRow, vault: RowVault, askedFor = ''): AccountView {
  const place = PLACES.account(row.shard_id, row.account_id, Number(row.version))
  const account = opened(place, () => openAccount(row, vault))
  const { status, incoming, key, sequence, tip, createdAtMs, updatedAtMs } = account
  const accountId = status === 'erased' ? askedFor : account.accountId
  return { accountId, status, incoming, key, shardId: row.shard_id, sequence, auditHash: tip, createdAtMs, updatedAtMs }
}

/**
 * In the order of the references: one of the IDs, at rest, would give them away. Those that were erased are left out: whose
 * they were is not known here. They are counted by a range of places: what PostgreSQL would take for a scan of all of a large
 * table it keeps none of in memory, and reads the same pages anew for each count.
 */
export const ACCOUNTS = `
SELECT counting.counted, page.*
  FROM ${countingFirst(`SELECT FROM accounts WHERE ctid >= '(0,0)' AND status <> 'erased'`, '$1')}
  LEFT JOIN LATERAL (
    SELECT ${ACCOUNT_COLUMNS} FROM accounts a
     WHERE a.account_id > $1 AND a.status <> 'erased' ORDER BY a.account_id LIMIT $2
  ) page ON true
 ORDER BY page.account_id`

/** `after`: an account ID. */
export async function readAccounts(reading: Reading, after: string | null, limit: number): Promise<AccountsPage> {
  const { vault } = reading
  const page = await readPage(reading, {
    text: ACCOUNTS,
    parameters: [after === null ? '' : vault.accountRef(after)],
    limit,
    keyOf: keyNameOfAccountRow,
    open: (row: AccountRow) => accountViewOf(row, vault),
    cursorOf: ({ accountId }) => accountId,
  })
  const { items: accounts = [], next = null, count = null } = page ?? {}
  return { accounts, next, count }
}

const CHAIN = `
SELECT account.sequence AS last, entry.*
  FROM accounts account LEFT JOIN LATERAL (
    SELECT ${CHAIN_ENTRY_COLUMNS.join(', ')} FROM chain_entries
     WHERE shard_id = $1 AND account_id = $2 AND sequence > $3::bigint
     ORDER BY sequence LIMIT $4
  ) entry ON true
 WHERE account.shard_id = $1 AND account.account_id = $2
 ORDER BY entry.sequence`

/** `sequence`: null in the one row of an empty page. */
type EntryRow = (ChainEntryRow | { readonly sequence: null }) & { readonly last: string }

export async function readAuditChain(
  reading: Reading,
  accountId: string,
  afterSequence: number,
  limit: number,
): Promise<AuditChainPage | undefined> {
  const { pool, vault } = reading
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  let erased = false
  const rows = await pool.run(async (sql) => {
    const [found] = await Promise.all([
      prepared<EntryRow>(sql, CHAIN, [place.shardId, place.ref, afterSequence, limit + 1]),
      fetchKeys(sql, [keyNameOf(place)], vault),
    ])
    if (found.length > 0) erased = (await fetchKeysOfAccounts(sql, [place.ref], vault)).has(place.ref)
    return found
  })
  const [first] = rows
  if (first === undefined) return undefined
  const found = rows.flatMap((row) => (row.sequence === null ? [] : [row]))
  const entries = found.slice(0, limit).map((row) => entryOf(row, erased ? null : vault))
  return {
    entries,
    next: found.length > limit ? (entries.at(-1)?.sequence ?? null) : null,
    total: Number(first.last) + 1,
  }
}

/** `vault`: null where what the entry says was destroyed. */
function entryOf(row: ChainEntryRow, vault: RowVault | null): ChainEntryView {
  return {
    sequence: Number(row.sequence),
    txnId: row.txn_id,
    previousHash: row.previous_hash.toString('hex'),
    auditHash: row.audit_hash.toString('hex'),
    payload: vault === null ? null : payloadOf(row, vault),
  }
}
