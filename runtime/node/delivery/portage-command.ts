/**
 * Commands of imports and of accounts that go to another ledger. Edges have checked what they say against what was signed;
 * here it is seen to be whole, for what is taken in cannot be refused later.
 */
import type { ArrivedFrom, ArrivingAccount, ArrivingInstance, ArrivingToken } from '../../../actors/arrival.ts'
import { MAX_USED_KEYS } from '../../../actors/arrival.ts'
import { type ActorAddress, classAddress, tokenAddress } from '../../../actors/address.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import type { CommandBase } from '../../../actors/account/commands.ts'
import { fractionalDigits, isDecimalString, MAX_DECIMALS, parseQuantity } from '../../../actors/money.ts'
import { isClassId, nftNameOf } from '../../../actors/nft-id.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import type { Operation } from '../../messages.ts'

const PORTAGE = ['hold_arrival', 'take_arrival', 'drop_arrival', 'note_used_keys', 'depart'] as const
export type PortageOperation = Extract<Operation, { readonly kind: (typeof PORTAGE)[number] }>

const HASH = /^[0-9a-f]{64}$/
const SALT = /^[0-9a-f]{32}$/
const USED_KEY = /^[A-Za-z0-9_-]{43}$/
const MAX_NAME = 128

export function isPortage(operation: Operation): operation is PortageOperation {
  return PORTAGE.some((kind) => kind === operation.kind)
}

/** undefined: it is no command that this version understands. */
export function portageCommand(
  actor: ActorAddress,
  shardId: number,
  operation: PortageOperation,
  common: CommandBase,
): AnyCommand | undefined {
  if ('importId' in operation && !isName(operation.importId)) return undefined
  const ofAccount = actor.kind === 'account' ? { accountId: actor.id } : undefined
  switch (operation.kind) {
    case 'hold_arrival':
      return holdCommand(actor, shardId, operation, common)
    case 'take_arrival':
    case 'drop_arrival': {
      if (actor.kind === 'group' || actor.kind === 'exchange') return undefined
      const { kind: type, importId } = operation
      return { ...common, type, importId, accountId: actor.id, shardId }
    }
    case 'note_used_keys': {
      const { importId, part, hashes } = operation
      if (ofAccount === undefined || !Number.isSafeInteger(part) || part < 0) return undefined
      if (hashes.length > MAX_USED_KEYS || !hashes.every((one) => USED_KEY.test(one))) return undefined
      return { ...common, type: 'note_used_keys', ...ofAccount, importId, part, hashes }
    }
    case 'depart': {
      const { audience, tokenId } = operation
      if (ofAccount === undefined || !isName(audience)) return undefined
      return { ...common, type: 'depart', ...ofAccount, audience, tokenId }
    }
  }
}

/** Of a ledger, or of an import. */
function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME
}

function isOrigin({ ledgerId, importId, recordHash }: ArrivedFrom): boolean {
  return isName(ledgerId) && isName(importId) && HASH.test(recordHash)
}

function holdCommand(
  actor: ActorAddress,
  shardId: number,
  { from, arrival }: Extract<PortageOperation, { readonly kind: 'hold_arrival' }>,
  common: CommandBase,
): AnyCommand | undefined {
  if (!isOrigin(from) || arrival.kind !== actor.kind) return undefined
  const hold = { ...common, type: 'hold_arrival', from } as const
  switch (arrival.kind) {
    case 'account': {
      const { account } = arrival
      if (account !== null && !isWholeAccount(account)) return undefined
      return { ...hold, accountId: actor.id, shardId, arrival: account }
    }
    case 'token': {
      const { token } = arrival
      const isWhole = isWholeToken(token) && tokenAddress(token.tokenId).id === actor.id
      return isWhole ? { ...hold, arrival: token } : undefined
    }
    case 'class': {
      const { nftClass } = arrival
      const isWhole = isClassId(nftClass.classId) && isAccountId(nftClass.issuer)
      return isWhole && classAddress(nftClass.name).id === actor.id ? { ...hold, arrival: nftClass } : undefined
    }
    case 'instance': {
      const { instance } = arrival
      const isWhole = nftNameOf(actor.id) !== undefined && isWholeInstance(instance)
      return isWhole ? { ...hold, arrival: instance } : undefined
    }
  }
}

function isWholeAccount({ status, balances, nfts, keySalt, tip }: ArrivingAccount): boolean {
  if (!['active', 'frozen', 'closed'].includes(status)) return false
  if (!Number.isSafeInteger(nfts) || nfts < 0 || !SALT.test(keySalt) || !HASH.test(tip)) return false
  return Object.values(balances).every((balance) => isDecimalString(balance) && parseQuantity(balance) !== 0n)
}

function isWholeToken({ decimals, issuer, initialSupply, totalSupply }: ArrivingToken): boolean {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS || !isAccountId(issuer)) return false
  return [initialSupply, totalSupply].every(
    (supply) => isDecimalString(supply) && fractionalDigits(parseQuantity(supply)) <= decimals,
  )
}

function isWholeInstance({ issuer, owner, status, events }: ArrivingInstance): boolean {
  if (!isAccountId(issuer) || !isAccountId(owner) || (status !== 'active' && status !== 'burned')) return false
  return events.length > 0 && events.every(({ number, eventHash }, index) => number === index && HASH.test(eventHash))
}
