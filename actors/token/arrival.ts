/**
 * Import of a token from another ledger, with its supply. The imported accounts' shares are credited with them; the
 * rest counts as value at external accounts. A later import adds what was minted on the source ledger since; burns
 * there are not applied here.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import { arrivalAnswer, type ArrivingToken, type DropArrivalCommand, type TakeArrivalCommand } from '../arrival.ts'
import { written } from '../define-actor.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../money.ts'
import { invariant } from '../result.ts'
import { type HoldToken, newToken, type TokenCommand, type TokenData } from './state.ts'
import { exceeds, type TokenChange } from './supply.ts'

type Arriving = Extract<TokenCommand, { readonly type: 'take_arrival' | 'drop_arrival' }>

export const EXISTS = {
  code: 'token_exists',
  detail: 'The symbol already belongs to a different token.',
  field: 'symbol',
} as const

/** Whether this import stages more supply of an existing token. */
export function isGrownBy({ growing }: TokenData, { importId }: Arriving): boolean {
  return growing?.importId === importId
}

/** Whether the token was imported, and no more supply is staged. */
export function hasArrived({ arrived, growing }: TokenData): boolean {
  return arrived !== undefined && growing === undefined
}

export function isSameHold(token: TokenData, command: HoldToken): boolean {
  return isSameToken(token, command) && token.arrived?.importId === command.from.importId
}

function isSameToken(token: TokenData, { from, arrival }: HoldToken): boolean {
  return (
    token.arrived?.ledgerId === from.ledgerId &&
    token.tokenId === arrival.tokenId &&
    token.decimals === arrival.decimals &&
    token.issuer === arrival.issuer &&
    token.initialSupply === arrival.initialSupply
  )
}

/** The reply of an active token to an import that adds no supply; undefined if it does. */
export function judgeGrowth(token: TokenData, command: HoldToken): Answer | undefined {
  const { growing } = token
  if (!isSameToken(token, command)) return refusal(EXISTS.code, EXISTS.detail, EXISTS.field)
  if (growing?.importId === command.from.importId) return arrivalAnswer(command)
  const by = grownBy(token, command.arrival)
  if (by <= ZERO) return { kind: 'arrival', state: 'present' }
  if (growing !== undefined) return refusal('token_exists', 'Another import of this token is staged.', 'symbol')
  return exceeds(token, by)
    ? refusal('supply_limit', 'The supply would exceed 18 integer digits.', 'total_supply')
    : undefined
}

function grownBy({ arrived }: TokenData, { totalSupply }: ArrivingToken): Quantity {
  return parseQuantity(totalSupply) - parseQuantity(arrived?.supply ?? totalSupply)
}

/** Reserves room for the added supply (T1). */
export function holdGrowth(token: TokenData, command: HoldToken): TokenChange {
  const by = formatQuantity(grownBy(token, command.arrival))
  return { data: written(token, command, { growing: { ...command.from, by } }), answer: arrivalAnswer(command) }
}

export function takeGrowth(token: TokenData, command: TakeArrivalCommand): TokenChange {
  const { growing, arrived, ...rest } = token
  invariant(growing !== undefined && arrived !== undefined, `${token.tokenId} grows without staged supply`)
  const by = parseQuantity(growing.by)
  const supply = formatQuantity(parseQuantity(arrived.supply) + by)
  const totalSupply = formatQuantity(parseQuantity(token.totalSupply) + by)
  return {
    data: written({ ...rest, arrived: { ...arrived, supply } }, command, { totalSupply }),
    effects: [{ kind: 'boundary_crossed', tokenId: token.tokenId, quantity: -by }],
    answer: arrivalAnswer(command),
  }
}

export function dropGrowth({ growing: _growing, ...token }: TokenData, command: DropArrivalCommand): TokenChange {
  return { data: written(token, command), answer: arrivalAnswer(command) }
}

export function holdArrival(command: HoldToken): TokenChange {
  const { from, arrival } = command
  const arrived = { ...from, supply: arrival.totalSupply }
  const data = { ...newToken(arrival, command, `import ${from.importId}`), arrived }
  return { data, answer: arrivalAnswer(command) }
}

export function takeArrival(token: TokenData, command: TakeArrivalCommand): TokenChange {
  const { tokenId, totalSupply } = token
  const quantity = -parseQuantity(totalSupply)
  return {
    data: written(token, command),
    effects: quantity === 0n ? [] : [{ kind: 'boundary_crossed', tokenId, quantity }],
    answer: arrivalAnswer(command),
  }
}
