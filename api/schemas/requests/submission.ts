/**
 * The shape of a submission (D3, D5): each field alone, then what fields demand of each other. Everything that is wrong
 * is told at once. The rules look at the body as it came: what they pass is signed, hashed and sent on unchanged.
 */
import * as v from 'valibot'
import { TRANSACTION_TYPES, withArticle } from '../../../actors/account/commands.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { ErrorCode, Invalid } from '../../http/problem.ts'
import {
  ACCOUNT_ID_PATTERN,
  accountIdField,
  amountField,
  checkedField,
  codePoints,
  groupIdField,
  idempotencyKeyField,
  ledgerIdField,
  signatureField,
  termsHashField,
  textField,
  tokenIdField,
  transactionIdField,
} from '../fields.ts'
import { unknownFields } from '../../http/invalid.ts'
import { define, defineClosed, named } from '../named-schema.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { closedErrors } from '../read-body.ts'
import { isRecord } from '../../../actors/shapes.ts'

const MAX_METADATA_MEMBERS = 16
const MAX_METADATA_KEY_LENGTH = 64
const MAX_METADATA_BYTES = 4096

const TYPE_RULE = `must be one of ${TRANSACTION_TYPES.join(', ')}`
const METADATA_RULE =
  'must be a flat object of at most 16 strings, with keys of 1 to 64 characters and 4,096 bytes in all'
const EXPIRY_RULE = 'must be an RFC 3339 timestamp with an offset'

const classIdField = textField(1, 128, 'must be the ID of an NFT class')
const instanceIdField = checkedField('must be the ID of an instance', isAccountId, { pattern: ACCOUNT_ID_PATTERN })

export const metadataField = named(
  'OrderMetadata',
  'A flat object of at most 16 strings, with keys of 1 to 64 characters, and 4,096 bytes in all.',
  v.pipe(
    v.custom<JsonObject>(isMetadata, METADATA_RULE),
    v.metadata({
      type: 'object',
      maxProperties: MAX_METADATA_MEMBERS,
      propertyNames: { minLength: 1, maxLength: MAX_METADATA_KEY_LENGTH },
      additionalProperties: { type: 'string' },
    }),
  ),
)

export const receiveSchema = defineClosed('ExchangeReturn', 'The asset that an exchange brings: a token, or one NFT.', {
  amount: [amountField, 'How much comes; `"1"` for an NFT.'],
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classIdField),
  instance_id: v.exactOptional(instanceIdField),
})

export const submissionSchema = define(
  'Submission',
  'A signed order.',
  {
    account_id: [accountIdField, 'The account whose value moves, and whose key signs.'],
    amount: [amountField, 'How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals.'],
    type: [v.picklist(TRANSACTION_TYPES, TYPE_RULE), 'The type of the transaction.'],
    signature: signatureField,
    idempotency_key: idempotencyKeyField,
    token_id: [
      v.exactOptional(tokenIdField),
      'The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange.',
    ],
    group_id: [
      v.exactOptional(groupIdField),
      'Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`.',
    ],
    to_account_id: [v.exactOptional(accountIdField), 'In transfers and exchanges: the other party.'],
    receive: [v.exactOptional(receiveSchema), 'In exchanges with `to_account_id`: what comes in return.'],
    metadata: [v.exactOptional(metadataField), 'Up to 16 strings for the client’s own use, copied to the other side.'],
    class_id: [v.exactOptional(classIdField), 'With `instance_id`, in place of `token_id`: the NFT that moves.'],
    instance_id: v.exactOptional(instanceIdField),
    terms_hash: [v.exactOptional(termsHashField), 'The `terms_hash` of the settlement group that this is a leg of.'],
    ledger_id: [
      v.exactOptional(ledgerIdField),
      'The ledger that the order is for, as `/readyz` tells it. Required in production.',
    ],
    expires_at: [
      v.exactOptional(checkedField(EXPIRY_RULE, (text) => parseTimestamp(text) !== undefined, { format: 'date-time' })),
      'Until when it may be decided; too late, it fails.',
    ],
    refunds: [
      v.exactOptional(transactionIdField),
      'In transfers: the received transfer whose value goes back to its sender, by the ID of the transfer or of its credit.',
    ],
  },
  {
    closed: true,
    relations: {
      dependentRequired: {
        class_id: ['instance_id'],
        instance_id: ['class_id'],
        receive: ['to_account_id'],
        terms_hash: ['group_id'],
      },
    },
  },
)
/** In one request (D21). */
export const MAX_BATCH = 500
export const BATCH_RULE = `must be an array of 1 to ${MAX_BATCH} submissions`
/** The schema of the document: each submission of a batch is validated as if it came alone. */
export const batchSchema = define('SubmissionBatch', 'Signed orders that travel together.', {
  submissions: [
    v.pipe(v.array(submissionSchema, BATCH_RULE), v.minLength(1, BATCH_RULE), v.maxLength(MAX_BATCH, BATCH_RULE)),
    'Each as it would be sent alone.',
  ],
})

/** Everything that is wrong with the body; empty when it is a submission that the ledger can judge. */
export function submissionErrors(body: JsonObject): readonly Invalid[] {
  const invalid = [...closedErrors(submissionSchema, body), ...assetErrors(body), ...counterpartErrors(body)]
  const { receive } = body
  if (isRecord<JsonObject>(receive)) {
    invalid.push(...unknownFields(receive, receiveSchema.entries, 'receive.'))
    if (body['type'] === 'exchange') invalid.push(...receiveErrors(receive, body))
  }
  return invalid
}

type Add = (field: string, code: ErrorCode, message: string) => void

/** The asset: the base unit, a token, or one NFT. */
function assetErrors(body: JsonObject): Invalid[] {
  const { type, class_id: classId } = body
  const invalid: Invalid[] = []
  const add: Add = (field, code, message) => void invalid.push({ field, code, message })
  if (classId !== undefined) {
    if (type === 'credit' || type === 'debit' || type === 'mint') {
      add('type', 'ERR_INVALID_TYPE', `${withArticle(type)} cannot move an NFT`)
    }
    addInstanceErrors(body, add)
    // An NFT needs a receiver: the external account holds none.
    if ((type === 'transfer' || type === 'exchange') && body['to_account_id'] === undefined) {
      add('to_account_id', 'ERR_INVALID_ACCOUNT_ID', 'is required where an NFT is given')
    }
    return invalid
  }
  const needy = type === 'mint' || type === 'burn' || type === 'exchange'
  addTokenErrors(body, needy ? `${withArticle(type)} needs a token, or a class and an instance` : null, add)
  return invalid
}

/** The asset that an exchange brings, checked against the asset that it gives. */
function receiveErrors(receive: JsonObject, given: JsonObject): Invalid[] {
  const invalid: Invalid[] = []
  const add: Add = (field, code, message) => void invalid.push({ field: `receive.${field}`, code, message })
  const { token_id: tokenId, class_id: classId, instance_id: instanceId } = receive
  if (classId === undefined) addTokenErrors(receive, 'an exchange brings a token, or a class and an instance', add)
  else addInstanceErrors(receive, add)
  if (classId === undefined && tokenId !== undefined && tokenId === given['token_id']) {
    add('token_id', 'ERR_INVALID_TOKEN_ID', 'is the token that is given')
  }
  if (classId !== undefined && classId === given['class_id'] && instanceId === given['instance_id']) {
    add('instance_id', 'ERR_INVALID_FIELD', 'is the instance that is given')
  }
  return invalid
}

/** Of an asset without a class. `needed`: why the base unit will not do; null where it will. */
function addTokenErrors(
  { token_id: tokenId, instance_id: instanceId }: JsonObject,
  needed: string | null,
  add: Add,
): void {
  if (instanceId !== undefined) add('class_id', 'ERR_INVALID_CLASS_ID', 'is required with instance_id')
  const named = tokenId !== undefined && tokenId !== BASE_UNIT
  if (!named && needed !== null) add('token_id', 'ERR_INVALID_TOKEN_ID', needed)
}

/** Of an asset with a class. */
function addInstanceErrors({ token_id: tokenId, instance_id: instanceId, amount }: JsonObject, add: Add): void {
  if (instanceId === undefined) add('instance_id', 'ERR_INVALID_FIELD', 'is required with class_id')
  if (tokenId !== undefined) add('token_id', 'ERR_INVALID_TOKEN_ID', 'is not allowed beside class_id')
  if (amount !== '1') add('amount', 'ERR_INVALID_AMOUNT', 'must be "1" for an NFT')
}

/** Whom it moves to, and under which group. */
function counterpartErrors(body: JsonObject): Invalid[] {
  const { type, account_id: accountId, to_account_id: toAccountId, group_id: groupId, receive, refunds } = body
  const invalid: Invalid[] = []
  const add = (field: string, code: ErrorCode, message: string): void => void invalid.push({ field, code, message })
  const named = toAccountId !== undefined
  const grouped = groupId !== undefined
  if (type === 'transfer' && !named && !grouped && refunds === undefined) {
    add('group_id', 'ERR_INVALID_GROUP_ID', 'a transfer needs to_account_id or group_id')
  }
  if (type === 'exchange' && !grouped) add('group_id', 'ERR_INVALID_GROUP_ID', 'an exchange needs group_id')
  if (body['terms_hash'] !== undefined && !grouped) {
    add('group_id', 'ERR_INVALID_GROUP_ID', 'is required with terms_hash')
  }
  if (named && type !== 'transfer' && type !== 'exchange') {
    add('to_account_id', 'ERR_INVALID_FIELD', 'is allowed in transfers and exchanges only')
  } else if (named && toAccountId === accountId) {
    add('to_account_id', 'ERR_SELF_TRANSFER', 'is the account itself')
  }
  if (refunds !== undefined) addRefundErrors(body, add)
  if (receive !== undefined && type !== 'exchange') add('receive', 'ERR_INVALID_FIELD', 'is allowed in exchanges only')
  else if (type === 'exchange' && named && receive === undefined) {
    add('receive', 'ERR_INVALID_FIELD', 'is required in an exchange with to_account_id')
  } else if (type === 'exchange' && !named && receive !== undefined) {
    add('to_account_id', 'ERR_INVALID_ACCOUNT_ID', 'is required with receive')
  }
  return invalid
}

function addRefundErrors({ type, terms_hash: termsHash, class_id: classId }: JsonObject, add: Add): void {
  if (type !== 'transfer') add('refunds', 'ERR_INVALID_FIELD', 'is allowed in transfers only')
  else if (termsHash !== undefined) add('refunds', 'ERR_INVALID_FIELD', 'is not allowed with terms_hash')
  else if (classId !== undefined) add('refunds', 'ERR_INVALID_FIELD', 'is not allowed for an NFT')
}

function isMetadata(value: unknown): boolean {
  if (!isRecord<JsonObject>(value)) return false
  const members = Object.entries(value)
  if (members.length > MAX_METADATA_MEMBERS) return false
  const shaped = members.every(
    ([key, text]) => typeof text === 'string' && key !== '' && codePoints(key) <= MAX_METADATA_KEY_LENGTH,
  )
  return shaped && Buffer.byteLength(canonicalJson(value)) <= MAX_METADATA_BYTES
}
