/**
 * Whether a token's supply is what was minted of it and not burned, of one moment.
 *   S1. What mints and burns have completed counts, and what the token has decided and its account has not heard of yet.
 *   S2. A leg of a group completes at its account before the token has changed its supply. It counts once its group is
 *       settled; while the group settles, unless the token still holds it; in any other group it does not.
 *   S3. What was issued first is the supply that the token was registered with. Of a token that came from another ledger
 *       nothing was issued here, and what it came with counts.
 *   S4. Of a token that an account minted or burned which was erased since, the sum is not known any more. That what all
 *       accounts hold of it is its supply is asked of the balances.
 */
import { isDecimalString, parseQuantity, type Quantity } from '../../actors/money.ts'
import type { TokenState } from '../../actors/token/state.ts'

/** Decimal strings that may be below zero, and may have more digits than a balance: minted less burned. */
export interface SupplyMoves {
  /** By completed transactions that are no legs, and by legs of settled groups. */
  readonly done: string
  /** Of those, what was credited at the registration. */
  readonly issued: string
  /** On its way from the token to accounts; of it, what the registration sends. */
  readonly underWay: string
  readonly issuing: string
  /** By legs of groups that settle: group ID and sum. */
  readonly settling: readonly (readonly [groupId: string, sum: string])[]
  /** Some were of accounts that were erased, and cannot be added up. */
  readonly isPartial?: boolean
}

/** Undefined when it reconciles. Throws for what is no quantity. */
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

/** Minted less burned, of what the token still holds for the group's legs. */
function heldFor({ held }: TokenState, groupId: string): Quantity {
  let sum = parseQuantity('0')
  for (const [leg, { change, amount }] of Object.entries(held)) {
    if (!leg.startsWith(`${groupId} `)) continue
    sum = change === 'mint' ? sum + parseQuantity(amount) : sum - parseQuantity(amount)
  }
  return sum
}
