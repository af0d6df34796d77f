import { type ChartPoint, scaleOf, stepPath, thinned } from './chart-points.ts'
import { shownTime } from './figures.ts'

interface StepChartProps {
  readonly points: readonly ChartPoint[]
  readonly endMs: number
  /** For screen readers; the table beside it has the values. */
  readonly label: string
}

const WIDTH = 960
const HEIGHT = 180
const MOST_POINTS = 1_200

/** A value over time. */
export function StepChart({ points, endMs, label }: StepChartProps) {
  const scale = scaleOf(points, endMs)
  const path = stepPath(thinned(points, MOST_POINTS), scale, WIDTH, HEIGHT)
  return (
    <figure class="chart">
      <div class="chart-scale" aria-hidden="true">
        <span>{scale.high.toLocaleString('en-US', { maximumSignificantDigits: 6 })}</span>
        <span>{scale.low.toLocaleString('en-US', { maximumSignificantDigits: 6 })}</span>
      </div>
      <svg viewBox={`0 -4 ${WIDTH} ${HEIGHT + 8}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path class="grid" d={`M0,0.5H${WIDTH}M0,${HEIGHT / 2}H${WIDTH}M0,${HEIGHT - 0.5}H${WIDTH}`} />
        {path !== '' && <path class="area" d={`${path}V${HEIGHT}H0Z`} />}
        <path class="line" d={path} />
      </svg>
      <div class="chart-time" aria-hidden="true">
        <span>{shownTime(new Date(scale.startMs).toISOString())}</span>
        <span>{shownTime(new Date(scale.endMs).toISOString())}</span>
      </div>
    </figure>
  )
}
