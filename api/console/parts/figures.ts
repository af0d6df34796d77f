/** Figures and times as people read them. */

/** A decimal string with its integer digits in groups: `-1234567.50` becomes `-1,234,567.50`. */
export function groupedDigits(amount: string): string {
  const [whole = '', fraction] = amount.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** `2026-11-29T09:18:01.123Z` becomes `2026-11-29 09:18:01`. UTC. */
export function shownTime(timestamp: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(timestamp) ? timestamp.slice(0, 19).replace('T', ' ') : timestamp
}

/** Such as `3 minutes ago`; `now` for the last seconds and for the future. */
export function agoText(timeMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - timeMs) / 1_000)
  if (seconds < 5) return 'now'
  const units: readonly (readonly [string, number])[] = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ]
  const [name, length] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1]
  const count = Math.floor(seconds / length)
  return `${count} ${name}${count === 1 ? '' : 's'} ago`
}

/** `0.4`, `12`, `3,900`: three digits at most that count. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0'
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US')
}

/** Milliseconds as `12 ms` or `1.2 s`. */
export function durationText(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`
}

/** A code of the interface in words: `hold_created` becomes `hold created`. */
export function codeText(code: string): string {
  return code.replaceAll('_', ' ')
}

/** One of `1 entry`, `3 entries`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
