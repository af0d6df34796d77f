/** When this node last proved that it can commit, that others see it, and how far its clock is off. */
import type { Clock } from '../../ports/clock.ts'

/** Ages in milliseconds, from when the proof was begun; null: there never was one. */
export interface VitalSigns {
  readonly probedAgoMs: number | null
  readonly renewedAgoMs: number | null
  /** How far this clock is off the store's, as far as the last probe could tell; never negative. */
  readonly clockSkewMs: number
  /** That the last attempt at each went well. */
  readonly probed: boolean
  readonly renewed: boolean
  /** That the skew is within its bound. */
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
    /** A probe that began then has committed. */
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
