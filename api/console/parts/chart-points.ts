/** A value at a time, in milliseconds since 1970. */
export interface ChartPoint {
  readonly atMs: number
  readonly value: number
}

export interface ChartScale {
  readonly startMs: number
  readonly endMs: number
  readonly low: number
  readonly high: number
}

/** The scale begins at 0, unless a value is below. */
export function scaleOf(points: readonly ChartPoint[], endMs: number): ChartScale {
  const startMs = points[0]?.atMs ?? endMs - 1
  const values = points.map(({ value }) => value)
  const high = Math.max(0, ...values)
  return { startMs, endMs: Math.max(endMs, startMs + 1), low: Math.min(0, ...values), high: high === 0 ? 1 : high }
}

/** The steps of a value that stays until it changes, as the path of an SVG. Points are in order. */
export function stepPath(points: readonly ChartPoint[], scale: ChartScale, width: number, height: number): string {
  const x = (atMs: number): string => round(((atMs - scale.startMs) / (scale.endMs - scale.startMs)) * width)
  const y = (value: number): string => round(height - ((value - scale.low) / (scale.high - scale.low)) * height)
  const [first, ...rest] = points
  if (first === undefined) return ''
  const steps = rest.map(({ atMs, value }) => `H${x(atMs)}V${y(value)}`)
  return `M${x(first.atMs)},${y(first.value)}${steps.join('')}H${round(width)}`
}

/** At most this many points: of each span, the last. */
export function thinned(points: readonly ChartPoint[], most: number): readonly ChartPoint[] {
  if (points.length <= most) return points
  const span = points.length / most
  return Array.from({ length: most }, (_, index) => points[Math.floor((index + 1) * span) - 1]).filter(
    (point) => point !== undefined,
  )
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
