/** The log's store in memory: all that the port promises, over commits that its owner keeps. */
import { EMPTY_TREE, HASH_BYTES } from '../../../runtime/log/tree.ts'
import type { Clock } from '../../../runtime/ports/clock.ts'
import {
  LOG_LEASE_MS,
  LogPaused,
  type LogStore,
  type PublishedLogHead,
  type StoredLogHead,
} from '../../../runtime/ports/log-store.ts'

export interface MemoryLogState {
  head: StoredLogHead
  /** In the order of the log. */
  readonly entries: Buffer[]
  /** By level and number. */
  readonly tiles: Map<string, Buffer>
  published: PublishedLogHead | undefined
  lease: { readonly holder: string; readonly untilMs: number } | undefined
}

export interface MemoryLogOptions {
  readonly state: MemoryLogState
  /** The store's clock. */
  readonly clock: Pick<Clock, 'now'>
  /** The committed entries (G2). Those of a batch need no order. */
  readonly since: LogStore['since']
  /** Whether an administrator accepted the database (G6). */
  readonly isAccepted?: () => boolean
  /** False breaks G1. */
  readonly isFenced?: boolean
}

const TILE_ENTRIES = 256

export function createMemoryLogState(): MemoryLogState {
  return {
    head: { edge: EMPTY_TREE, position: '' },
    entries: [],
    tiles: new Map(),
    published: undefined,
    lease: undefined,
  }
}

export function copyOfLog(state: MemoryLogState): MemoryLogState {
  return { ...state, entries: [...state.entries], tiles: new Map(state.tiles) }
}

/** Each call takes effect in one turn. */
export function createMemoryLogStore(options: MemoryLogOptions): LogStore {
  const { state, clock, since, isAccepted = () => true, isFenced = true } = options
  const check = (): void => {
    if (!isAccepted()) throw new LogPaused('the database is not accepted')
  }
  return {
    async claim(holder) {
      const { lease } = state
      if (lease !== undefined && lease.holder !== holder && lease.untilMs >= clock.now()) return false
      state.lease = { holder, untilMs: clock.now() + LOG_LEASE_MS }
      return true
    },
    async release(holder) {
      if (state.lease?.holder === holder) state.lease = undefined
    },
    async head() {
      check()
      return state.head
    },
    async since(position) {
      check()
      return since(position)
    },
    async append({ edge, position }, batch) {
      check()
      const { head, entries, tiles } = state
      if (isFenced && !isSameTree(head, { edge, position })) return false
      state.head = { edge: batch.edge, position: batch.position }
      entries.splice(edge.size, entries.length, ...batch.entries)
      for (const { level, number, hashes } of batch.tiles) tiles.set(`${level} ${number}`, hashes)
      return true
    },
    published: async () => state.published,
    async publish(head) {
      check()
      if ((state.published?.size ?? 0) > head.size) return false
      state.published = head
      return true
    },
    hashes: async (level, number, width) => {
      const hashes = state.tiles.get(`${level} ${number}`)?.subarray(0, width * HASH_BYTES)
      return hashes?.length === width * HASH_BYTES ? hashes : undefined
    },
    entries: async (number, width) => {
      const first = number * TILE_ENTRIES
      const found = state.entries.slice(first, first + width)
      return found.length === width ? Buffer.concat(found) : undefined
    },
  }
}

function isSameTree(head: StoredLogHead, { edge: { size, levels } }: StoredLogHead): boolean {
  const { edge } = head
  return edge.size === size && edge.levels.every((hashes, level) => hashes.equals(levels[level] ?? Buffer.alloc(0)))
}
