/**
 * Compares the commits that a store knows to be answered with the tables on each new connection: the simulated half of
 * infra/postgres/store/evidence.ts, by the same rule (E1 there).
 */
import { addressOf, type CommitBatch, type ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { Rows } from './rows.ts'

export interface SimEvidence {
  /** Records that these shards of the batch were answered as committed. */
  readonly note: (batch: CommitBatch, committed: ReadonlySet<number>) => void
  /** A shard that lacks an answered commit; undefined if none does. */
  readonly lackingShard: (rows: Rows) => number | undefined
}

/** The latest of each kind. */
interface LatestRows {
  account?: { readonly accountId: string; readonly version: number }
  sent?: { readonly target: number; readonly number: number }
  mark?: { readonly source: number; readonly number: number }
}

export function createSimEvidence(): SimEvidence {
  const shards = new Map<number, LatestRows>()

  function noteShard({ token, accounts, sent, marks }: ShardBatch): void {
    const known = shards.get(token.shardId) ?? {}
    const account = accounts.at(-1)?.account
    const counter = sent.at(-1)
    const mark = marks.at(-1)
    if (account !== undefined) known.account = { accountId: account.accountId, version: account.version }
    if (counter !== undefined) known.sent = { target: counter.target, number: counter.sent }
    if (mark !== undefined) known.mark = { source: mark.source, number: mark.mark }
    shards.set(token.shardId, known)
  }

  return {
    note: ({ shards: parts }, committed) => {
      for (const part of parts) if (committed.has(part.token.shardId)) noteShard(part)
    },
    lackingShard: (rows) => [...shards].find(([shardId, known]) => lacks(rows, shardId, known))?.[0],
  }
}

function lacks(rows: Rows, shardId: number, { account, sent, mark }: LatestRows): boolean {
  const version = account && (rows.accounts.get(addressOf({ ...account, shardId }))?.version ?? 0)
  const channel = sent && rows.channels.channelStarts(shardId).find(({ target }) => target === sent.target)
  const taken = mark && rows.channels.marks(shardId).find(({ source }) => source === mark.source)
  return (
    (version ?? 0) < (account?.version ?? 0) ||
    (channel?.sent ?? 0) < (sent?.number ?? 0) ||
    (taken?.mark ?? 0) < (mark?.number ?? 0)
  )
}
