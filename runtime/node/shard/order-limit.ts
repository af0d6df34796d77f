/**
 * The rate limit of an account's orders, at the owner of its shard.
 *   R1. Only an order that its actor would accept counts: correctly signed and no replay. So no client can use up the
 *       orders of an account whose key it does not have, and a replay gets its reply.
 *   R2. An order counts once, however often its batch is stepped. One whose commit is refused has counted.
 *   R3. A refused order changes nothing and leaves its key unused.
 * The bucket is in memory: after a change of the owner it is full.
 */
import { type Answer, refusal } from '../../../actors/account/outcome.ts'
import type { Rate } from '../../../actors/rate.ts'
import { createTokenBuckets } from '../../common/token-buckets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Pending } from './pending-command.ts'

export interface OrderLimit {
  /** The refusal of an order that its actor would accept; undefined: it may be accepted. */
  readonly refusalOf: (pending: Pending, answer: Answer | 'deferred' | null) => Answer | undefined
}

const MAX_ACCOUNTS = 200_000
/** Captures are submissions. */
const ORDERS: ReadonlySet<string> = new Set(['submit', 'create_hold', 'mint'])

export function createOrderLimit(rate: Rate, clock: Pick<Clock, 'monotonic'>): OrderLimit {
  const buckets = createTokenBuckets(MAX_ACCOUNTS)
  const counted = new WeakSet<Pending>()
  const { perSecond, burst } = rate
  const detail = `The account may have ${perSecond} orders a second, ${burst} at once.`
  return {
    refusalOf: (pending, answer) => {
      const { origin, command, actor } = pending
      const isOrder = origin.kind === 'request' && actor.kind === 'account' && ORDERS.has(command.type)
      if (!isOrder || counted.has(pending)) return undefined
      if (answer !== 'deferred' && (answer === null || answer.kind === 'refused')) return undefined
      const nowMs = clock.monotonic()
      if (buckets.take(actor.id, rate, 1, nowMs) === 1) {
        counted.add(pending)
        return undefined
      }
      const { nextMs: retryAfterMs } = buckets.level(actor.id, rate, nowMs)
      return { ...refusal('account_rate_limited', detail), limit: { ...rate, retryAfterMs } }
    },
  }
}
