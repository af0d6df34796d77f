/**
 * The rows of shards in the simulated database: the owner of each, and the statements that change it.
 *   B2. A statement waits up to 500 ms for the lock of its row.
 */
import type { AcquireResult, ShardRecord, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { ShardChange } from './applied.ts'
import type { Connection } from './connections.ts'
import type { RowLocks } from './locks.ts'
import type { ShardRow } from './rows.ts'
import { EPOCH_LEAP } from './servers.ts'

/** `lock_timeout` of statements that wait for a shard's row. */
export const LOCK_TIMEOUT_MS = 500

export interface AcquireWish {
  readonly shardId: number
  readonly seenEpoch: number
  readonly nextEpoch: number
}

export interface ShardTableOptions {
  readonly kernel: Kernel
  readonly locks: RowLocks
  /** Of the server that runs. */
  readonly rows: () => Map<number, ShardRow>
  /** False for the mutation: an acquire does not look at the epoch. */
  readonly acquireCompares: boolean
}

export class ShardTable {
  private readonly options: ShardTableOptions
  private readonly listeners: ((change: ShardChange) => void)[] = []

  constructor(options: ShardTableOptions) {
    this.options = options
  }

  onChange(listener: (change: ShardChange) => void): void {
    this.listeners.push(listener)
  }

  row(shardId: number): ShardRow {
    const row = this.options.rows().get(shardId)
    if (row === undefined) throw new Error(`no shard ${shardId}`)
    return row
  }

  records(): readonly ShardRecord[] {
    return [...this.options.rows()].map(([shardId, row]) => ({ shardId, ...row }))
  }

  /** No shard has an owner any more, and no epoch that was given out is above the new ones. */
  disown(): void {
    for (const { shardId, epoch } of this.records()) {
      this.set(shardId, { epoch: epoch + EPOCH_LEAP, attempt: 0, nodeId: null, session: null })
    }
  }

  /** Executes an acquire that has arrived, and answers with its result after the commit. */
  acquire(
    connection: Connection,
    { shardId, seenEpoch, nextEpoch }: AcquireWish,
    executionMs: number,
    answer: (result: AcquireResult) => void,
  ): void {
    const { kernel, acquireCompares } = this.options
    const { session, nodeId } = connection
    this.update(connection, shardId, executionMs, (row) => {
      if (row === 'locked') {
        kernel.count('store:acquire-locked')
        answer({ kind: 'locked' })
      } else if (row.epoch !== seenEpoch && acquireCompares) {
        answer({ kind: 'lost' })
      } else {
        this.set(shardId, { epoch: nextEpoch, attempt: 0, nodeId, session })
        answer({ kind: 'owned', token: { shardId, epoch: nextEpoch, attempt: 0 } })
      }
    })
  }

  /** Changes a shard's row if the token belongs to the caller's session; undefined if the row stayed locked. */
  change(
    connection: Connection,
    token: ShardToken,
    executionMs: number,
    next: (row: ShardRow) => ShardRow,
    answer: (changed: boolean | undefined) => void,
  ): void {
    this.update(connection, token.shardId, executionMs, (row) => {
      if (row === 'locked') return answer(undefined)
      const mine = owns(row, token, connection.session)
      if (mine) this.set(token.shardId, next(row))
      return answer(mine)
    })
  }

  private update(
    connection: Connection,
    shardId: number,
    executionMs: number,
    run: (row: ShardRow | 'locked') => void,
  ): void {
    const { kernel, locks } = this.options
    if (connection.ended) return
    const statement = {}
    const done = (): void => {
      locks.release(statement)
      connection.onEnded.delete(done)
    }
    connection.onEnded.add(done)
    locks.lock(shardId, statement, LOCK_TIMEOUT_MS, (locked) => {
      if (connection.ended) return
      if (!locked) {
        done()
        run('locked')
        return
      }
      kernel.schedule(executionMs, `database updates shard ${shardId}`, () => {
        if (connection.ended) return
        run(this.row(shardId))
        done()
      })
    })
  }

  private set(shardId: number, after: ShardRow): void {
    const before = this.row(shardId)
    this.options.rows().set(shardId, after)
    for (const listener of this.listeners) listener({ shardId, before, after })
  }
}

export function owns(row: ShardRow, token: ShardToken, session: string): boolean {
  return row.epoch === token.epoch && row.attempt === token.attempt && row.session === session
}
