/**
 * A token that comes from another ledger: held without being there, then there at once, with the supply that it has. What of
 * that supply accounts bring is credited with them; the rest is outside of this ledger, as value that left it would be. What
 * was minted there since is added when it comes again; what was burned there is not taken away from what is here.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import { arrivalAnswer, type ArrivingToken, type DropArrivalCommand, type TakeArrivalCommand } from '../arrival.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../money.ts'
import { invariant } from '../result.ts'
import type { HoldToken, TokenArrivalCommand } from './commands.ts'
import type { TokenState } from './state.ts'
import { exceeds, next, type Turned } from './supply.ts'

/** What is answered without a step; undefined where something is to be done. */
export function judgeTokenArrival(token: TokenState | null, command: TokenArrivalCommand): Answer | undefined {
  const growing = token?.growing
  const isHeld = (token?.status === 'preparing' && token.arrived !== undefined) || growing !== undefined
  if (command.type !== 'hold_arrival') {
    if (isHeld && (growing ?? token?.arrived)?.importId === command.importId) return undefined
    if (command.type === 'drop_arrival' || (!isHeld && token?.arrived !== undefined)) return arrivalAnswer(command)
    return refusal('arrival_not_held', 'The import has no hold here.', 'import_id')
  }
  if (token === null) return undefined
  const { from, arrival } = command
  const { arrived } = token
  const isSame =
    arrived?.ledgerId === from.ledgerId &&
    token.tokenId === arrival.tokenId &&
    token.decimals === arrival.decimals &&
    token.issuer === arrival.issuer &&
    token.initialSupply === arrival.initialSupply
  if (isSame && isHeld && (growing ?? arrived).importId === from.importId) return arrivalAnswer(command)
  if (isSame && token.status === 'preparing') return exists()
  if (isSame) return judgeGrowth(token, command)
  return exists()
}

function exists(): Answer {
  return refusal('token_exists', 'There is such a token already, and it is another.', 'symbol')
}

/** It is here: there may be more of it by now. */
function judgeGrowth(token: TokenState, { arrival }: HoldToken): Answer | undefined {
  const by = grownBy(token, arrival)
  if (by.lessThanOrEqualTo(ZERO)) return { kind: 'arrival', state: 'present' }
  if (token.growing !== undefined) return refusal('token_exists', 'Another import brings more of it.', 'symbol')
  return exceeds(token, by)
    ? refusal('supply_limit', 'With what was minted there its supply has too many digits here.', 'total_supply')
    : undefined
}

function grownBy({ arrived }: TokenState, { totalSupply }: ArrivingToken): Quantity {
  return parseQuantity(totalSupply).minus(parseQuantity(arrived?.supply ?? totalSupply))
}

/** Room for it is kept (T1). */
export function holdGrowth(token: TokenState, command: HoldToken): Turned {
  const by = formatQuantity(grownBy(token, command.arrival))
  return { token: next(token, command, { growing: { ...command.from, by } }), effects: [] }
}

export function takeGrowth(token: TokenState, command: TakeArrivalCommand): Turned {
  const { growing, arrived, ...rest } = token
  invariant(growing !== undefined && arrived !== undefined, `${token.tokenId} grows, and nothing of it was held`)
  const by = parseQuantity(growing.by)
  const supply = formatQuantity(parseQuantity(arrived.supply).plus(by))
  const totalSupply = formatQuantity(parseQuantity(token.totalSupply).plus(by))
  return {
    token: next({ ...rest, arrived: { ...arrived, supply } }, command, { totalSupply }),
    effects: [{ kind: 'boundary_crossed', tokenId: token.tokenId, quantity: by.negated() }],
  }
}

export function dropGrowth({ growing: _growing, ...token }: TokenState, command: DropArrivalCommand): Turned {
  return { token: next(token, command, {}), effects: [] }
}

export function holdArrival({ from, arrival, caller, atMs }: HoldToken): Turned {
  const { tokenId, decimals, issuer, initialSupply, totalSupply } = arrival
  const token: TokenState = {
    kind: 'token',
    format: 1,
    id: tokenId.toLowerCase(),
    version: 1,
    status: 'preparing',
    tokenId,
    decimals,
    issuer,
    totalSupply,
    initialSupply,
    held: {},
    clientId: caller.clientId,
    registrationKey: `import ${from.importId}`,
    arrived: { ...from, supply: totalSupply },
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
  return { token, effects: [] }
}

export function takeArrival(token: TokenState, command: TakeArrivalCommand): Turned {
  const { tokenId, totalSupply } = token
  const quantity = parseQuantity(totalSupply).negated()
  return {
    token: next(token, command, { status: 'active' }),
    effects: quantity.isZero() ? [] : [{ kind: 'boundary_crossed', tokenId, quantity }],
  }
}
