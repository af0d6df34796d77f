/** Builds an actor's command from an item. Signed fields come only from the payload that the signature covers. */
import type { ActorKind } from '../../../actors/address.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isAccountId, isHoldId, isUuid } from '../../../actors/identifiers.ts'
import type { Stamp } from '../../../actors/message.ts'
import { fractionalDigits, isDecimalString, parseQuantity } from '../../../actors/money.ts'
import { foldedName } from '../../../actors/nft-class/state.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { readTerms } from '../../../actors/group/terms.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import { type Item, type Operation, OPERATION_MEMBERS } from '../../protocol/messages.ts'
import type { ReadPublicKey } from '../../ports/public-keys.ts'
import {
  isObject,
  readPayload,
  readSubmission,
  readTermsHash,
  type SignedPayload,
} from '../../protocol/signed-payload.ts'
import { readCapture, readHoldOrder } from '../../protocol/hold-payload.ts'
import { arrivalFor, isName, isUsedKeys } from './arrival-checks.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

const ARRIVING: readonly ActorKind[] = ['account', 'token', 'class', 'instance']

/** The kinds of actors that an operation may name; by default accounts only. */
const TAKERS: { readonly [Kind in Operation['kind']]?: readonly ActorKind[] } = {
  force_release: ['hold'],
  register_token: ['token'],
  register_class: ['class'],
  register_group: ['group'],
  revert_group: ['group'],
  hold_arrival: ARRIVING,
  take_arrival: ARRIVING,
  drop_arrival: ARRIVING,
}
const ACCOUNTS: readonly ActorKind[] = ['account']

interface Reading {
  readonly production: boolean
  readonly readPublicKey: ReadPublicKey
}

/** undefined: this version does not support the operation or its payload. */
export function commandOf(item: Item, stamp: Stamp, reading: Reading): AnyCommand | undefined {
  const { operation, actor, shardId, caller } = item
  if (!(TAKERS[operation.kind] ?? ACCOUNTS).includes(actor.kind)) return undefined
  const own = ownMembers(item, stamp, reading)
  if (own === undefined) return undefined
  const { atMs, salt, newTxnId } = stamp
  const type = operation.kind === 'capture' ? 'submit' : operation.kind
  const command: object = { type, atMs, salt, newTxnId, caller, accountId: actor.id, shardId }
  // The type of the command follows from the operation's kind.
  return Object.assign(command, own) as AnyCommand
}

function ownMembers(item: Item, stamp: Stamp, { production, readPublicKey }: Reading): object | undefined {
  const { operation, actor } = item
  switch (operation.kind) {
    case 'submit':
    case 'dry_run':
      return submit(operation, actor.id)
    case 'capture':
      return capture(operation, actor.id)
    case 'create_hold':
      return createHold(operation, actor.id)
    case 'release_hold':
      return releaseHold(operation, actor.id)
    case 'rotate_key':
      return rotateKey(operation, actor.id, readPublicKey)
    case 'decline_legs':
      return declineLegs(operation, actor.id)
    case 'mint':
      return mint(operation, actor.id)
    case 'register_token':
      return registerToken(operation, item, production)
    case 'register_class':
      return registerClass(operation, item, stamp, production)
    case 'register_group':
      return registerGroup(operation, item)
    case 'hold_arrival': {
      const arrival = arrivalFor(actor, operation)
      return arrival && { from: operation.from, arrival: arrival.held }
    }
    case 'take_arrival':
    case 'drop_arrival':
      return isName(operation.importId) ? unsigned(operation) : undefined
    case 'note_used_keys':
      return isName(operation.importId) && isUsedKeys(operation) ? unsigned(operation) : undefined
    case 'depart':
      return isName(operation.audience) ? unsigned(operation) : undefined
    case 'register':
    case 'change_status':
    case 'erase':
    case 'force_release':
    case 'pause':
    case 'resume':
    case 'show_actor':
      return unsigned(operation)
    case 'revert_group':
      return { groupId: actor.id, ...unsigned(operation) }
  }
}

/** The members of an unsigned operation's type, and no others. An absent one is null. */
function unsigned(operation: Operation): object {
  const given: { readonly [name: string]: unknown } = { ...operation }
  const names = Object.keys(OPERATION_MEMBERS[operation.kind])
  return Object.fromEntries(names.map((name) => [name, given[name] ?? null]))
}

interface PayloadOfAccount extends SignedPayload {
  readonly ledgerId: string | null
}

/** undefined: the payload names another account, or is malformed. */
function payloadOf(accountId: string, { payload }: { readonly payload: string }): PayloadOfAccount | undefined {
  const read = readPayload(payload)
  if (read === undefined || read.fields['account_id'] !== accountId) return undefined
  const { ledger_id: ledgerId = null } = read.fields
  return ledgerId === null || typeof ledgerId === 'string' ? { ...read, ledgerId } : undefined
}

function submit({ payload, signature }: Of<'submit' | 'dry_run'>, accountId: string): object | undefined {
  const read = readPayload(payload)
  const submission = read === undefined ? undefined : readSubmission(read.fields)
  if (read === undefined || submission?.accountId !== accountId) return undefined
  const { idempotencyKey } = submission
  return { submission, payload, payloadHash: read.hash, signature, idempotencyKey }
}

function capture(operation: Of<'capture'>, accountId: string): object | undefined {
  const { payload, signature } = operation
  const read = readPayload(payload)
  const submission = read === undefined ? undefined : readCapture(read.fields, operation)
  if (read === undefined || submission?.accountId !== accountId) return undefined
  const { idempotencyKey } = submission
  return { submission, payload, payloadHash: read.hash, signature, idempotencyKey }
}

function createHold(operation: Of<'create_hold'>, accountId: string): object | undefined {
  const { payload, signature } = operation
  const read = payloadOf(accountId, operation)
  const order = read === undefined ? undefined : readHoldOrder(read.fields)
  if (read === undefined || order === undefined) return undefined
  return { ...order, ledgerId: read.ledgerId, payload, payloadHash: read.hash, signature }
}

function releaseHold(operation: Of<'release_hold'>, accountId: string): object | undefined {
  const { payload, signature } = operation
  const read = payloadOf(accountId, operation)
  const holdId = read?.fields['hold_id']
  if (read === undefined || typeof holdId !== 'string' || !isHoldId(holdId)) return undefined
  return { holdId, ledgerId: read.ledgerId, payload, signature }
}

function rotateKey(operation: Of<'rotate_key'>, accountId: string, readPublicKey: ReadPublicKey): object | undefined {
  const { proof, payload, signature } = operation
  const read = payloadOf(accountId, operation)
  const { idempotency_key: idempotencyKey, public_key: publicKey } = read?.fields ?? {}
  if (read === undefined || typeof idempotencyKey !== 'string') return undefined
  const newKey = readPublicKey(publicKey)
  if (newKey === undefined) return undefined
  return { ledgerId: read.ledgerId, newKey, proof, payload, payloadHash: read.hash, signature, idempotencyKey }
}

function declineLegs(operation: Of<'decline_legs'>, accountId: string): object | undefined {
  const { payload, signature } = operation
  const read = payloadOf(accountId, operation)
  const groupId = read?.fields['group_id']
  const termsHash = readTermsHash(read?.fields['terms_hash'])
  if (read === undefined || typeof groupId !== 'string' || !isUuid(groupId)) return undefined
  if (typeof termsHash !== 'string') return undefined
  return { groupId: groupId.toLowerCase(), termsHash, ledgerId: read.ledgerId, payload, signature }
}

function mint(operation: Of<'mint'>, accountId: string): object | undefined {
  const { payload, signature, metadataVerdict } = operation
  const read = payloadOf(accountId, operation)
  const fields: JsonObject = read?.fields ?? {}
  const { class_id: classId, instance_id: instanceId, idempotency_key: idempotencyKey } = fields
  const { owner = accountId, metadata } = fields
  if (read === undefined || typeof idempotencyKey !== 'string' || !isObject(metadata)) return undefined
  if (typeof classId !== 'string' || !isClassId(classId) || typeof instanceId !== 'string') return undefined
  if (!isAccountId(instanceId) || typeof owner !== 'string' || !isAccountId(owner)) return undefined
  const named = { classId, instanceId, owner, metadata, metadataVerdict, ledgerId: read.ledgerId }
  return Object.assign(named, { payload, payloadHash: read.hash, signature, idempotencyKey })
}

const SYMBOL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

function registerToken(operation: Of<'register_token'>, item: Item, production: boolean): object | undefined {
  const { symbol, decimals, issuer, total_supply: totalSupply } = readPayload(operation.payload)?.fields ?? {}
  if (typeof symbol !== 'string' || !SYMBOL.test(symbol) || symbol.toLowerCase() !== item.actor.id) return undefined
  if (typeof issuer !== 'string' || !isAccountId(issuer)) return undefined
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > 18) return undefined
  if (typeof totalSupply !== 'string' || !isDecimalString(totalSupply)) return undefined
  if (fractionalDigits(parseQuantity(totalSupply)) > decimals) return undefined
  return { tokenId: symbol, decimals, issuer, totalSupply, ...registration(operation, item, production) }
}

const MAX_CLASS_NAME_LENGTH = 256

function registerClass(
  operation: Of<'register_class'>,
  item: Item,
  { newTxnId }: Stamp,
  production: boolean,
): object | undefined {
  const { name, description, issuer, metadata_schema: metadataSchema } = readPayload(operation.payload)?.fields ?? {}
  if (typeof name !== 'string' || name === '') return undefined
  if (name.length > 2 * MAX_CLASS_NAME_LENGTH || foldedName(name) !== item.actor.id) return undefined
  if (typeof description !== 'string' || typeof issuer !== 'string' || !isAccountId(issuer)) return undefined
  if (!isObject(metadataSchema)) return undefined
  const newClassId = newTxnId.replace('txn_', 'cls_')
  return { newClassId, name, description, issuer, metadataSchema, ...registration(operation, item, production) }
}

function registration(operation: Of<'register_token' | 'register_class'>, item: Item, production: boolean): object {
  const { payload, signature } = operation
  return {
    payload,
    signature: signature ?? '',
    // A given signature must be valid, for any caller.
    consentNeeded: signature !== null || (production && item.caller.role !== 'admin'),
    registrationKey: registrationKeyOf(operation, item),
  }
}

function registerGroup(operation: Of<'register_group'>, item: Item): object | undefined {
  const payload = readPayload(operation.payload)
  const terms = payload === undefined ? undefined : readTerms(payload.fields)
  if (terms?.ok !== true || terms.value.groupId !== item.actor.id) return undefined
  return { groupId: item.actor.id, terms: terms.value, registrationKey: registrationKeyOf(operation, item) }
}

/** Without a client's key, the request ID identifies all attempts of the request. */
function registrationKeyOf(
  { registrationKey }: { readonly registrationKey: string | null },
  { requestId }: Pick<Item, 'requestId'>,
): string {
  return registrationKey === null ? `request ${requestId}` : `key ${registrationKey}`
}
