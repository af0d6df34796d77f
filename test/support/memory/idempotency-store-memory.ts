/** The idempotency store in memory: fulfills the port's contract, for tests without a database. */
import {
  type AnsweredRequest,
  type IdempotencyStore,
  KEPT_FOR_MS,
  type RequestKey,
} from '../../../runtime/ports/idempotency-store.ts'
import type { Clock } from '../../../runtime/ports/clock.ts'

interface KeptRequest {
  readonly payloadHash: string
  readonly attempts: number
  readonly answered: AnsweredRequest | null
  readonly createdAtMs: number
}

export interface MemoryIdempotencyState {
  /** By client, path and key. */
  readonly requests: Map<string, KeptRequest>
  readonly parts: Map<string, Uint8Array>
}

/** Each call takes effect in one turn, so it is atomic. */
export function createMemoryIdempotencyStore(clock: Pick<Clock, 'now'>): {
  readonly store: IdempotencyStore
  readonly state: MemoryIdempotencyState
} {
  const state: MemoryIdempotencyState = { requests: new Map(), parts: new Map() }
  const { requests, parts } = state
  const find = (key: RequestKey): KeptRequest | undefined => {
    const found = requests.get(nameOf(key))
    if (found === undefined || clock.now() - found.createdAtMs > KEPT_FOR_MS) return undefined
    return found.answered === null && found.attempts === 0 ? undefined : found
  }
  const store: IdempotencyStore = {
    async begin(key, payloadHash) {
      const found = find(key)
      if (found === undefined) {
        requests.set(nameOf(key), { payloadHash, attempts: 1, answered: null, createdAtMs: clock.now() })
        return { kind: 'begun' }
      }
      if (found.answered !== null) return { kind: 'answered', request: structuredClone(found.answered) }
      if (found.payloadHash !== payloadHash) return { kind: 'taken' }
      requests.set(nameOf(key), { ...found, attempts: found.attempts + 1 })
      return { kind: 'begun' }
    },
    async finish(key, request) {
      const found = find(key)
      const answered = found?.answered ?? null
      if (answered !== null) return { first: false, request: structuredClone(answered) }
      const createdAtMs = found?.createdAtMs ?? clock.now()
      requests.set(nameOf(key), { ...request, attempts: 0, answered: structuredClone(request), createdAtMs })
      return { first: true, request }
    },
    async refuse(key) {
      const found = find(key)
      if (found?.answered === null) requests.set(nameOf(key), { ...found, attempts: found.attempts - 1 })
    },
    async keepPart(key, attempt, number, content) {
      parts.set(nameOf(key, attempt, number), content)
    },
    part: async (key, attempt, number) => parts.get(nameOf(key, attempt, number)),
  }
  return { store, state }
}

function nameOf({ clientId, path, idempotencyKey }: RequestKey, ...more: readonly (string | number)[]): string {
  return JSON.stringify([clientId, path, idempotencyKey, ...more])
}
