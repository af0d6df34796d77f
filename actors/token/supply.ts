/**
 * Actions on a token's supply, which the token alone decides.
 *   T1. The supply plus the held mints never exceeds 18 integer digits; the supply covers all burns, held burns
 *       included.
 *   T2. The token holds supply for a leg only after the leg's account has signed, and for a limited number of legs per
 *       client.
 *   T3. The token decides each request once, since each message is delivered once.
 */
import { accountAddress, groupAddress } from '../address.ts'
import { type Repeatable, sent } from '../account/outcome.ts'
import { type Change, written } from '../define-actor.ts'
import { failure, type FailureCode } from '../account/transaction.ts'
import type { LegName, Message, Stamp } from '../message.ts'
import { formatQuantity, LARGEST, parseQuantity, type Quantity, ZERO } from '../money.ts'
import { invariant } from '../result.ts'
import { consentOf } from '../registration.ts'
import { newToken, type RegisterTokenCommand, type TokenCommandOf, type TokenData, tokenViewOf } from './state.ts'

export type TokenChange = Change<TokenData>

export function register(command: RegisterTokenCommand): TokenChange {
  const { tokenId, issuer, totalSupply, registrationKey } = command
  const data = newToken({ ...command, initialSupply: totalSupply }, command, registrationKey)
  const prepare = { type: 'prepare_issue', tokenId, totalSupply, ...consentOf(command) } as const
  return { data, effects: [sent(accountAddress(issuer), prepare)], answer: 'deferred' }
}

/** The token now exists; its supply is on the way to its issuer. */
export function begin(token: TokenData, stamp: Stamp): TokenChange {
  const { tokenId, issuer, totalSupply } = token
  const credit: Message = { type: 'credit_issue', tokenId, totalSupply }
  return {
    data: written(token, stamp),
    effects: [sent(accountAddress(issuer), credit, [{ tokenId, quantity: totalSupply }])],
  }
}

/** The token as registered. */
export function registeredAnswer(token: TokenData, repeated: Repeatable) {
  const view = { ...tokenViewOf(token), totalSupply: formatQuantity(parseQuantity(token.initialSupply)) }
  return { kind: 'token_registered', token: view, ...repeated } as const
}

export function changeSupply(token: TokenData, command: TokenCommandOf<'change_supply'>): TokenChange {
  const { txnId, accountId, change, amount } = command
  const { tokenId } = token
  const refused = refuses(token, change, parseQuantity(amount))
  const answer: Message = { type: 'conclude_supply', txnId, failure: refused === undefined ? null : failure(refused) }
  if (refused !== undefined)
    return { data: written(token, command), effects: [sent(accountAddress(accountId), answer)] }
  return {
    data: written(token, command, { totalSupply: supplyAfter(token, change, amount) }),
    effects: [sent(accountAddress(accountId), answer, [{ tokenId, quantity: signed(change, amount) }])],
  }
}

/** T2. The group orders the revert of a hold; a token that refused has none. */
export function holdSupply(token: TokenData, command: TokenCommandOf<'hold_supply'>): TokenChange {
  const { groupId, leg, role, change, amount, clientId } = command
  const name: LegName = { groupId, leg, role }
  const refused = refusesLeg(token, command)
  if (refused !== undefined) {
    const failed: Message = { type: 'leg_failed', ...name, txnId: null, failure: failure(refused) }
    return { data: written(token, command), effects: [sent(groupAddress(groupId), failed)] }
  }
  const held = { ...token.held, [heldKey(name)]: { change, amount, clientId } }
  const done: Message = { type: 'leg_completed', ...name, txnId: null, metadata: null }
  return { data: written(token, command, { held }), effects: [sent(groupAddress(groupId), done)] }
}

export function settleLeg(token: TokenData, command: TokenCommandOf<'settle_leg'>): TokenChange {
  const { groupId, leg, role } = command
  const { held, change, amount } = released(token, command)
  return {
    data: written(token, command, { held, totalSupply: supplyAfter(token, change, amount) }),
    effects: [sent(groupAddress(groupId), { type: 'leg_settled', groupId, leg, role })],
  }
}

export function revertLeg(token: TokenData, command: TokenCommandOf<'revert_leg'>): TokenChange {
  const { groupId, leg, role } = command
  const { [heldKey(command)]: _, ...held } = token.held
  return {
    data: written(token, command, { held }),
    effects: [sent(groupAddress(groupId), { type: 'leg_reverted', groupId, leg, role, compensation: null })],
  }
}

function released(token: TokenData, name: LegName) {
  const { [heldKey(name)]: hold, ...held } = token.held
  invariant(hold !== undefined, `${token.tokenId} does not hold leg ${name.leg} of ${name.groupId}`)
  return { held, ...hold }
}

function heldKey({ groupId, leg }: LegName): string {
  return `${groupId} ${leg}`
}

/** Limit on one client's legs with supply on hold at a token: every change visits each of them. */
export const MAX_HELD_LEGS = 100

function refusesLeg(
  token: TokenData,
  { change, amount, clientId }: TokenCommandOf<'hold_supply'>,
): FailureCode | undefined {
  let held = 0
  for (const hold of Object.values(token.held)) if (hold.clientId === clientId) held += 1
  return held < MAX_HELD_LEGS ? refuses(token, change, parseQuantity(amount)) : 'leg_limit'
}

/** T1. */
function refuses(
  token: TokenData,
  change: 'mint' | 'burn',
  amount: Quantity,
): 'supply_limit' | 'supply_underflow' | undefined {
  const supply = parseQuantity(token.totalSupply)
  const held = heldOf(token, change)
  if (change === 'mint') return exceeds(token, amount) ? 'supply_limit' : undefined
  return supply - held < amount ? 'supply_underflow' : undefined
}

/** T1: whether the supply, with all held mints and staged imports, would exceed its limit. */
export function exceeds(token: TokenData, amount: Quantity): boolean {
  return parseQuantity(token.totalSupply) + heldOf(token, 'mint') + amount > LARGEST
}

function heldOf({ held, growing }: TokenData, change: 'mint' | 'burn'): Quantity {
  let sum = change === 'mint' && growing !== undefined ? parseQuantity(growing.by) : ZERO
  for (const hold of Object.values(held)) if (hold.change === change) sum += parseQuantity(hold.amount)
  return sum
}

function supplyAfter({ totalSupply }: TokenData, change: 'mint' | 'burn', amount: string): string {
  const before = parseQuantity(totalSupply)
  const quantity = parseQuantity(amount)
  return formatQuantity(change === 'mint' ? before + quantity : before - quantity)
}

function signed(change: 'mint' | 'burn', amount: string): string {
  return change === 'mint' ? amount : `-${amount}`
}
