/** Turns an item into a command of its actor: time, ids and salt are given here, once (N1). */
import type { ActorAddress } from '../../actors/address.ts'
import { isAccountId } from '../../actors/identifiers.ts'
import { fractionalDigits, isDecimalString, parseQuantity } from '../../actors/money.ts'
import { readTerms } from '../../actors/group/terms.ts'
import type { AnyCommand } from '../../actors/step-actor.ts'
import type { Item, Operation } from '../messages.ts'
import type { Random } from '../ports/random.ts'
import { readPayload, readSubmission } from '../submission.ts'

export interface GivenStamp {
  readonly atMs: number
  readonly ulid: string
}

type Of<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

/** What every command of this item has. */
function commonOf({ caller }: Item, { atMs, ulid }: GivenStamp, random: Random) {
  return { atMs, salt: random.hex(16), newTxnId: `txn_${ulid}`, caller }
}

type Common = ReturnType<typeof commonOf>

/** undefined: the item is no command that this version understands; it is refused, not guessed at. */
export function commandOf(item: Item, stamp: GivenStamp, random: Random, production: boolean): AnyCommand | undefined {
  const { operation, actor } = item
  const common = commonOf(item, stamp, random)
  switch (operation.kind) {
    case 'register_token':
      return registerToken(item, operation, common, production)
    case 'register_group':
      return registerGroup(item, operation, common)
    case 'revert_group': {
      const { reason, transactions } = operation
      if (actor.kind !== 'group') return undefined
      return { ...common, type: 'revert_group', groupId: actor.id, reason, transactions }
    }
    default:
      return actor.kind === 'account' ? accountCommand(actor, item.shardId, operation, common) : undefined
  }
}

function accountCommand(
  { id: accountId }: ActorAddress,
  shardId: number,
  operation: Of<'register' | 'change_status' | 'submit' | 'rotate_key'>,
  common: Common,
): AnyCommand | undefined {
  switch (operation.kind) {
    case 'register': {
      const { key, registrationKey } = operation
      return { ...common, type: 'register', accountId, shardId, key, registrationKey }
    }
    case 'change_status': {
      const { status, incoming, reason } = operation
      return { ...common, type: 'change_status', accountId, status, incoming, reason }
    }
    case 'submit': {
      const payload = readPayload(operation.payload)
      const submission = payload === undefined ? undefined : readSubmission(payload.fields)
      if (payload === undefined || submission === undefined || submission.accountId !== accountId) return undefined
      return {
        ...common,
        type: 'submit',
        submission,
        payload: operation.payload,
        payloadHash: payload.hash,
        signature: operation.signature,
        idempotencyKey: submission.idempotencyKey,
      }
    }
    case 'rotate_key': {
      const payload = readPayload(operation.payload)
      const idempotencyKey = payload?.fields['idempotency_key']
      if (payload === undefined || typeof idempotencyKey !== 'string') return undefined
      if (payload.fields['account_id'] !== accountId) return undefined
      return {
        ...common,
        type: 'rotate_key',
        accountId,
        newKey: operation.newKey,
        proof: operation.proof,
        payload: operation.payload,
        payloadHash: payload.hash,
        signature: operation.signature,
        idempotencyKey,
      }
    }
  }
}

const SYMBOL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

function registerToken(
  { actor, requestId, caller }: Item,
  operation: Of<'register_token'>,
  common: Common,
  production: boolean,
): AnyCommand | undefined {
  const { symbol, decimals, issuer, total_supply: totalSupply } = readPayload(operation.payload)?.fields ?? {}
  if (actor.kind !== 'token' || typeof symbol !== 'string' || !SYMBOL.test(symbol)) return undefined
  if (symbol.toLowerCase() !== actor.id || typeof issuer !== 'string' || !isAccountId(issuer)) return undefined
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > 18) return undefined
  if (typeof totalSupply !== 'string' || !isDecimalString(totalSupply)) return undefined
  if (fractionalDigits(parseQuantity(totalSupply)) > decimals) return undefined
  return {
    ...common,
    type: 'register_token',
    tokenId: symbol,
    decimals,
    issuer,
    totalSupply,
    payload: operation.payload,
    signature: operation.signature ?? '',
    // A signature that is given must be right, whoever asks.
    consentNeeded: operation.signature !== null || (production && caller.role !== 'admin'),
    registrationKey: registrationKeyOf(operation.registrationKey, requestId),
  }
}

function registerGroup(
  { actor, requestId }: Item,
  operation: Of<'register_group'>,
  common: Common,
): AnyCommand | undefined {
  const payload = readPayload(operation.payload)
  const terms = payload === undefined ? undefined : readTerms(payload.fields)
  if (actor.kind !== 'group' || terms?.ok !== true || terms.value.groupId !== actor.id) return undefined
  const registrationKey = registrationKeyOf(operation.registrationKey, requestId)
  return { ...common, type: 'register_group', groupId: actor.id, terms: terms.value, registrationKey }
}

/** A client that gives no key is recognised by its request, over all its attempts. */
function registrationKeyOf(given: string | null, requestId: string): string {
  return given === null ? `request ${requestId}` : `key ${given}`
}
