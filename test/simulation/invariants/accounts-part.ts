/** One account's part of a commit, as the account checker processes it. */
import type { ArrivalHold } from '../../../actors/account/state.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { Message } from '../../../actors/message.ts'
import type { ShardBatch, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { unitsOf } from '../reference/fields.ts'
import type { Holdings } from '../reference/funds.ts'
import type { AccountModel, ModelState } from '../reference/model.ts'

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
  /** Transactions that completed or failed in this commit, whether they began in it or before. */
  readonly ended: readonly TransactionRecord[]
  /** The index of the state in which each completed transaction was decided. */
  readonly decidedOn: Map<string, number>
  /** Whether open groups burn some of the asset: the balance still contains that amount. */
  readonly burnsInGroups: boolean
  /** The index of the first state in which any decision of this part may have been made. */
  readonly firstIndex: number
  /** The import hold before and after the commit. */
  readonly held: { readonly before: ArrivalHold | undefined; readonly after: ArrivalHold | undefined }
  /** Imports whose arrival the account has taken, and the value that came with them. */
  readonly taken: string[]
  readonly arrived: Map<string, bigint>
  /** Amounts that holds took, or gave back. */
  readonly onHold: (readonly [tokenId: string, amount: string])[]
}

/** Whether the account owns NFTs or keeps room for one. The count is compared with the NFTs' own homes at the end. */
export function ownsNfts({ accounts }: ShardBatch, accountId: string): boolean {
  const written = accounts.find(({ account }) => account.accountId === accountId)?.account
  return written !== undefined && written.nftCount + written.nftRoom > 0
}

/** The largest amount of each asset that can have moved within the commit. */
export function movements({ news, ended, heard, held, arrived, onHold }: Part): ReadonlyMap<string, bigint> {
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
  for (const [tokenId, amount] of onHold) add(tokenId, amount)
  for (const message of heard) {
    if ('terms' in message) add(message.terms.tokenId, message.terms.amount)
    if ('tokenId' in message && 'amount' in message) add(message.tokenId, message.amount)
  }
  return moved
}
