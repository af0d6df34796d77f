import type { GroupLeg } from '../../../client/index.ts'
import { groupedDigits } from '../../parts/figures.ts'
import { shownText } from '../../parts/shown-text.ts'
import { groupPicture, type PictureArrow } from './group-picture.ts'

const WIDTH = 880
const NODE_WIDTH = 200
const NODE_HEIGHT = 36
const HUB = 24
const NAME_LENGTH = 24

/** The legs of a group: accounts that give, the group, and accounts that receive. */
export function GroupDrawing({ legs }: { readonly legs: readonly GroupLeg[] }) {
  const { nodes, arrows, height } = groupPicture(legs)
  const hasHub = arrows.some(({ span }) => span !== 'whole')
  return (
    <figure class="drawing" tabIndex={0} aria-label="Picture of the legs">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${legs.length} legs; the table has each`}>
        <defs>
          <marker id="arrow-end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0.5L8,4L0,7.5Z" />
          </marker>
        </defs>
        {arrows.map((arrow, index) => (
          <Arrow key={index} arrow={arrow} index={index} hubY={height / 2} />
        ))}
        {hasHub && (
          <g class="hub">
            <circle cx={WIDTH / 2} cy={height / 2} r={HUB} />
            <text x={WIDTH / 2} y={height / 2 + 4}>
              group
            </text>
          </g>
        )}
        {nodes.map(({ accountId, side, y }) => {
          const x = side === 'left' ? 0 : WIDTH - NODE_WIDTH
          return (
            <g key={`${side} ${accountId}`} class="node">
              <title>{plain(accountId, 128)}</title>
              <rect x={x + 0.5} y={y - NODE_HEIGHT / 2} width={NODE_WIDTH - 1} height={NODE_HEIGHT} rx="6" />
              <text x={x + NODE_WIDTH / 2} y={y + 4}>
                {plain(accountId, NAME_LENGTH)}
              </text>
            </g>
          )
        })}
      </svg>
    </figure>
  )
}

function Arrow({
  arrow,
  index,
  hubY,
}: {
  readonly arrow: PictureArrow
  readonly index: number
  readonly hubY: number
}) {
  const { leg, span, fromY, toY } = arrow
  const startX = span === 'right' ? WIDTH / 2 + HUB : NODE_WIDTH
  const endX = span === 'left' ? WIDTH / 2 - HUB : WIDTH - NODE_WIDTH
  const endY = span === 'left' ? hubY : toY
  // Legs between the same accounts bend apart.
  const bend = span === 'whole' ? 10 + 10 * (index % 3) : 0
  const [midX, midY] = [(startX + endX) / 2, (fromY + endY) / 2 + bend]
  return (
    <g class={`arrow ${leg.leg_status}`}>
      <path d={`M${startX},${fromY}Q${midX},${midY + bend},${endX - 2},${endY}`} marker-end="url(#arrow-end)" />
      <text x={midX} y={midY - 10}>
        {groupedDigits(leg.amount)} {plain(leg.token_id ?? leg.instance_id ?? '', 14)}
      </text>
    </g>
  )
}

function plain(text: string, length: number): string {
  const { parts, left } = shownText(text, length)
  return parts.map((part) => part.text).join('') + (left > 0 ? '…' : '')
}
