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
import { isDecimalString, parseQuantity, type Quantity } from '../../actors/money.ts'
import type { TokenState } from '../../actors/token/state.ts'

/** Decimal strings that may be below zero, and may have more digits than a balance: minted less burned. */
export interface SupplyMoves {
  /** By completed transactions that are not legs, and by legs of settled groups. */
  readonly done: string
  /** Part of `done`: credited at the registration. */
  readonly issued: string
  /** In transit from the token to accounts. */
  readonly underWay: string
  /** Part of `underWay`: sent by the registration. */
  readonly issuing: string
  /** By legs of settling groups. */
  readonly settling: readonly (readonly [groupId: string, sum: string])[]
  /** Transactions of erased accounts are missing from the sums. */
  readonly isPartial?: boolean
}

/** Undefined when it reconciles. Throws for a malformed quantity. */
export function supplyProblem(token: TokenState, moves: SupplyMoves): string | undefined {
  if (!isDecimalString(token.totalSupply) || !isDecimalString(token.initialSupply)) return 'its supply is no quantity'
  if (moves.isPartial === true) return undefined
  const issued = parseQuantity(moves.issued) + parseQuantity(moves.issuing)
  const { arrived } = token
  if (arrived !== undefined && !isDecimalString(arrived.supply)) return 'its supply is no quantity'
  const came = parseQuantity(arrived?.supply ?? '0')
  if (issued !== parseQuantity(arrived === undefined ? token.initialSupply : '0'))
    return 'what was issued is not its initial supply'
  let expected = came + parseQuantity(moves.done) + parseQuantity(moves.underWay)
  for (const [groupId, sum] of moves.settling) expected = expected + parseQuantity(sum) - heldFor(token, groupId)
  return expected === parseQuantity(token.totalSupply) ? undefined : 'it is not what was minted and not burned'
}

/** Minted less burned quantity in the token's holds for the group's legs. */
function heldFor({ held }: TokenState, groupId: string): Quantity {
  let sum = parseQuantity('0')
  for (const [leg, { change, amount }] of Object.entries(held)) {
    if (!leg.startsWith(`${groupId} `)) continue
    sum = change === 'mint' ? sum + parseQuantity(amount) : sum - parseQuantity(amount)
  }
  return sum
}
