/** A limit on how often something is done: a token bucket that refills steadily. */
export interface Rate {
  /** Tokens that return each second, up to `burst`. At least 0.001. */
  readonly perSecond: number
  /** Tokens of a full bucket: an integer of at least 1. */
  readonly burst: number
}

/** `none`: no limit, also where there is a default. Null: the default. */
export type OwnRate = Rate | 'none' | null

export const RATE_RULE =
  'a number a second, such as 50 or 0.5, or with a burst, such as 50/200: above 0 and at most 1000000'

const LARGEST = 1_000_000
const FORM = /^(\d{1,7}(?:\.\d{1,3})?)(?:\/(\d{1,7}))?$/

/** From `N` or `N/burst`. Without a burst it is what returns in a second, and at least 1. Undefined: ill-formed. */
export function readRate(text: string): Rate | undefined {
  const [, first, second] = FORM.exec(text) ?? []
  if (first === undefined) return undefined
  const perSecond = Number(first)
  const burst = second === undefined ? Math.max(1, Math.ceil(perSecond)) : Number(second)
  return isRate({ perSecond, burst }) ? { perSecond, burst } : undefined
}

function isRate({ perSecond, burst }: Rate): boolean {
  return perSecond > 0 && perSecond <= LARGEST && burst >= 1 && burst <= LARGEST
}

/** As `readRate` reads it. */
export function showRate({ perSecond, burst }: Rate): string {
  return `${perSecond}/${burst}`
}

/** A client's own rate as text; null: the default. */
export function showOwnRate(rate: OwnRate): string | null {
  return rate === null || rate === 'none' ? rate : showRate(rate)
}

/** `none`, or as `readRate`. Undefined: ill-formed. */
export function readOwnRate(text: string): Exclude<OwnRate, null> | undefined {
  return text === 'none' ? 'none' : readRate(text)
}
