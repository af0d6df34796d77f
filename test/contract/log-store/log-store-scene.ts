/** Commits and batches for tests of log stores. */
import { expect } from 'vitest'
import type { LogBatch, LogPosition, LogStore, StoredLogHead } from '../../../runtime/ports/log-store.ts'
import { grow, leafHash } from '../../../runtime/log/tree.ts'

export interface LogStoreSubject {
  readonly store: LogStore
  /** Another store on the same data. */
  readonly other: LogStore
  /** Commits so many chain entries at once, and returns them as the log has them. */
  readonly commit: (count: number) => Promise<readonly Buffer[]>
  /** Starts a commit of so many chain entries: it has its place before those that start later, and is not visible. */
  readonly begin: (count: number) => Promise<CommitInFlight>
  /** Ends the lease as time would. */
  readonly expireLease: () => Promise<void>
  /** A read ends with the first commit with which it has so many entries. */
  readonly pieceEntries: number
  /** The database is one that no administrator has accepted. */
  readonly loseAcceptance: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface CommitInFlight {
  readonly entries: readonly Buffer[]
  readonly commit: () => Promise<void>
  readonly rollBack: () => Promise<void>
}

/** `head`: what the batch is computed from. */
export function batchOn(
  head: StoredLogHead,
  entries: readonly Buffer[],
  position: LogPosition = head.position,
): LogBatch {
  return { entries, position, ...grow(head.edge, Buffer.concat(entries.map(leafHash))) }
}

/** So many entries that no other call returns. */
export function someEntries(count: number): readonly Buffer[] {
  return Array.from({ length: count }, () => {
    made += 1
    return Buffer.alloc(48, `entry ${made} `)
  })
}

let made = 0

/** Adds a batch to the present head. */
export async function added(store: LogStore, count: number): Promise<StoredLogHead> {
  const head = await store.head()
  const batch = batchOn(head, someEntries(count))
  expect(await store.append(head, batch)).toBe(true)
  return { edge: batch.edge, position: batch.position }
}

/** Order within a batch tells nothing. */
export function sorted(entries: readonly Buffer[]): readonly string[] {
  return entries.map((entry) => entry.toString('hex')).toSorted()
}

/** Reads on until there are so many entries. */
export async function readOn(store: LogStore, position: LogPosition, count: number) {
  const entries: Buffer[] = []
  let at = position
  await expect
    .poll(async () => {
      const found = await store.since(at)
      entries.push(...found.entries)
      at = found.position
      return entries.length
    })
    .toBeGreaterThanOrEqual(count)
  return { entries, position: at }
}
