/**
 * Row locks on `shards`, first come, first served, and gates. A holder is any object; it releases all its locks
 * together.
 */
import type { Kernel } from '../kernel/kernel.ts'

interface Waiter {
  readonly holder: object
  readonly granted: () => void
  readonly forget: () => void
}

export interface RowLocks {
  /** Without waiting (SKIP LOCKED). A row with waiters is not free either. */
  readonly tryLock: (shardId: number, holder: object) => boolean
  /** Calls back once: true with the lock, or false after `timeoutMs` (`lock_timeout`). */
  readonly lock: (shardId: number, holder: object, timeoutMs: number, run: (locked: boolean) => void) => void
  /** Releases every lock of this holder and cancels its waits. */
  readonly release: (holder: object) => void
  readonly locked: (shardId: number) => boolean
}

export function createRowLocks(kernel: Pick<Kernel, 'schedule' | 'count'>): RowLocks {
  const held = new Map<number, object>()
  const waiting = new Map<number, Waiter[]>()

  const grantNext = (shardId: number): void => {
    const next = waiting.get(shardId)?.shift()
    if (next === undefined) return
    held.set(shardId, next.holder)
    next.granted()
  }
  const tryLock = (shardId: number, holder: object): boolean => {
    if (held.has(shardId)) return false
    held.set(shardId, holder)
    return true
  }
  return {
    tryLock,
    locked: (shardId) => held.has(shardId),
    lock: (shardId, holder, timeoutMs, run) => {
      if (tryLock(shardId, holder)) {
        run(true)
        return
      }
      kernel.count('store:acquire-waited')
      const queue = waiting.get(shardId) ?? []
      waiting.set(shardId, queue)
      const waiter: Waiter = {
        holder,
        granted: () => {
          timeout.cancel()
          kernel.schedule(0, `shard ${shardId} lock granted`, () => run(true))
        },
        forget: () => timeout.cancel(),
      }
      const timeout = kernel.schedule(timeoutMs, `shard ${shardId} lock timeout`, () => {
        queue.splice(queue.indexOf(waiter), 1)
        run(false)
      })
      queue.push(waiter)
    },
    release: (holder) => {
      for (const queue of waiting.values()) {
        for (let index = queue.length - 1; index >= 0; index -= 1) {
          if (queue[index]?.holder !== holder) continue
          queue[index]?.forget()
          queue.splice(index, 1)
        }
      }
      for (const [shardId, by] of held) {
        if (by !== holder) continue
        held.delete(shardId)
        grantNext(shardId)
      }
    },
  }
}

export interface Gate {
  /** Resolves once a caller waits. */
  readonly reached: Promise<void>
  readonly enter: (pass: () => void) => void
  readonly open: () => void
}

/** Keeps callers waiting until it opens. */
export function createGate(): Gate {
  const waiting: (() => void)[] = []
  let arrive: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (arrive = resolve))
  return {
    reached,
    enter: (pass) => {
      waiting.push(pass)
      arrive()
    },
    open: () => waiting.splice(0).forEach((pass) => pass()),
  }
}
