/** Reads the liabilities to the accounts of a range of shards. Several threads read one snapshot, a range each. */
import type postgres from 'postgres'
import { LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { eachOwed, type PartCounts, type ShardRange } from './liability-accounts.ts'
import { type BookOptions, LiabilityBook } from './liability-book.ts'

export interface RangeTask extends BookOptions {
  readonly shards: ShardRange
  /** Value in transit to or from accounts, by account and token (`movingKey`). */
  readonly moving: ReadonlyMap<string, bigint>
}

export interface RangeRead {
  readonly book: LiabilityBook
  readonly counts: PartCounts
  /** Keys of `moving` that are in the book. */
  readonly taken: readonly string[]
  /** Tokens of which an account is owed a negative amount. */
  readonly negative: readonly string[]
}

/** IDs of accounts and tokens do not contain it. */
const BETWEEN = '\t'

export function movingKey(accountId: string, tokenId: string): string {
  return `${accountId}${BETWEEN}${tokenId}`
}

export function movingOf(key: string): readonly [accountId: string, tokenId: string] {
  const [accountId = '', tokenId = ''] = key.split(BETWEEN)
  return [accountId, tokenId]
}

/** The keys of accounts come with their rows instead. */
export async function fetchShardKeys(sql: postgres.ISql, vault: RowVault, shardCount: number): Promise<void> {
  const shards = Array.from({ length: shardCount }, (_, shardId) => shardKeyName(shardId))
  await vault.keys.fetch(sql, [...shards, LEDGER_KEY_NAME])
}

/** The keys of the shards must have been fetched. `check` may throw to end the read. Else throws like `eachOwed`. */
export async function readRange(
  sql: postgres.TransactionSql,
  vault: RowVault,
  { shards, moving, ...options }: RangeTask,
  check: () => void = () => undefined,
): Promise<RangeRead> {
  const book = new LiabilityBook(options)
  const taken = new Set<string>()
  const negative = new Set<string>()
  const counts = await eachOwed(sql, vault, shards, (accountId, tokenId, units) => {
    check()
    owe(book, negative, accountId, tokenId, units + takeMoving(moving, taken, accountId, tokenId))
  })
  return { book, counts, taken: [...taken], negative: [...negative] }
}

/** Throws UnreadableLiability. */
export function owe(
  book: LiabilityBook,
  negative: Set<string>,
  accountId: string,
  tokenId: string,
  units: bigint,
): void {
  if (units > 0n) book.add(Buffer.from(accountId, 'latin1'), tokenId, units)
  else if (units < 0n) negative.add(tokenId)
}

function takeMoving(
  moving: ReadonlyMap<string, bigint>,
  taken: Set<string>,
  accountId: string,
  tokenId: string,
): bigint {
  if (moving.size === 0) return 0n
  const key = movingKey(accountId, tokenId)
  const units = moving.get(key)
  if (units === undefined || taken.has(key)) return 0n
  taken.add(key)
  return units
}
