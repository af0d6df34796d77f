/**
 * Checks the checkpoints of a database: that they are the service's, that none is missing, and that the entries of
 * that moment are still there and the same.
 *   K1. A checkpoint counts when its signature does, or when one that counts names it: so a revoked key takes those with it
 *       that nobody signed after it, and no others.
 *   K2. What one names is there, unless it is old enough to have been removed.
 *   K3. From the entries in the order of their commits come the same sums at every checkpoint's position. A shard of which
 *       they do not is named with the first checkpoint that shows it.
 */
import type postgres from 'postgres'
import type { AssertionKey } from '../../api/endpoint/assertion.ts'
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

/** Those who write checkpoints count time by their own clocks. */
const CLOCKS_APART_MS = 600_000

/** One a problem, for a person to read. */
export type CheckpointProblem = string

/** K1, K2. `checkpoints`: all, in order. `named`: by whoever knows what the newest ones once were. */
export function problemsOfChain(
  checkpoints: readonly StoredCheckpoint[],
  keys: readonly AssertionKey[],
  ledgerId: string,
  named: CheckpointLinks,
): readonly CheckpointProblem[] {
  const byNumber = new Map(checkpoints.map((checkpoint) => [checkpoint.statement.number, checkpoint]))
  const newest = checkpoints.at(-1)
  const nowMs = newest === undefined ? Number.NEGATIVE_INFINITY : signedAtMs(newest.statement)
  const vouched = new Set<string>()
  const problems: CheckpointProblem[] = []
  const follow = (links: CheckpointLinks, by: string): void => {
    for (const [level, link] of levelled(links)) {
      if (link === null) continue
      vouched.add(nameOf(link))
      const problem = problemOfLink(level, link, byNumber, nowMs)
      if (problem !== undefined) problems.push(`${problem}, which ${by} names`)
    }
  }
  follow(named, 'the file')
  for (const { statement, signed } of [...checkpoints].reverse()) {
    const problem = problemOfSigned(statement, signed, keys, ledgerId)
    if (problem !== undefined && !vouched.has(nameOf(linkTo(statement, signed)))) {
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

/** `nowMs`: of the newest checkpoint. Before its time is up by then nobody removes one. */
function problemOfLink(
  level: CheckpointLevel,
  link: CheckpointLink,
  byNumber: ReadonlyMap<number, StoredCheckpoint>,
  nowMs: number,
): string | undefined {
  const found = byNumber.get(link.number)
  if (found === undefined) {
    const isKept = nowMs - signedAtMs(link) < KEPT_MS[level] - CLOCKS_APART_MS
    return isKept ? `checkpoint ${link.number} is gone` : undefined
  }
  const isSame = linkTo(found.statement, found.signed).hash === link.hash
  return isSame ? undefined : `checkpoint ${link.number} is not the one`
}

function nameOf({ number, hash }: CheckpointLink): string {
  return `${number} ${hash}`
}

export interface Recomputed {
  /** How many checkpoints were computed again. */
  readonly checkpoints: number
  readonly problems: readonly CheckpointProblem[]
}

export interface Recomputing {
  readonly sql: postgres.Sql
  readonly keys: CheckpointKeys
  readonly shardCount: number
  /** Told now and then how many entries have been read. */
  readonly progress: (entries: number) => void
}

/** K3, for the checkpoints of the cluster that this is. */
export async function recompute(
  { sql, keys, shardCount, progress }: Recomputing,
  checkpoints: readonly StoredCheckpoint[],
): Promise<Recomputed> {
  const { server } = await feedNow(sql)
  const own = checkpoints.filter(({ statement }) => statement.server === server)
  const sums = ChainSums.empty(keys, shardCount)
  const shown = new Set<number>()
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
    const fresh = (differing ?? []).filter((shardId) => !shown.has(shardId))
    for (const shardId of fresh) shown.add(shardId)
    if (fresh.length === 0) continue
    problems.push(
      `checkpoint ${statement.number} of ${statement.signed_at}: ${shardsOf(fresh)}: entries of then are gone, or are others now`,
    )
  }
  return { checkpoints: own.length, problems }
}

/** Undefined when the row's sums are not those of its statement. */
async function differingShards(
  sql: postgres.Sql,
  { keys, shardCount }: Pick<Recomputing, 'keys' | 'shardCount'>,
  number: number,
  sums: ChainSums,
): Promise<readonly number[] | undefined> {
  const sealed = await sumsOf(sql, number)
  if (sealed === undefined) return undefined
  try {
    const differing = sums.differingShards(ChainSums.open(keys, shardCount, number, sealed))
    return differing.length === 0 ? undefined : differing
  } catch {
    // What does not open was not sealed here.
    return undefined
  }
}

const MOST_NAMED = 20

function shardsOf(shards: readonly number[]): string {
  const named = shards.slice(0, MOST_NAMED).join(', ')
  const others = shards.length - MOST_NAMED
  return `${shards.length === 1 ? 'shard' : 'shards'} ${named}${others > 0 ? ` and ${others} more` : ''}`
}
