/** A part of a load, ready to be copied into tables: receipts signed, rows as text, sums of what has no row of its own. */
import { receiptPayload } from '../../../actors/account/receipt.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import type { ShardDraft } from '../../../runtime/node/draft.ts'
import { processedIn, rowsOf } from '../../../runtime/node/rows.ts'
import type { ServiceKeys } from '../../../runtime/ports/service-keys.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { BoundaryCrossing } from '../../../runtime/ports/ledger-store.ts'
import { copyTextOf } from './copy-text.ts'

export interface LoadChunk {
  readonly tables: readonly ChunkTable[]
  readonly sums: LoadSums
}

export interface ChunkTable {
  readonly table: string
  readonly columns: readonly string[]
  /** UTF-8, whole lines. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Plain data, for it passes between threads. */
export interface LoadSums {
  readonly accounts: number
  readonly completed: number
  readonly failed: number
  readonly boundary: readonly BoundaryCrossing[]
  /** What shards have said to each other, all of which was taken in: the last number of each channel. */
  readonly channels: readonly Channel[]
}

export interface Channel {
  readonly source: number
  readonly target: number
  readonly sent: number
}

export const NOTHING_LOADED: LoadSums = { accounts: 0, completed: 0, failed: 0, boundary: [], channels: [] }

/** What receipts are signed with, and rows sealed. */
export interface ChunkSealing {
  readonly vault: RowVault
  readonly ledgerId: string
  readonly keyId: string
  readonly keys: Pick<ServiceKeys, 'sign'>
}

/** Of drafts whose messages have all been taken in, by each other. */
export async function chunkOf(
  taken: readonly ShardDraft[],
  { ledgerId, keyId, keys, vault }: ChunkSealing,
): Promise<LoadChunk> {
  const drafts = taken.map(ended)
  const payloads = drafts.flatMap(processedIn).map((transaction) => receiptPayload(transaction, ledgerId, keyId))
  const signatures = (await keys.sign(keyId, payloads)).values()
  const nextReceipt = () => {
    const { value, done } = signatures.next()
    if (done === true) throw new Error('there are more transactions than receipts')
    return { keyId, signature: value }
  }
  const parts = drafts.map((draft) => rowsOf(draft, nextReceipt))
  const encoder = new TextEncoder()
  const tables = copyTextOf(parts, vault).map(({ table, columns, text }) => ({
    table,
    columns,
    bytes: encoder.encode(text),
  }))
  return { tables, sums: sumsOf(drafts) }
}

/** A transaction that began and ended in one draft has one row, in its final state. */
function ended(draft: ShardDraft): ShardDraft {
  const { transactions, finished } = draft
  if (finished.size === 0) return draft
  return {
    ...draft,
    transactions: transactions.map((transaction) => ({ ...transaction, ...finished.get(transaction.txnId) })),
    finished: new Map(),
  }
}

function sumsOf(drafts: readonly ShardDraft[]): LoadSums {
  const statuses = drafts.flatMap(({ transactions }) => transactions.map(({ status }) => status))
  const actors = drafts.flatMap(({ changed }) => [...changed.values()])
  return {
    accounts: actors.filter(({ actor }) => actor.kind === 'account').length,
    completed: statuses.filter((status) => status === 'completed').length,
    failed: statuses.filter((status) => status === 'failed').length,
    boundary: summed(
      drafts.flatMap(({ boundary }) =>
        [...boundary].map(([tokenId, { credited, debited }]) => ({
          tokenId,
          credited: formatQuantity(credited),
          debited: formatQuantity(debited),
        })),
      ),
    ),
    channels: drafts.flatMap(({ incarnation, sent }) =>
      [...sent].map(([target, number]) => ({ source: incarnation.token.shardId, target, sent: number })),
    ),
  }
}

/** `later`: what was made after `earlier`, as far as both have said anything. */
export function addSums(earlier: LoadSums, later: LoadSums): LoadSums {
  return {
    accounts: earlier.accounts + later.accounts,
    completed: earlier.completed + later.completed,
    failed: earlier.failed + later.failed,
    boundary: summed([...earlier.boundary, ...later.boundary]),
    // Only founders write to each other: there are few of those, and many others.
    channels: later.channels.length === 0 ? earlier.channels : newest([...earlier.channels, ...later.channels]),
  }
}

function newest(channels: readonly Channel[]): readonly Channel[] {
  return [...new Map(channels.map((channel) => [`${channel.source} ${channel.target}`, channel])).values()]
}

/** One an asset. Totals may have more digits than a balance. */
function summed(crossings: readonly BoundaryCrossing[]): readonly BoundaryCrossing[] {
  const sums = new Map<string, { credited: Quantity; debited: Quantity }>()
  for (const { tokenId, credited, debited } of crossings) {
    const sum = sums.get(tokenId) ?? { credited: ZERO, debited: ZERO }
    sums.set(tokenId, {
      credited: sum.credited.plus(parseQuantity(credited)),
      debited: sum.debited.plus(parseQuantity(debited)),
    })
  }
  return [...sums].map(([tokenId, { credited, debited }]) => ({
    tokenId,
    credited: formatQuantity(credited),
    debited: formatQuantity(debited),
  }))
}
