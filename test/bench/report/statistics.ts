/** Milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of fewer than a thousand values it is the longest. */
  readonly p999Ms: number
  readonly maxMs: number
}

export function latencyOf(durationsMs: Float64Array): Latency {
  const sorted = durationsMs.toSorted()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) }
}
