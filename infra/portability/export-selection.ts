/** Selects the content of an export, and finds every reason for refusal before the first line (X2 of the port). */
import type postgres from 'postgres'
import type { AccountScope } from '../../actors/account-scope.ts'
import { BASE_UNIT, formatQuantity } from '../../actors/money.ts'
import type { BegunExport, ExportOrder } from '../../runtime/ports/ledger-exports.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow } from '../postgres/rows/actor-documents.ts'
import type { AccountPlace } from '../postgres/reads/account-reads.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { erasedAmong } from '../postgres/rows/erased-accounts.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { encryptBalance } from '../keys/balance-jwe.ts'
import { readAccounts, type ReadAccount } from './export-accounts.ts'
import { LONGEST_RECORD } from './export-lines.ts'
import type { ExportedAccount } from './export-records.ts'
import { openInstances, OWNED, withHistories } from './export-things.ts'

export type Refused = Extract<BegunExport, { readonly kind: 'refused' }>

export interface Selection {
  /** Some accounts are left out. */
  readonly partial: boolean
  /** null: all accounts. */
  readonly places: readonly AccountPlace[] | null
  /** References of the same accounts. */
  readonly owners: readonly string[] | null
  /** Tokens that these accounts hold, without the base unit; null: all tokens. */
  readonly tokenIds: ReadonlySet<string> | null
}

export interface SelectionContext {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  readonly shardOf: (accountId: string) => number
}

/** Accounts selected by prefix. They are kept in memory during the export. */
const MAX_SCOPED = 100_000

/** Throws UnreadableRow or an error of the driver. */
export async function select(context: SelectionContext, order: ExportOrder): Promise<Selection | Refused> {
  const selected = await selectAccounts(context, order)
  if ('kind' in selected) return selected
  return (await problemOfNfts(context, selected.owners)) ?? selected
}

function selectAccounts(context: SelectionContext, order: ExportOrder): Promise<Selection | Refused> {
  const { accountIds, scope } = order
  if (accountIds !== null) return selectNamed(context, order, accountIds)
  if (scope.whole) return selectAll(context, order)
  if (scope.ids === null) return lookAt(context, order, null, scope)
  return lookAt(context, order, placesOf(context, scope.ids))
}

async function selectNamed(
  context: SelectionContext,
  order: ExportOrder,
  accountIds: readonly string[],
): Promise<Selection | Refused> {
  const { sql, vault } = context
  const inside = accountIds.filter((accountId) => order.scope.includes(accountId))
  const selected = await lookAt(context, order, placesOf(context, inside))
  if ('kind' in selected) return selected
  const found = new Set(selected.owners)
  const refs = accountIds.map((accountId) => vault.accountRef(accountId))
  const missing = refs.findIndex((ref) => !found.has(ref))
  if (missing < 0) return selected
  const field = `account_ids[${missing}]`
  const ref = refs[missing] ?? ''
  const isInside = order.scope.includes(accountIds[missing] ?? '')
  const isErased = isInside && (await erasedAmong(sql, [ref], vault)).has(ref)
  return isErased
    ? conflict('The account was erased and cannot be exported.', field)
    : { kind: 'refused', code: 'not_found', detail: 'There is no such account.', field }
}

function placesOf({ vault, shardOf }: SelectionContext, accountIds: readonly string[]): readonly AccountPlace[] {
  return accountIds.map((accountId) => ({
    accountId,
    shardId: shardOf(accountId),
    ref: vault.accountRef(accountId),
  }))
}

/** Finds the accounts that exist. `places` is null: all accounts, filtered by `scope`. */
async function lookAt(
  { sql, vault }: SelectionContext,
  order: ExportOrder,
  places: readonly AccountPlace[] | null,
  scope?: AccountScope,
): Promise<Selection | Refused> {
  const { mode, audience, recipient } = order
  const found: AccountPlace[] = []
  const tokenIds = new Set<string>()
  const refusing = (detail: string, accountId: string): Refused => conflict(detail, fieldOf(order, accountId))
  const entryBytes = bytesOfBalance(recipient)
  for await (const read of readAccounts(sql, { name: 'look', vault, places })) {
    const { accountId } = read.document
    if (scope !== undefined && !scope.includes(accountId)) continue
    if (isLeftOut(read, mode)) {
      if (order.accountIds === null) continue
      return refusing(
        `Account ${accountId} has moved, or is moving, to another ledger. Export it to that ledger, in the mode \`move\`.`,
        accountId,
      )
    }
    if (found.length === MAX_SCOPED) {
      return conflict(`The scope has more than ${MAX_SCOPED} accounts. Export them in parts.`, null)
    }
    found.push({ accountId, shardId: read.row.shard_id, ref: read.row.account_id })
    const { balances } = exportedAccount(read, mode === 'move' ? audience : null)
    for (const tokenId of balances.keys()) if (tokenId !== BASE_UNIT) tokenIds.add(tokenId)
    if (balances.size * entryBytes > LONGEST_RECORD) {
      return refusing(
        `Account ${accountId} holds too many assets: its record would exceed ${LONGEST_RECORD} bytes.`,
        accountId,
      )
    }
  }
  return { partial: true, places: found, owners: found.map(({ ref }) => ref), tokenIds }
}

/** Size of a balance in a record, for the longest token ID. */
function bytesOfBalance(recipient: ExportOrder['recipient']): number {
  const longest = 'X'.repeat(64)
  const encrypted = encryptBalance(recipient, { accountId: 'x', tokenId: longest }, '1')
  return JSON.stringify({ token_id: longest, encrypted_balance: encrypted }).length + 1
}

/** Accounts with at most this many balances always fit into a record. */
const FEW_BALANCES = 500
const MANY_BALANCES = `
SELECT b.shard_id, b.account_id FROM balances b GROUP BY b.shard_id, b.account_id HAVING count(*) > ${FEW_BALANCES}
 LIMIT 1000`

async function selectAll(context: SelectionContext, order: ExportOrder): Promise<Selection | Refused> {
  const rows = await context.sql.unsafe<{ shard_id: number; account_id: string }[]>(MANY_BALANCES)
  const places = rows.map(({ shard_id: shardId, account_id: ref }) => ({ accountId: '', shardId, ref }))
  if (places.length > 0) {
    const looked = await lookAt(context, order, places)
    if ('kind' in looked) return looked
  }
  return { partial: false, places: null, owners: null, tokenIds: null }
}

/** A moved or moving account is only exported to its new ledger: a copy would take its place there, empty. */
export function isLeftOut({ document }: ReadAccount, mode: ExportOrder['mode']): boolean {
  return mode === 'copy' && document.moved !== undefined
}

/** `movedTo`: show an account that moved there as it was before it closed; null: as it is. */
export function exportedAccount({ document, balances }: ReadAccount, movedTo: string | null): ExportedAccount {
  const { moved, status } = document
  const hasMoved = movedTo !== null && status === 'closed' && moved?.audience === movedTo
  const held = hasMoved
    ? Object.entries(moved.balances)
    : [...balances].map(([tokenId, { balance }]) => [tokenId, formatQuantity(balance)] as const)
  return {
    account: hasMoved ? { ...document, status: 'frozen' } : document,
    balances: new Map(held.filter(([, balance]) => balance !== '0')),
  }
}

/** Events of NFTs that are exported. */
function eventsOf(owners: readonly string[] | null): { readonly from: string; readonly parameters: readonly string[] } {
  if (owners === null) return { from: 'nft_events e', parameters: [] }
  return {
    from: `nft_events e JOIN actors a ON a.shard_id = e.shard_id AND a.actor_id = e.nft_id AND ${OWNED}`,
    parameters: [arrayLiteral('text', owners)],
  }
}

const ERASED = `(SELECT account_id FROM accounts WHERE status = 'erased')`
/** Bytes of an event in a record, without its payload. */
const EVENT_BYTES = 600
/** Longest metadata, with escapes. */
const METADATA_BYTES = 200_000

async function problemOfNfts(
  { sql, vault }: SelectionContext,
  owners: readonly string[] | null,
): Promise<Refused | undefined> {
  const { from, parameters } = eventsOf(owners)
  const [named] = await sql.unsafe<{ nft_id: string }[]>(
    `SELECT e.nft_id FROM ${from}
      WHERE EXISTS (SELECT FROM accounts WHERE status = 'erased')
        AND (e.from_account_id IN ${ERASED} OR e.to_account_id IN ${ERASED}) LIMIT 1`,
    [...parameters],
  )
  if (named !== undefined) return conflict(`The history of NFT ${named.nft_id} names an erased account.`, null)
  const long = await sql.unsafe<{ nft_id: string; bytes: number }[]>(
    `SELECT e.nft_id, sum(octet_length(e.payload))::float8 AS bytes FROM ${from} GROUP BY e.nft_id
     HAVING sum(2 * octet_length(e.payload) + ${EVENT_BYTES}) > ${LONGEST_RECORD - METADATA_BYTES}`,
    [...parameters],
  )
  for (const { nft_id: nftId, bytes } of long) {
    // Sealing makes a text at most a quarter longer.
    const isTooLong = bytes > 2 * LONGEST_RECORD || (await bytesOfInstance(sql, vault, nftId)) > LONGEST_RECORD
    if (isTooLong)
      return conflict(`The history of NFT ${nftId} is too long: its record would exceed ${LONGEST_RECORD} bytes.`, null)
  }
  return undefined
}

/** Bytes of a line's number and hash. */
const LINE_BYTES = 200

async function bytesOfInstance(sql: postgres.Sql, vault: RowVault, nftId: string): Promise<number> {
  const rows = await sql.unsafe<ActorRow[]>(
    `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.kind = 'instance' AND a.actor_id = $1`,
    [nftId],
  )
  let bytes = LINE_BYTES
  for await (const record of withHistories(sql, vault, await openInstances(sql, vault, rows))) {
    bytes += Buffer.byteLength(JSON.stringify(record), 'utf8')
  }
  return bytes
}

export function conflict(detail: string, field: string | null): Refused {
  return { kind: 'refused', code: 'conflict', detail, field }
}

/** Field of the order that names the account; null: none does. */
export function fieldOf({ accountIds }: Pick<ExportOrder, 'accountIds'>, accountId: string): string | null {
  const index = accountIds?.indexOf(accountId) ?? -1
  return index < 0 ? null : `account_ids[${index}]`
}
