/**
 * A token that comes from another ledger: held without being there, then there at once, with the supply that it has. What of
 * that supply accounts bring is credited with them; the rest is outside of this ledger, as value that left it would be.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import { arrivalAnswer, type TakeArrivalCommand } from '../arrival.ts'
import { parseQuantity } from '../money.ts'
import type { HoldToken, TokenArrivalCommand } from './commands.ts'
import type { TokenState } from './state.ts'
import { next, type Turned } from './supply.ts'

/** What is answered without a step; undefined where something is to be done. */
export function judgeTokenArrival(token: TokenState | null, command: TokenArrivalCommand): Answer | undefined {
  const isHeld = token?.status === 'preparing' && token.arrived !== undefined
  if (command.type !== 'hold_arrival') {
    if (isHeld && token.arrived?.importId === command.importId) return undefined
    if (command.type === 'drop_arrival' || (!isHeld && token?.arrived !== undefined)) return arrivalAnswer(command)
    return refusal('rejected', 'Nothing is held for this import.', 'import_id')
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
  if (isSame && !isHeld) return { kind: 'arrival', state: 'present' }
  if (isSame && arrived.importId === from.importId) return arrivalAnswer(command)
  return refusal('token_exists', 'There is such a token already, and it is another.', 'symbol')
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
