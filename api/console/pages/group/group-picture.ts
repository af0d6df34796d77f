/** Where the parts of a group's picture are: givers on the left, receivers on the right, the group between them. */
import type { GroupLeg } from '../../../client/index.ts'

export interface PictureNode {
  readonly accountId: string
  readonly side: 'left' | 'right'
  /** Of its middle. */
  readonly y: number
}

export interface PictureArrow {
  readonly leg: GroupLeg
  readonly fromY: number
  readonly toY: number
  /** The part of the width that it crosses. */
  readonly span: 'left' | 'right' | 'whole'
}

export interface GroupPicture {
  readonly nodes: readonly PictureNode[]
  readonly arrows: readonly PictureArrow[]
  readonly height: number
}

const ROW = 64

type Side = PictureNode['side']

export function groupPicture(legs: readonly GroupLeg[]): GroupPicture {
  const left = [...new Set(legs.filter(gives).map((leg) => leg.account_id))]
  const right = [...new Set(legs.map(receiverOf).filter((id) => id !== undefined))]
  const rows = Math.max(left.length, right.length, 1)
  const height = rows * ROW
  const place = (ids: readonly string[], index: number): number => ((index + 0.5) * height) / Math.max(ids.length, 1)
  const nodesOf = (ids: readonly string[], side: Side) =>
    ids.map((accountId, index) => ({ accountId, side, y: place(ids, index) }))
  const yOf = (ids: readonly string[], id: string | undefined): number =>
    id === undefined || !ids.includes(id) ? height / 2 : place(ids, ids.indexOf(id))
  const arrows = legs.map((leg): PictureArrow => {
    const receiver = receiverOf(leg)
    const span = gives(leg) ? (receiver === undefined ? 'left' : 'whole') : 'right'
    return { leg, span, fromY: gives(leg) ? yOf(left, leg.account_id) : height / 2, toY: yOf(right, receiver) }
  })
  return { nodes: [...nodesOf(left, 'left'), ...nodesOf(right, 'right')], arrows, height }
}

/** Value leaves the account of the leg. */
function gives({ type }: GroupLeg): boolean {
  return type !== 'credit' && type !== 'mint'
}

function receiverOf(leg: GroupLeg): string | undefined {
  if (leg.type === 'credit' || leg.type === 'mint') return leg.account_id
  return leg.to_account_id
}
