/**
 * Reads a submission from the canonical payload that its signature covers, so that only signed fields are applied. The
 * edge has checked the shape; here any malformed payload is no submission.
 */
import { sha256Hex } from '../../actors/audit-chain.ts'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { type Submission, TRANSACTION_TYPES } from '../../actors/account/commands.ts'
import { isAccountId, isTransactionId, isUuid } from '../../actors/identifiers.ts'
import type { ExchangeSide } from '../../actors/message.ts'
import { BASE_UNIT, isDecimalString, parseQuantity } from '../../actors/money.ts'
import { isNft, NFT_AMOUNT, nftId } from '../../actors/nft-id.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import { isOneOf } from '../../actors/shapes.ts'

const isTransactionType = isOneOf(TRANSACTION_TYPES)

export interface SignedPayload {
  readonly fields: JsonObject
  readonly hash: string
}

/** undefined: the text is not a JSON object. */
export function readPayload(payload: string): SignedPayload | undefined {
  try {
    const fields = JSON.parse(payload) as Json
    return isObject(fields) ? { fields, hash: sha256Hex(payload) } : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

export function readSubmission(fields: JsonObject): Submission | undefined {
  const accountId = text(fields['account_id'])
  const groupId = text(fields['group_id'])?.toLowerCase() ?? null
  const amount = text(fields['amount'])
  const type = fields['type']
  const idempotencyKey = text(fields['idempotency_key'])
  // A capture has a form of its own.
  if (fields['hold_id'] !== undefined) return undefined
  if (accountId === null || amount === null || idempotencyKey === null || !isTransactionType(type)) return undefined
  if (!isAmount(amount)) return undefined
  if (groupId !== null && !isUuid(groupId)) return undefined
  const expiresAt = text(fields['expires_at'])
  const expiresAtMs = expiresAt === null ? null : parseTimestamp(expiresAt)
  const tokenId = readAsset(fields, BASE_UNIT)
  const receive = readReceive(fields['receive'])
  const termsHash = readTermsHash(fields['terms_hash'])
  const metadata = fields['metadata'] ?? null
  if (expiresAtMs === undefined || tokenId === undefined || receive === undefined || termsHash === undefined) {
    return undefined
  }
  if (metadata !== null && !isObject(metadata)) return undefined
  const submission: Submission = {
    accountId,
    amount,
    type,
    idempotencyKey,
    tokenId,
    groupId,
    toAccountId: text(fields['to_account_id']),
    receive,
    metadata,
    termsHash,
    ledgerId: text(fields['ledger_id']),
    expiresAtMs,
    refunds: text(fields['refunds']),
  }
  return isWhole(submission) ? submission : undefined
}

/** Relations between the fields (D3, D5, D11): an ambiguous order is refused. */
function isWhole(submission: Submission): boolean {
  const { accountId, type, tokenId, groupId, toAccountId, receive, termsHash, refunds } = submission
  if (termsHash !== null && groupId === null) return false
  if (toAccountId !== null && (toAccountId === accountId || !isAccountId(toAccountId))) return false
  if (toAccountId !== null && type !== 'transfer' && type !== 'exchange') return false
  if (receive !== null && (type !== 'exchange' || receive.tokenId === tokenId)) return false
  if (refunds !== null && !isRefund(submission)) return false
  if (isNft(tokenId)) return isWholeNft(submission)
  switch (type) {
    case 'credit':
    case 'debit':
      return true
    case 'transfer':
      return toAccountId !== null || groupId !== null || refunds !== null
    case 'exchange':
      return groupId !== null && tokenId !== BASE_UNIT && (toAccountId === null) === (receive === null)
    case 'mint':
    case 'burn':
      return tokenId !== BASE_UNIT
  }
}

function isRefund({ type, tokenId, termsHash, refunds }: Submission): boolean {
  return type === 'transfer' && termsHash === null && !isNft(tokenId) && isTransactionId(refunds ?? '')
}

/** An NFT must have an owner: it is transferred to an account, exchanged with an account, or burned. */
function isWholeNft({ type, amount, groupId, toAccountId, receive }: Submission): boolean {
  if (amount !== NFT_AMOUNT) return false
  switch (type) {
    case 'transfer':
      return toAccountId !== null
    case 'exchange':
      return groupId !== null && toAccountId !== null && receive !== null
    case 'burn':
      return true
    default:
      return false
  }
}

export function isAmount(amount: string): boolean {
  return isDecimalString(amount) && parseQuantity(amount) !== 0n
}

/** null: absent; undefined: unsupported. */
function readReceive(value: Json | undefined): ExchangeSide | null | undefined {
  if (value === undefined || value === null) return null
  if (!isObject(value)) return undefined
  const amount = text(value['amount'])
  const tokenId = readAsset(value, undefined)
  if (amount === null || !isAmount(amount) || tokenId === undefined) return undefined
  return isNft(tokenId) && amount !== NFT_AMOUNT ? undefined : { tokenId, amount }
}

/** A token, or one instance of a class; `otherwise`: the default asset. */
export function readAsset(fields: JsonObject, otherwise: string | undefined): string | undefined {
  const { token_id: tokenId, class_id: classId, instance_id: instanceId } = fields
  if (classId === undefined && instanceId === undefined) {
    const named = text(tokenId)
    return named !== null && isNft(named) ? undefined : (named ?? otherwise)
  }
  if (tokenId !== undefined || typeof classId !== 'string' || typeof instanceId !== 'string') return undefined
  return isAccountId(instanceId) ? nftId({ classId, instanceId }) : undefined
}

/** null: absent; undefined: malformed. */
export function readTermsHash(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null
  const match = typeof value === 'string' ? /^sha256:([0-9a-f]{64})$/.exec(value) : null
  return match?.[1]
}

export function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
