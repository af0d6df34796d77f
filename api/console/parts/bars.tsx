interface BarsProps {
  readonly values: readonly number[]
  /** For screen readers. */
  readonly label: string
}

const WIDTH = 300
const HEIGHT = 56

/** A row of bars, the highest as high as the picture. */
export function Bars({ values, label }: BarsProps) {
  const most = Math.max(1, ...values)
  const step = WIDTH / values.length
  return (
    <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {values.map((value, index) => {
        const height = (value / most) * (HEIGHT - 2)
        return <rect key={index} x={index * step + 0.5} y={HEIGHT - height} width={step - 1} height={height} />
      })}
    </svg>
  )
}
