/**
 * Checks that a token's supply is the quantity minted less the quantity burned, in one snapshot.
 *   S1. Completed mints and burns count. So do those that the token has decided but its account has not received yet.
 *   S2. A leg completes at its account before the token changes its supply. It counts if its group is settled, or is
 *       settling and the token has no hold of the leg. Legs of other groups do not count.
 *   S3. The initial issue equals the supply at the registration. An imported token has no initial issue here; its imported
 *       supply counts instead.
 *   S4. The sum is unknown if an erased account minted or burned the token. The conservation of value still compares the
 *       balances with the supply.
 */
import { isDecimalString, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { TokenState } from '../../actors/token/state.ts'

/** Minted less burned quantities, which may be below zero. */
export interface SupplyMoves {
  /** By completed transactions that are not legs, and by legs of settled groups. */
  readonly done: Quantity
  /** Part of `done`: credited at the registration. */
  readonly issued: Quantity
  /** In transit from the token to accounts. */
  readonly underWay: Quantity
  /** Part of `underWay`: sent by the registration. */
  readonly issuing: Quantity
  /** By legs of settling groups, by group ID. */
  readonly settling: ReadonlyMap<string, Quantity>
  /** Transactions of erased accounts are missing from the sums. */
  readonly isPartial: boolean
}

/** Undefined when it reconciles. Throws for a malformed quantity of the token. */
export function supplyProblem(token: TokenState, moves: SupplyMoves): string | undefined {
  if (!isDecimalString(token.totalSupply) || !isDecimalString(token.initialSupply)) return 'its supply is no quantity'
  if (moves.isPartial) return undefined
  const { arrived } = token
  if (arrived !== undefined && !isDecimalString(arrived.supply)) return 'its supply is no quantity'
  const came = parseQuantity(arrived?.supply ?? '0')
  if (moves.issued + moves.issuing !== parseQuantity(arrived === undefined ? token.initialSupply : '0'))
    return 'what was issued is not its initial supply'
  let expected = came + moves.done + moves.underWay
  for (const [groupId, sum] of moves.settling) expected = expected + sum - heldFor(token, groupId)
  return expected === parseQuantity(token.totalSupply) ? undefined : 'it is not what was minted and not burned'
}

/** Minted less burned quantity in the token's holds for the group's legs. */
function heldFor({ held }: TokenState, groupId: string): Quantity {
  let sum = ZERO
  for (const [leg, { change, amount }] of Object.entries(held)) {
    if (!leg.startsWith(`${groupId} `)) continue
    sum = change === 'mint' ? sum + parseQuantity(amount) : sum - parseQuantity(amount)
  }
  return sum
}
