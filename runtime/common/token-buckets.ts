/**
 * Token buckets by key: each refills steadily up to its burst. Times are monotonic milliseconds.
 *   K1. In any time of t seconds a key takes at most `burst + perSecond * t` tokens.
 *   K2. A token is refused only while the bucket holds less than one.
 *   K3. At most `maxKeys` buckets are kept: a key that is not used while half as many others are is forgotten, which
 *       refills its bucket.
 */
import type { Rate } from '../../actors/rate.ts'
import { createBoundedCache } from './bounded-cache.ts'

export interface TokenBuckets {
  /** Takes whole tokens, up to `wanted`, and returns their number. */
  readonly take: (key: string, rate: Rate, wanted: number, nowMs: number) => number
  /**
   * Takes tokens that were used elsewhere, also those that are not there: up to MAX_DEBT_BURSTS bursts, or as many as return
   * in MAX_DEBT_MS. A bucket of another rate keeps its rate.
   */
  readonly charge: (key: string, rate: Rate, tokens: number, nowMs: number) => void
  readonly level: (key: string, rate: Rate, nowMs: number) => Level
  readonly size: () => number
}

export interface Level {
  /** Whole tokens. */
  readonly tokens: number
  /** Until there is a whole token; 0 if there is one. */
  readonly nextMs: number
  readonly fullMs: number
}

interface Bucket {
  rate: Rate
  fullAtMs: number
}

const MAX_DEBT_BURSTS = 16
const MAX_DEBT_MS = 10_000
/** Tokens: more than rounding loses. */
const TOLERANCE = 1e-6
const MS_PER_SECOND = 1_000

export function createTokenBuckets(maxKeys: number): TokenBuckets {
  const buckets = createBoundedCache<string, Bucket>(maxKeys)

  /** Milliseconds until the bucket is full. A changed rate begins with a full bucket. */
  function missingMs(key: string, rate: Rate, nowMs: number): number {
    const bucket = buckets.get(key)
    return bucket === undefined || !isSame(bucket.rate, rate) ? 0 : Math.max(0, bucket.fullAtMs - nowMs)
  }

  function keep(key: string, rate: Rate, fullAtMs: number): void {
    const bucket = buckets.get(key)
    if (bucket === undefined) buckets.set(key, { rate, fullAtMs })
    else Object.assign(bucket, { rate, fullAtMs })
  }

  function tokensOf(rate: Rate, missing: number): number {
    return rate.burst - (missing * rate.perSecond) / MS_PER_SECOND + TOLERANCE
  }

  return {
    take: (key, rate, wanted, nowMs) => {
      const missing = missingMs(key, rate, nowMs)
      const taken = Math.min(wanted, Math.max(0, Math.floor(tokensOf(rate, missing))))
      if (taken > 0) keep(key, rate, nowMs + missing + msOf(rate, taken))
      return taken
    },
    charge: (key, chargedRate, tokens, nowMs) => {
      const rate = buckets.get(key)?.rate ?? chargedRate
      const missing = missingMs(key, rate, nowMs) + msOf(rate, tokens)
      keep(key, rate, nowMs + Math.min(missing, Math.max(MAX_DEBT_MS, msOf(rate, rate.burst * MAX_DEBT_BURSTS))))
    },
    level: (key, rate, nowMs) => {
      const fullMs = missingMs(key, rate, nowMs)
      const tokens = tokensOf(rate, fullMs)
      return { tokens: Math.max(0, Math.floor(tokens)), nextMs: tokens >= 1 ? 0 : msOf(rate, 1 - tokens), fullMs }
    },
    size: buckets.size,
  }
}

function msOf({ perSecond }: Rate, tokens: number): number {
  return (tokens * MS_PER_SECOND) / perSecond
}

function isSame(one: Rate, other: Rate): boolean {
  return one.perSecond === other.perSecond && one.burst === other.burst
}
