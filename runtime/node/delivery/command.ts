/** Turns an item into a command of its actor: time, ids and salt are given here, once (N1). */
import type { ActorAddress } from '../../../actors/address.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isAccountId, isUuid } from '../../../actors/identifiers.ts'
import { fractionalDigits, isDecimalString, parseQuantity } from '../../../actors/money.ts'
import { foldedName } from '../../../actors/nft-class/state.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { readTerms } from '../../../actors/group/terms.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import type { Item, Operation } from '../../messages.ts'
import type { Random } from '../../ports/random.ts'
import { readPayload, readSubmission, readTermsHash } from '../../signed-payload.ts'
import { isPortage, portageCommand } from './portage-command.ts'

export interface GivenStamp {
  readonly atMs: number
  readonly ulid: string
}

type Of<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

/**
 * What every command of this item has. In a literal it comes after a member of its own: V8 takes two microseconds for each
 * member that follows a spread with which a literal begins.
 */
function commonOf({ caller }: Item, { atMs, ulid }: GivenStamp, random: Random) {
  return { atMs, salt: random.hex(16), newTxnId: `txn_${ulid}`, caller }
}

type Common = ReturnType<typeof commonOf>

/** undefined: the item is no command that this version understands; it is refused, not guessed at. */
export function commandOf(item: Item, stamp: GivenStamp, random: Random, production: boolean): AnyCommand | undefined {
  const { operation, actor } = item
  const common = commonOf(item, stamp, random)
  if (isPortage(operation)) return portageCommand(actor, item.shardId, operation, common)
  switch (operation.kind) {
    case 'register_token':
      return registerToken(item, operation, common, production)
    case 'register_class':
      return registerClass(item, operation, common, stamp, production)
    case 'register_group':
      return registerGroup(item, operation, common)
    case 'revert_group': {
      const { reason, transactions } = operation
      if (actor.kind !== 'group') return undefined
      return { type: 'revert_group', ...common, groupId: actor.id, reason, transactions }
    }
    default:
      return actor.kind === 'account' ? accountCommand(actor, item.shardId, operation, common) : undefined
  }
}

type UnsignedOperation = Of<'register' | 'change_status' | 'erase' | 'pause' | 'resume' | 'show_actor'>
type SignedOperation = Of<'submit' | 'rotate_key' | 'mint' | 'decline_legs'>

function accountCommand(
  { id: accountId }: ActorAddress,
  shardId: number,
  operation: UnsignedOperation | SignedOperation,
  common: Common,
): AnyCommand | undefined {
  switch (operation.kind) {
    case 'register': {
      const { key, registrationKey } = operation
      return { type: 'register', ...common, accountId, shardId, key, registrationKey }
    }
    case 'change_status': {
      const { status, incoming, reason, registrationKey = null } = operation
      return { type: 'change_status', ...common, accountId, status, incoming, reason, registrationKey }
    }
    case 'erase':
    case 'pause':
    case 'resume':
      return { type: operation.kind, ...common, accountId, reason: operation.reason }
    case 'show_actor':
      return { type: 'show_actor', ...common, accountId }
    default:
      return signedCommand(accountId, operation, common)
  }
}

function signedCommand(accountId: string, operation: SignedOperation, common: Common): AnyCommand | undefined {
  switch (operation.kind) {
    case 'submit': {
      const payload = readPayload(operation.payload)
      const submission = payload === undefined ? undefined : readSubmission(payload.fields)
      if (payload === undefined || submission === undefined || submission.accountId !== accountId) return undefined
      return {
        type: 'submit',
        ...common,
        submission,
        payload: operation.payload,
        payloadHash: payload.hash,
        signature: operation.signature,
        idempotencyKey: submission.idempotencyKey,
      }
    }
    case 'decline_legs':
      return decline(accountId, operation, common)
    case 'mint':
      return mint(accountId, operation, common)
    case 'rotate_key': {
      const payload = readPayload(operation.payload)
      const idempotencyKey = payload?.fields['idempotency_key']
      if (payload === undefined || typeof idempotencyKey !== 'string') return undefined
      const { ledger_id: ledgerId = null } = payload.fields
      if (payload.fields['account_id'] !== accountId) return undefined
      if (ledgerId !== null && typeof ledgerId !== 'string') return undefined
      return {
        type: 'rotate_key',
        ...common,
        accountId,
        ledgerId,
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

function decline(
  accountId: string,
  { payload: text, signature }: Of<'decline_legs'>,
  common: Common,
): AnyCommand | undefined {
  const fields: JsonObject = readPayload(text)?.fields ?? {}
  const { group_id: groupId, ledger_id: ledgerId = null } = fields
  const termsHash = readTermsHash(fields['terms_hash'])
  if (fields['account_id'] !== accountId || typeof groupId !== 'string' || !isUuid(groupId)) return undefined
  if (typeof termsHash !== 'string' || (ledgerId !== null && typeof ledgerId !== 'string')) return undefined
  const named = { accountId, groupId: groupId.toLowerCase(), termsHash, ledgerId }
  return { type: 'decline_legs', ...common, ...named, payload: text, signature }
}

function mint(accountId: string, operation: Of<'mint'>, common: Common): AnyCommand | undefined {
  const payload = readPayload(operation.payload)
  const fields: JsonObject = payload?.fields ?? {}
  const { class_id: classId, instance_id: instanceId, idempotency_key: idempotencyKey } = fields
  const { owner = accountId, metadata, ledger_id: ledgerId = null } = fields
  if (payload === undefined || fields['account_id'] !== accountId || typeof idempotencyKey !== 'string')
    return undefined
  if (typeof classId !== 'string' || !isClassId(classId) || typeof instanceId !== 'string') return undefined
  if (!isAccountId(instanceId) || typeof owner !== 'string' || !isAccountId(owner)) return undefined
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata)) return undefined
  if (ledgerId !== null && typeof ledgerId !== 'string') return undefined
  return {
    type: 'mint',
    ...common,
    accountId,
    classId,
    instanceId,
    owner,
    metadata: metadata as JsonObject,
    metadataVerdict: operation.metadataVerdict,
    ledgerId,
    payload: operation.payload,
    payloadHash: payload.hash,
    signature: operation.signature,
    idempotencyKey,
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
    type: 'register_token',
    ...common,
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

const MAX_CLASS_NAME_LENGTH = 256

function registerClass(
  { actor, requestId, caller }: Item,
  operation: Of<'register_class'>,
  common: Common,
  { ulid }: GivenStamp,
  production: boolean,
): AnyCommand | undefined {
  const { name, description, issuer, metadata_schema: schema } = readPayload(operation.payload)?.fields ?? {}
  if (actor.kind !== 'class' || typeof name !== 'string' || name === '') return undefined
  if (name.length > 2 * MAX_CLASS_NAME_LENGTH || foldedName(name) !== actor.id) return undefined
  if (typeof description !== 'string' || typeof issuer !== 'string' || !isAccountId(issuer)) return undefined
  if (schema === undefined || schema === null || typeof schema !== 'object' || Array.isArray(schema)) return undefined
  return {
    type: 'register_class',
    ...common,
    newClassId: `cls_${ulid}`,
    name,
    description,
    issuer,
    metadataSchema: schema as JsonObject,
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
  return { type: 'register_group', ...common, groupId: actor.id, terms: terms.value, registrationKey }
}

/** A client that gives no key is recognised by its request, over all its attempts. */
function registrationKeyOf(given: string | null, requestId: string): string {
  return given === null ? `request ${requestId}` : `key ${given}`
}
