/**
 * Computes the amounts owed to each account from its rows, in one pass. An account, its parts and their key come together.
 *   A1. An account's parts must match its digest (account-parts.ts). Otherwise the run fails.
 *   A2. All balances and holds are counted, and the counts must match the tables.
 *   A3. Memory does not grow with the number of accounts.
 *   A4. An account and all its parts come as one row. Aggregating balances before the join takes PostgreSQL two fifths
 *       longer, so they are joined directly if no account has more than one.
 */
import type postgres from 'postgres'
import { type Hold, holdId, valueOf } from '../../actors/account/state.ts'
import { unitsOf } from '../../runtime/liabilities/sums.ts'
import {
  type AccountDocument,
  type AccountRow,
  keyNameOfAccountRow,
  openAccount,
} from '../postgres/rows/account-document.ts'
import { balanceIn, digestOfTexts, holdRefOf, isOfTransaction, type PartText } from '../postgres/rows/account-parts.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName, type KeyName } from '../vault/key-name.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { type CopiedRow, copyRows } from './copy-rows.ts'
import { UnreadableLiability } from './liability-book.ts'

export interface PartCounts {
  readonly balances: number
  readonly holds: number
}

/** Receives the account's balance plus the value of its holds, in units. */
export type SeeOwed = (accountId: string, tokenId: string, units: bigint) => void

/** Shards from `first` to before `end`. */
export interface ShardRange {
  readonly first: number
  readonly end: number
}

/** A4. Within the snapshot. */
export async function hasLoneBalances(sql: postgres.TransactionSql, range: ShardRange): Promise<boolean> {
  const [row] = await sql.unsafe<{ lone: boolean }[]>(`
    SELECT NOT EXISTS (
      SELECT FROM balances b WHERE ${inRange('b', range)}
       GROUP BY b.shard_id, b.account_id HAVING count(*) > 1) AS lone`)
  return row?.lone === true
}

function inRange(table: string, { first, end }: ShardRange): string {
  return `${table}.shard_id >= ${first} AND ${table}.shard_id < ${end}`
}

/** One row per account (A4): its balance, or an array of its balances, and an array of its holds. */
function accountsIn(range: ShardRange, areLone: boolean): string {
  const within = (table: string): string => inRange(table, range)
  const gathered = (table: string, id: string): string => `
       (SELECT p.shard_id, p.account_id, array_agg(p.${id}) AS ids, array_agg(p.document) AS documents
          FROM ${table} p WHERE ${within('p')} GROUP BY p.shard_id, p.account_id)`
  const balances = areLone
    ? `(SELECT p.shard_id, p.account_id, p.token_id AS ids, p.document AS documents FROM balances p WHERE ${within('p')})`
    : gathered('balances', 'token_id')
  return `
SELECT a.shard_id, a.account_id, a.version, a.status, a.sequence, encode(a.tip, 'hex'), a.completed_count, a.failed_count,
       a.nft_count, a.nft_room, ${milliseconds('created_at')}, ${milliseconds('updated_at')}, ${milliseconds('last_time')},
       a.lasting_version, a.digest, a.lasting, k.master_key_id, k.wrapped, b.ids, b.documents, h.ids, h.documents
  FROM accounts a
  LEFT JOIN data_keys k ON k.scope = 'account' AND k.ref = a.account_id AND ${within('k')}
  LEFT JOIN ${balances} b ON b.shard_id = a.shard_id AND b.account_id = a.account_id
  LEFT JOIN ${gathered('all_holds', 'hold_id')} h ON h.shard_id = a.shard_id AND h.account_id = a.account_id
 WHERE ${within('a')}`
}
const COLUMNS = 22
const [MASTER_KEY_ID, WRAPPED, TOKENS, BALANCES, HOLDS, HOLD_DOCUMENTS] = [16, 17, 18, 19, 20, 21] as const

/** SQL for milliseconds since 1970, as bigint. */
function milliseconds(column: string): string {
  return `round(extract(epoch FROM a.${column}) * 1000)::bigint`
}

/**
 * Returns the number of balances and holds. The keys of the shards must have been fetched. Throws UnreadableRow,
 * UnreadableLiability, or an error of the driver or `see`.
 */
export async function eachOwed(
  sql: postgres.TransactionSql,
  vault: RowVault,
  range: ShardRange,
  see: SeeOwed,
): Promise<PartCounts> {
  const counts = { balances: 0, holds: 0 }
  const areLone = await hasLoneBalances(sql, range)
  const balancesIn = areLone ? loneBalance : gatheredBalances
  await copyRows(sql, accountsIn(range, areLone), COLUMNS, (copied) => {
    const account = openRow(copied, vault, balancesIn(copied))
    counts.balances += account.balances.length
    counts.holds += account.holds.length
    seeOwed(account, see)
  })
  return counts
}

/** Token and sealed text of each balance in the row. */
type BalanceParts = readonly (readonly [tokenId: string, document: Buffer])[]

function loneBalance(copied: CopiedRow): BalanceParts {
  return copied.isNull(TOKENS) ? [] : [[copied.textAt(TOKENS), copied.bytesAt(BALANCES)]]
}

function gatheredBalances(copied: CopiedRow): BalanceParts {
  const documents = copied.elementsAt(BALANCES)
  return copied.elementsAt(TOKENS).map((token, index) => [token.toString('utf8'), partOf(documents, index)])
}

interface OpenedAccount {
  readonly accountId: string
  readonly balances: readonly (readonly [tokenId: string, text: string])[]
  readonly holds: readonly OpenedHold[]
}

interface OpenedHold {
  readonly id: string
  readonly text: string
  /** undefined for a pending transaction, which does not change the balance. */
  readonly hold: Hold | undefined
}

function openRow(copied: CopiedRow, vault: RowVault, parts: BalanceParts): OpenedAccount {
  const row: AccountRow = {
    shard_id: copied.integerAt(0),
    account_id: copied.textAt(1),
    version: copied.bigintAt(2),
    status: copied.textAt(3) as AccountRow['status'],
    sequence: copied.bigintAt(4),
    tip: copied.textAt(5),
    completed_count: copied.bigintAt(6),
    failed_count: copied.bigintAt(7),
    nft_count: copied.integerAt(8),
    nft_room: copied.integerAt(9),
    created_at: new Date(Number(copied.bigintAt(10))),
    updated_at: new Date(Number(copied.bigintAt(11))),
    last_time: new Date(Number(copied.bigintAt(12))),
    lasting_version: copied.bigintAt(13),
    digest: copied.bytesAt(14),
    lasting: copied.bytesAt(15),
  }
  const name = keyNameOfAccountRow(row)
  if (row.status !== 'erased' && !copied.isNull(MASTER_KEY_ID)) {
    takeKey(vault, name, { masterKeyId: copied.textAt(MASTER_KEY_ID), wrapped: copied.bytesAt(WRAPPED) })
  }
  const document = openAccount(row, vault)
  if (document.status === 'erased') return nothingOf(row, copied)
  const account: OpenedAccount = {
    accountId: document.accountId,
    balances: openBalances(row, vault, parts),
    holds: openHolds(row, document.accountId, vault, copied),
  }
  checkParts(row, document, account, vault)
  return account
}

/** A1. */
function checkParts(row: AccountRow, document: AccountDocument, account: OpenedAccount, vault: RowVault): void {
  const texts: PartText[] = [
    ...account.balances.map(([tokenId, text]) => ['balance', tokenId, text] as const),
    ...account.holds.map(({ id, text }) => ['hold', id, text] as const),
  ]
  if (digestOfTexts(texts, vault, keyNameOfAccountRow(row)) === document.parts) return
  const place = PLACES.account(row.shard_id, row.account_id, Number(row.version))
  throw new UnreadableRow(place, 'its balances or holds do not match its digest')
}

/** An erased account is owed nothing, and must have no balances or holds. */
function nothingOf(row: AccountRow, copied: CopiedRow): OpenedAccount {
  if (copied.isNull(TOKENS) && copied.isNull(HOLDS)) return { accountId: '', balances: [], holds: [] }
  const { shard_id: shardId, account_id: ref, version } = row
  throw new UnreadableRow(
    PLACES.account(shardId, ref, Number(version)),
    'it was erased, but balances or holds of it exist',
  )
}

/** The key comes with the row, so no query per account is needed. */
function takeKey(
  vault: RowVault,
  name: KeyName,
  wrapped: { readonly masterKeyId: string; readonly wrapped: Buffer },
): void {
  try {
    vault.keys.adopt({ name, key: vault.keys.unwrap(name, wrapped), wrapped })
  } catch (cause) {
    throw new UnreadableRow(placeOf('data_keys', name), 'it cannot be decrypted', { cause })
  }
}

function openBalances(
  { shard_id: shardId, account_id: ref }: AccountRow,
  vault: RowVault,
  parts: BalanceParts,
): OpenedAccount['balances'] {
  return parts.map(([tokenId, document]) => {
    const place = PLACES.balance(shardId, ref, tokenId)
    return [tokenId, vault.open(accountKeyName(ref), place, document)]
  })
}

function openHolds(
  { shard_id: shardId, account_id: ref }: AccountRow,
  accountId: string,
  vault: RowVault,
  copied: CopiedRow,
): readonly OpenedHold[] {
  const documents = copied.elementsAt(HOLD_DOCUMENTS)
  return copied.elementsAt(HOLDS).map((bytes, index) => {
    const holdRef = bytes.toString('utf8')
    const place = PLACES.hold(shardId, ref, holdRef)
    const document = partOf(documents, index)
    const text = document.length === 0 ? '' : vault.open(accountKeyName(ref), place, document)
    if (isOfTransaction(holdRef)) return { id: holdRef, text, hold: undefined }
    const hold = JSON.parse(text) as Hold
    const id = holdId(hold)
    if (holdRefOf(vault, accountId, id) !== holdRef) throw new UnreadableRow(place, 'it belongs to another hold')
    return { id, text, hold }
  })
}

function partOf(documents: readonly Buffer[], index: number): Buffer {
  const document = documents[index]
  if (document === undefined) throw new UnreadableLiability('A row lacks a value.')
  return document
}

function seeOwed({ accountId, balances, holds }: OpenedAccount, see: SeeOwed): void {
  const held = new Map<string, bigint>()
  for (const { hold } of holds) {
    const value = hold === undefined ? undefined : valueOf(hold)
    if (value === undefined) continue
    const { tokenId, quantity } = value
    held.set(tokenId, (held.get(tokenId) ?? 0n) + quantity)
  }
  for (const [tokenId, text] of balances) {
    see(accountId, tokenId, unitsOf(balanceIn(text)) + (held.get(tokenId) ?? 0n))
    held.delete(tokenId)
  }
  for (const [tokenId, units] of held) see(accountId, tokenId, units)
}
