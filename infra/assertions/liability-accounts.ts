/**
 * What each account is owed by its own rows, account by account in one pass: its row and all that belongs to it come
 * together, with the key that they are sealed under, and are opened together.
 *   A1. An account's parts are those that were written with it, or nothing is given (account-parts.ts).
 *   A2. No balance and no hold is passed over: what belongs to no account is none that the ledger wrote.
 *   A3. Memory does not grow with the accounts: of each, nothing is kept here.
 */
import type postgres from 'postgres'
import { type Hold, holdId, valueOf } from '../../actors/account/state.ts'
import { unitsOf } from '../../actors/liabilities/sums.ts'
import { formatQuantity } from '../../actors/money.ts'
import {
  type AccountDocument,
  type AccountRow,
  keyNameOfAccountRow,
  openAccount,
} from '../postgres/account-document.ts'
import { balanceIn, digestOfTexts, holdRefOf, type PartText } from '../postgres/account-parts.ts'
import { PLACES } from '../postgres/row-sealer.ts'
import { accountKeyName, type KeyName } from '../vault/key-name.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { bigintOf, bytesOf, type CopiedValue, copyRows, elementsOf, integerOf, textOf } from './copy-rows.ts'

export interface PartCounts {
  readonly balances: number
  readonly holds: number
}

/** What the account's balances say, and what its holds have taken out of them and may give back. */
export type SeeOwed = (accountId: string, tokenId: string, units: bigint) => void

/** One row an account. Parts are gathered before they are joined: whatever the plan, each account comes once. */
const ACCOUNTS = `
SELECT a.shard_id, a.account_id, a.version, a.status, a.sequence, encode(a.tip, 'hex'), a.completed_count, a.failed_count,
       a.nft_count, a.nft_room, a.document, k.master_key_id, k.wrapped, b.tokens, b.documents, h.holds, h.documents
  FROM accounts a
  LEFT JOIN data_keys k
         ON k.scope = CASE a.status WHEN 'erased' THEN 'shard' ELSE 'account' END
        AND k.ref = CASE a.status WHEN 'erased' THEN a.shard_id::text ELSE a.account_id END
  LEFT JOIN (SELECT shard_id, account_id, array_agg(token_id) AS tokens, array_agg(document) AS documents
               FROM balances GROUP BY shard_id, account_id) b
         ON b.shard_id = a.shard_id AND b.account_id = a.account_id
  LEFT JOIN (SELECT shard_id, account_id, array_agg(hold_id) AS holds, array_agg(document) AS documents
               FROM holds GROUP BY shard_id, account_id) h
         ON h.shard_id = a.shard_id AND h.account_id = a.account_id`
const COLUMNS = 17

/** `counts`: of all balances and holds there are. Throws UnreadableRow, UnreadableLiability, or what the driver throws. */
export async function eachOwed(
  sql: postgres.TransactionSql,
  vault: RowVault,
  counts: PartCounts,
  see: SeeOwed,
): Promise<void> {
  let [balances, holds] = [0, 0]
  await copyRows(sql, ACCOUNTS, COLUMNS, (values) => {
    const account = openRow(values, vault)
    balances += account.balances.length
    holds += account.holds.length
    seeOwed(account, see)
  })
  if (balances !== counts.balances || holds !== counts.holds) {
    throw new UnreadableRow(placeOf('accounts'), 'there are balances or holds of one that is not there')
  }
}

interface OpenedAccount {
  readonly document: AccountDocument
  readonly balances: readonly (readonly [tokenId: string, text: string])[]
  readonly holds: readonly Hold[]
}

function openRow(values: readonly CopiedValue[], vault: RowVault): OpenedAccount {
  const [shard, ref, version, status, sequence, tip, completed, failed, nfts, room, sealed, ...parts] = values
  const [masterKeyId = null, wrapped = null, tokens = null, balances = null, holdRefs = null, holdTexts = null] = parts
  const row: AccountRow = {
    shard_id: integerOf(shard),
    account_id: textOf(ref),
    version: bigintOf(version),
    status: textOf(status) as AccountRow['status'],
    sequence: bigintOf(sequence),
    tip: textOf(tip),
    completed_count: bigintOf(completed),
    failed_count: bigintOf(failed),
    nft_count: integerOf(nfts),
    nft_room: integerOf(room),
    document: bytesOf(sealed),
  }
  const name = keyNameOfAccountRow(row)
  if (masterKeyId !== null && wrapped !== null) takeKey(vault, name, { masterKeyId: textOf(masterKeyId), wrapped })
  const document = openAccount(row, vault)
  if (document.status === 'erased') return nothingOf(row, document, [tokens, holdRefs])
  const opened = openBalances(row, vault, elementsOf(tokens), elementsOf(balances))
  const holds = openHolds(row, document.accountId, vault, elementsOf(holdRefs), elementsOf(holdTexts))
  const texts: PartText[] = [
    ...opened.map(([tokenId, text]) => ['balance', tokenId, text] as const),
    ...holds.map(({ hold, text }) => ['hold', holdId(hold), text] as const),
  ]
  if (!(vault.mixes && document.parts === '') && digestOfTexts(texts, vault, name) !== document.parts) {
    const place = PLACES.account(row.shard_id, row.account_id, Number(row.version))
    throw new UnreadableRow(place, 'its balances or holds are not those that were written with it')
  }
  return { document, balances: opened, holds: holds.map(({ hold }) => hold) }
}

/** Nothing is owed to whom an account was that was erased, and nothing of it may be there. */
function nothingOf(
  { shard_id: shardId, account_id: ref, version }: AccountRow,
  document: AccountDocument,
  parts: readonly CopiedValue[],
): OpenedAccount {
  if (parts.every((part) => part === null)) return { document, balances: [], holds: [] }
  throw new UnreadableRow(PLACES.account(shardId, ref, Number(version)), 'it was erased, and something of it is there')
}

/** The key stands beside the rows that it is for: nothing is fetched for each. */
function takeKey(
  vault: RowVault,
  name: KeyName,
  wrapped: { readonly masterKeyId: string; readonly wrapped: Buffer },
): void {
  try {
    vault.keys.adopt({ name, key: vault.keys.unwrap(name, wrapped), wrapped })
  } catch (cause) {
    throw new UnreadableRow(placeOf('data_keys', name), 'it does not open', { cause })
  }
}

function openBalances(
  { shard_id: shardId, account_id: ref }: AccountRow,
  vault: RowVault,
  tokens: readonly Buffer[],
  documents: readonly Buffer[],
): OpenedAccount['balances'] {
  return tokens.map((token, index) => {
    const tokenId = token.toString('utf8')
    const place = PLACES.balance(shardId, ref, tokenId)
    return [tokenId, vault.open(accountKeyName(ref), place, bytesOf(documents[index]))]
  })
}

function openHolds(
  { shard_id: shardId, account_id: ref }: AccountRow,
  accountId: string,
  vault: RowVault,
  holdRefs: readonly Buffer[],
  documents: readonly Buffer[],
): readonly { readonly hold: Hold; readonly text: string }[] {
  return holdRefs.map((bytes, index) => {
    const holdRef = bytes.toString('utf8')
    const place = PLACES.hold(shardId, ref, holdRef)
    const text = vault.open(accountKeyName(ref), place, bytesOf(documents[index]))
    const hold = JSON.parse(text) as Hold
    if (holdRefOf(vault, accountId, holdId(hold)) !== holdRef) throw new UnreadableRow(place, 'it is of another hold')
    return { hold, text }
  })
}

function seeOwed({ document: { accountId }, balances, holds }: OpenedAccount, see: SeeOwed): void {
  const held = new Map<string, bigint>()
  for (const hold of holds) {
    const value = valueOf(hold)
    if (value === undefined) continue
    const { tokenId, quantity } = value
    held.set(tokenId, (held.get(tokenId) ?? 0n) + unitsOf(formatQuantity(quantity)))
  }
  for (const [tokenId, text] of balances) {
    see(accountId, tokenId, unitsOf(balanceIn(text)) + (held.get(tokenId) ?? 0n))
    held.delete(tokenId)
  }
  for (const [tokenId, units] of held) see(accountId, tokenId, units)
}
