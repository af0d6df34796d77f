/** Balances as entries of a chain state them. */
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { BalanceAt, Movement } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { type ChainEntryRow, payloadOf } from './chain-entries.ts'
import { opened } from './opened-rows.ts'
import { PLACES } from './row-sealer.ts'
import { openTransaction } from './transaction-document.ts'

/** The balance of one asset after an entry. */
export interface Stated {
  readonly sequence: number
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly balance: Quantity
  readonly available: Quantity
  readonly incoming: Quantity
  /** The transaction that the entry completes or settles; null: an arrival. */
  readonly txnId: string | null
  readonly type: Movement['type']
  /** The quantity that the entry moves, in either direction. */
  readonly amount: Quantity
}

/** Balances that an imported account brought. */
export interface Arrival {
  readonly sequence: number
  readonly atMs: number
  readonly balances: Readonly<Record<string, string>>
}

/** Members of an entry that is no transaction. */
interface Fact {
  readonly kind: string
  readonly processed_at: string
  readonly balances: Readonly<Record<string, string>>
  readonly amount: string
  readonly balance_after: string
  readonly available_after: string
  readonly incoming?: string
  readonly settles: string
  readonly type: Movement['type']
}

/** Of an entry that changes this asset's balance; its account's key must have been fetched. Throws UnreadableRow. */
export function statedIn(row: ChainEntryRow, tokenId: string, vault: RowVault): Stated {
  const place = nameOf(row)
  return opened(place, () => {
    const [balance, available, incoming, rest] =
      row.txn_id === null ? factIn(row, vault) : transactionIn(row, tokenId, vault)
    if (balance === null || available === null) throw new UnreadableRow(place, 'it states no balance of the asset')
    return {
      sequence: Number(row.sequence),
      balance: parseQuantity(balance),
      available: parseQuantity(available),
      incoming: parseQuantity(incoming ?? '0'),
      ...rest,
    }
  })
}

type Read = readonly [
  balance: string | null,
  available: string | null,
  incoming: string | null,
  rest: Pick<Stated, 'atMs' | 'txnId' | 'type' | 'amount'>,
]

function transactionIn(row: ChainEntryRow & { readonly txn_id: string }, tokenId: string, vault: RowVault): Read {
  const { transaction } = openTransaction(row, vault)
  const { entry, receive, txnId, type, processedAtMs } = transaction
  const rest = { atMs: processedAtMs ?? 0, txnId, type }
  if (transaction.tokenId === tokenId) {
    const amount = parseQuantity(transaction.amount)
    return [entry?.balance ?? null, entry?.available ?? null, entry?.incoming ?? null, { ...rest, amount }]
  }
  const amount = parseQuantity(receive?.amount ?? '0')
  const { receivedBalance = null, receivedAvailable = null, receivedIncoming = null } = entry ?? {}
  return [receivedBalance, receivedAvailable, receivedIncoming, { ...rest, amount }]
}

function factIn(row: ChainEntryRow & { readonly txn_id: null }, vault: RowVault): Read {
  const fact = JSON.parse(payloadOf(row, vault)) as Fact
  const { balance_after: balance, available_after: available, incoming = null, settles: txnId, type } = fact
  return [balance, available, incoming, { atMs: timeOf(fact), txnId, type, amount: parseQuantity(fact.amount) }]
}

/** Throws UnreadableRow. */
export function arrivalIn(row: ChainEntryRow, vault: RowVault): Arrival {
  return opened(nameOf(row), () => {
    const fact = JSON.parse(payloadOf(row, vault)) as Fact
    return { sequence: Number(row.sequence), atMs: timeOf(fact), balances: fact.balances }
  })
}

/** The balance once the account has arrived; null if it brought nothing of the asset. */
export function withArrival(tokenId: string, before: Stated | null, arrival: Arrival): Stated | null {
  const { sequence, atMs, balances } = arrival
  const text = Object.hasOwn(balances, tokenId) ? balances[tokenId] : undefined
  if (text === undefined) return null
  const amount = parseQuantity(text)
  const { balance, available, incoming } = before ?? { balance: ZERO, available: ZERO, incoming: ZERO }
  const after = { balance: balance + amount, available: available + amount, incoming }
  return { sequence, atMs, txnId: null, type: 'import', amount, ...after }
}

/** Empty: the entry did not change the balance, as that of a leg whose group has not settled. Throws UnreadableRow. */
export function movementOf(row: ChainEntryRow, after: Stated, before: Stated | null): readonly Movement[] {
  const { sequence, txnId, type, atMs, balance } = after
  const moved = balance - (before?.balance ?? ZERO)
  if (moved === 0n) return []
  const quantity = moved < 0n ? -moved : moved
  if (quantity !== after.amount)
    throw new UnreadableRow(nameOf(row), 'its balance does not follow from the entry before')
  const amount = `${moved < 0n ? '-' : '+'}${formatQuantity(quantity)}`
  return [{ sequence, txnId, type, amount, balanceAfter: formatQuantity(balance), atMs }]
}

export function viewAt(
  tokenId: string,
  { balance, available, incoming, atMs, sequence }: Stated,
  decimals: number,
): BalanceAt {
  return {
    tokenId,
    tokenClass: 'fungible',
    decimals,
    balance: formatQuantity(balance),
    available: formatQuantity(available),
    incoming: formatQuantity(incoming),
    updatedAtMs: atMs,
    sequence,
  }
}

function timeOf({ processed_at: at }: Fact): number {
  return parseTimestamp(at) ?? Number.NaN
}

function nameOf({ shard_id: shardId, account_id: ref, sequence }: ChainEntryRow): string {
  return PLACES.entry(shardId, ref, Number(sequence))
}
