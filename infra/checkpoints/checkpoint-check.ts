/**
 * Checks a database's checkpoints: the service signed them, none is missing, and the entries they cover are unchanged.
 *   K1. A checkpoint is valid if its signature verifies or a valid checkpoint links to it. A revoked key therefore
 *       invalidates only the checkpoints after the last one that a valid key signed.
 *   K2. A linked checkpoint exists, unless it is old enough to have been removed.
 *   K3. The entries, added in commit order, give the same sums at every checkpoint's position. A shard that differs is
 *       reported with the first checkpoint that shows the difference.
 */
import type postgres from 'postgres'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'
import { addPiece, feedNow, type StoredCheckpoint, sumsOf } from './checkpoint-rows.ts'
import {
  type CheckpointLevel,
  type CheckpointLink,
  type CheckpointLinks,
  KEPT_MS,
  linkTo,
  problemOfSigned,
  signedAtMs,
} from './checkpoint-statement.ts'
import { type CheckpointKeys, ChainSums } from './checkpoint-sums.ts'

/** Processes that write checkpoints use their own clocks. */
const MAX_CLOCK_SKEW_MS = 600_000

/** A problem as text for the operator. */
export type CheckpointProblem = string

/** Checks K1 and K2. `checkpoints`: all, in order. `named`: links from a file that was kept outside the database. */
export function problemsOfChain(
  checkpoints: readonly StoredCheckpoint[],
  keys: readonly PublishedKey<string>[],
  ledgerId: string,
  named: CheckpointLinks,
): readonly CheckpointProblem[] {
  const byNumber = new Map(checkpoints.map((checkpoint) => [checkpoint.statement.number, checkpoint]))
  const newest = checkpoints.at(-1)
  const nowMs = newest === undefined ? Number.NEGATIVE_INFINITY : signedAtMs(newest.statement)
  const linked = new Set<string>()
  const problems: CheckpointProblem[] = []
  const follow = (links: CheckpointLinks, by: string): void => {
    for (const [level, link] of levelled(links)) {
      if (link === null) continue
      linked.add(nameOf(link))
      const problem = problemOfLink(level, link, byNumber, nowMs)
      if (problem !== undefined) problems.push(`checkpoint ${link.number} ${problem}, but ${by} links to it`)
    }
  }
  follow(named, 'the file')
  for (const { statement, signed } of [...checkpoints].reverse()) {
    const problem = problemOfSigned(statement, signed, keys, ledgerId)
    if (problem !== undefined && !linked.has(nameOf(linkTo(statement, signed)))) {
      problems.push(`checkpoint ${statement.number}: ${problem}`)
      continue
    }
    follow(statement.links, `checkpoint ${statement.number}`)
  }
  return [...new Set(problems)]
}

function levelled({ previous, hour, day }: CheckpointLinks): readonly [CheckpointLevel, CheckpointLink | null][] {
  return [
    ['day', day],
    ['hour', hour],
    ['minute', previous],
  ]
}

/** `nowMs`: time of the newest checkpoint. A checkpoint within its retention at that time cannot have been removed. */
function problemOfLink(
  level: CheckpointLevel,
  link: CheckpointLink,
  byNumber: ReadonlyMap<number, StoredCheckpoint>,
  nowMs: number,
): string | undefined {
  const found = byNumber.get(link.number)
  if (found === undefined) {
    const isKept = nowMs - signedAtMs(link) < KEPT_MS[level] - MAX_CLOCK_SKEW_MS
    return isKept ? 'is gone' : undefined
  }
  const isSame = linkTo(found.statement, found.signed).hash === link.hash
  return isSame ? undefined : 'has changed'
}

function nameOf({ number, hash }: CheckpointLink): string {
  return `${number} ${hash}`
}

export interface RecomputeResult {
  /** Number of checkpoints that were recomputed. */
  readonly checkpoints: number
  readonly problems: readonly CheckpointProblem[]
}

export interface RecomputeOptions {
  readonly sql: postgres.Sql
  readonly keys: CheckpointKeys
  readonly shardCount: number
  /** Called after each piece with the number of entries read so far. */
  readonly progress: (entries: number) => void
}

/** Checks K3 for the checkpoints that this PostgreSQL cluster wrote. */
export async function recompute(
  { sql, keys, shardCount, progress }: RecomputeOptions,
  checkpoints: readonly StoredCheckpoint[],
): Promise<RecomputeResult> {
  const { server } = await feedNow(sql)
  const own = checkpoints.filter(({ statement }) => statement.server === server)
  const sums = ChainSums.empty(keys, shardCount)
  const reported = new Set<number>()
  const problems: CheckpointProblem[] = []
  let position = '0'
  let entries = 0
  for (const { statement } of own) {
    while (BigInt(position) < BigInt(statement.position)) {
      const added = await addPiece(sql, { from: position, until: statement.position }, (shardId, entry) =>
        sums.add(shardId, entry),
      )
      position = added.position
      entries += added.entries
      progress(entries)
    }
    if (sums.digest() === statement.chains) continue
    const differing = await differingShards(sql, { keys, shardCount }, statement.number, sums)
    if (differing === undefined)
      problems.push(`checkpoint ${statement.number}: its sums are not those that were signed`)
    const fresh = (differing ?? []).filter((shardId) => !reported.has(shardId))
    for (const shardId of fresh) reported.add(shardId)
    if (fresh.length === 0) continue
    problems.push(
      `checkpoint ${statement.number} of ${statement.signed_at}: ${shardsOf(fresh)}: entries were removed or changed since`,
    )
  }
  return { checkpoints: own.length, problems }
}

/** Undefined when the row's sums do not match its statement. */
async function differingShards(
  sql: postgres.Sql,
  { keys, shardCount }: Pick<RecomputeOptions, 'keys' | 'shardCount'>,
  number: number,
  sums: ChainSums,
): Promise<readonly number[] | undefined> {
  const sealed = await sumsOf(sql, number)
  if (sealed === undefined) return undefined
  try {
    const differing = sums.differingShards(ChainSums.open(keys, shardCount, number, sealed))
    return differing.length === 0 ? undefined : differing
  } catch {
    // These sums were not sealed with this ledger's keys.
    return undefined
  }
}

const MOST_NAMED = 20

function shardsOf(shards: readonly number[]): string {
  const named = shards.slice(0, MOST_NAMED).join(', ')
  const others = shards.length - MOST_NAMED
  return `${shards.length === 1 ? 'shard' : 'shards'} ${named}${others > 0 ? ` and ${others} more` : ''}`
}
