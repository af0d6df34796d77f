/** Times of the last proofs that this node can commit and is visible to others, and its clock skew. */
import type { Clock } from '../../ports/clock.ts'

/** Ages in milliseconds, from the beginning of the proof; null: no proof yet. */
export interface VitalSigns {
  readonly probedAgoMs: number | null
  readonly renewedAgoMs: number | null
  /** Skew from the store's clock, as far as the last probe showed it; never negative. */
  readonly clockSkewMs: number
  /** Whether the last attempt at each succeeded. */
  readonly probed: boolean
  readonly renewed: boolean
  /** Whether the skew is within its limit. */
  readonly clockInBounds: boolean
}

export type VitalSignsBook = ReturnType<typeof createVitalSigns>

export function createVitalSigns(clock: Pick<Clock, 'monotonic'>, maxClockSkewMs: number) {
  let [probed, renewed] = [false, false]
  let probedMs: number | undefined
  let renewedMs: number | undefined
  let clockSkewMs = 0

  function ageOf(atMs: number | undefined): number | null {
    return atMs === undefined ? null : clock.monotonic() - atMs
  }

  return {
    /** A probe that began at this time has committed. */
    probed: (begunMs: number, skewMs: number): void => {
      probed = true
      probedMs = begunMs
      clockSkewMs = skewMs
    },
    notProbed: (): void => void (probed = false),
    renewed: (begunMs: number): void => {
      renewed = true
      renewedMs = begunMs
    },
    notRenewed: (): void => void (renewed = false),
    read: (): VitalSigns => ({
      probedAgoMs: ageOf(probedMs),
      renewedAgoMs: ageOf(renewedMs),
      clockSkewMs,
      probed,
      renewed,
      clockInBounds: clockSkewMs <= maxClockSkewMs,
    }),
  }
}
