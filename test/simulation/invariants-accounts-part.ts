/** One account's part of a commit, as the replay of accounts goes through it. */
import type { ArrivalHold } from '../../actors/account/state.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import type { Message } from '../../actors/message.ts'
import type { ShardBatch, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { unitsOf } from './reference-fields.ts'
import type { Holdings } from './reference-funds.ts'
import type { AccountModel, ModelState } from './reference-model.ts'

export type EntryFields = Readonly<Record<string, string | number | null>>
export type Chained = Pick<ModelState, 'fromMs' | 'sequence' | 'tip'>

/** One account's part of a commit. */
export interface Part {
  readonly at: string
  readonly accountId: string
  readonly model: AccountModel
  readonly batch: ShardBatch
  readonly heard: readonly Message[]
  readonly before: Holdings
  readonly after: Holdings
  readonly news: readonly TransactionWrite[]
  /** What completed or failed, new or not. */
  readonly ended: readonly TransactionRecord[]
  /** The index of the state that each completed transaction was decided on. */
  readonly decidedOn: Map<string, number>
  /** Whether groups burn, or have burned, something of it: that is in its balance, and counts no more. */
  readonly burnsInGroups: boolean
  /** The index of the first state that anything here may have been decided on. */
  readonly firstIndex: number
  /** What was held of an import before, and is held now. */
  readonly held: { readonly before: ArrivalHold | undefined; readonly after: ArrivalHold | undefined }
  /** Imports of which it has taken its own, and what came with them. */
  readonly taken: string[]
  readonly arrived: Map<string, bigint>
}

/** Or keeps room for one: what the account counts is held against the NFTs' own homes at the end. */
export function ownsNfts({ accounts }: ShardBatch, accountId: string): boolean {
  const written = accounts.find(({ account }) => account.accountId === accountId)?.account
  return written !== undefined && written.nftCount + written.nftRoom > 0
}

/** As much as can have moved to and fro within the commit, of each asset. */
export function movements({ news, ended, heard, held, arrived }: Part): ReadonlyMap<string, bigint> {
  const moved = new Map<string, bigint>()
  const add = (tokenId: string, amount: string): void => {
    moved.set(tokenId, (moved.get(tokenId) ?? 0n) + unitsOf(amount))
  }
  for (const { tokenId, amount, receive } of [...news.map(({ transaction }) => transaction), ...ended]) {
    add(tokenId, amount)
    if (receive !== null) add(receive.tokenId, receive.amount)
  }
  for (const hold of [held.before, held.after]) {
    for (const [tokenId, amount] of Object.entries(hold?.account.balances ?? {})) add(tokenId, amount)
  }
  for (const [tokenId, units] of arrived) moved.set(tokenId, (moved.get(tokenId) ?? 0n) + units)
  for (const message of heard) {
    if ('terms' in message) add(message.terms.tokenId, message.terms.amount)
    if ('tokenId' in message && 'amount' in message) add(message.tokenId, message.amount)
  }
  return moved
}
