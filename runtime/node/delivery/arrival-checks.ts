/**
 * Checks of imported records. The edge has verified the signature; here each record must be complete, because a staged
 * record cannot be refused later.
 */
import type { ArrivingAccount, ArrivingInstance, ArrivingToken } from '../../../actors/arrival.ts'
import { MAX_USED_KEYS } from '../../../actors/arrival.ts'
import { type ActorAddress, classAddress, tokenAddress } from '../../../actors/address.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { fractionalDigits, isDecimalString, MAX_DECIMALS, parseQuantity } from '../../../actors/money.ts'
import { isClassId, nftNameOf } from '../../../actors/nft-id.ts'
import type { Operation } from '../../protocol/messages.ts'

const HASH = /^[0-9a-f]{64}$/
const SALT = /^[0-9a-f]{32}$/
const USED_KEY = /^[A-Za-z0-9_-]{43}$/
const MAX_NAME = 128

export function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME
}

export function isUsedKeys({ hashes }: Extract<Operation, { readonly kind: 'note_used_keys' }>): boolean {
  return hashes.length <= MAX_USED_KEYS && hashes.every((one) => USED_KEY.test(one))
}

/** The record for the actor to stage; undefined if it is incomplete or another actor's. */
export function arrivalFor(
  { kind, id }: ActorAddress,
  { from, arrival }: Extract<Operation, { readonly kind: 'hold_arrival' }>,
): { readonly held: object | null } | undefined {
  if (!isName(from.ledgerId) || !isName(from.importId) || !HASH.test(from.recordHash)) return undefined
  if (arrival.kind !== kind) return undefined
  switch (arrival.kind) {
    case 'account':
      return arrival.account === null || isWholeAccount(arrival.account) ? { held: arrival.account } : undefined
    case 'token': {
      const { token } = arrival
      return isWholeToken(token) && tokenAddress(token.tokenId).id === id ? { held: token } : undefined
    }
    case 'class': {
      const { nftClass } = arrival
      const isWhole = isClassId(nftClass.classId) && isAccountId(nftClass.issuer)
      return isWhole && classAddress(nftClass.name).id === id ? { held: nftClass } : undefined
    }
    case 'instance':
      return nftNameOf(id) !== undefined && isWholeInstance(arrival.instance) ? { held: arrival.instance } : undefined
  }
}

function isWholeAccount({ balances, keySalt, tip }: ArrivingAccount): boolean {
  if (!SALT.test(keySalt) || !HASH.test(tip)) return false
  return Object.values(balances).every((balance) => isDecimalString(balance) && parseQuantity(balance) !== 0n)
}

function isWholeToken({ decimals, issuer, initialSupply, totalSupply }: ArrivingToken): boolean {
  if (decimals > MAX_DECIMALS || !isAccountId(issuer)) return false
  return [initialSupply, totalSupply].every(
    (supply) => isDecimalString(supply) && fractionalDigits(parseQuantity(supply)) <= decimals,
  )
}

function isWholeInstance({ issuer, owner, events }: ArrivingInstance): boolean {
  if (!isAccountId(issuer) || !isAccountId(owner)) return false
  return events.length > 0 && events.every(({ number, eventHash }, index) => number === index && HASH.test(eventHash))
}
