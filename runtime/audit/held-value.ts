/** Reserved and incoming amounts that follow from an account's holds. */
import type { Hold } from '../../actors/account/state.ts'
import { parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { isNft } from '../../actors/nft-id.ts'

/** `burns`: part of `reserved` that legs will burn. */
export interface HeldValue {
  readonly reserved: Quantity
  readonly incoming: Quantity
  readonly burns: Quantity
}

export const NO_HELD_VALUE: HeldValue = { reserved: ZERO, incoming: ZERO, burns: ZERO }

/** By token. NFTs keep their holds themselves. */
export function heldValue(holds: readonly Hold[]): ReadonlyMap<string, HeldValue> {
  const held = new Map<string, HeldValue>()
  const add = (tokenId: string, part: Partial<HeldValue>): void => {
    const { reserved, incoming, burns } = held.get(tokenId) ?? NO_HELD_VALUE
    held.set(tokenId, {
      reserved: reserved + (part.reserved ?? ZERO),
      incoming: incoming + (part.incoming ?? ZERO),
      burns: burns + (part.burns ?? ZERO),
    })
  }
  for (const hold of holds) {
    if (hold.kind === 'pending' && hold.reserves) {
      add(hold.transaction.tokenId, { reserved: parseQuantity(hold.transaction.amount) })
    }
    if (hold.kind === 'payment') add(hold.tokenId, { reserved: parseQuantity(hold.remaining) })
    if (hold.kind !== 'leg' || hold.state !== 'completed' || isNft(hold.terms.tokenId)) continue
    const { tokenId, type } = hold.terms
    const amount = parseQuantity(hold.terms.amount)
    if (hold.role === 'receiver' || type === 'credit' || type === 'mint') add(tokenId, { incoming: amount })
    else if (type === 'burn') add(tokenId, { reserved: amount, burns: amount })
  }
  return held
}
