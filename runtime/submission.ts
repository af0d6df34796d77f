/**
 * Reads a submission out of the canonical payload that its signature covers, so that what is applied is what was
 * signed and nothing that an edge says beside it. The edge has checked the shape; here anything odd is no submission.
 */
import { sha256Hex } from '../actors/audit-chain.ts'
import type { Json, JsonObject } from '../actors/canonical-json.ts'
import { type Submission, TRANSACTION_TYPES, type TransactionType } from '../actors/account/commands.ts'
import { isUuid } from '../actors/identifiers.ts'
import { BASE_UNIT, isDecimalString, parseQuantity } from '../actors/money.ts'
import { parseTimestamp } from '../actors/timestamp.ts'

export interface SignedPayload {
  readonly fields: JsonObject
  readonly hash: string
}

export function readPayload(payload: string): SignedPayload | undefined {
  const parsed = JSON.parse(payload) as Json
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) return undefined
  return { fields: parsed as JsonObject, hash: sha256Hex(payload) }
}

export function readSubmission(fields: JsonObject): Submission | undefined {
  const accountId = text(fields['account_id'])
  const groupId = text(fields['group_id'])?.toLowerCase() ?? null
  const amount = text(fields['amount'])
  const type = fields['type']
  const idempotencyKey = text(fields['idempotency_key'])
  if (accountId === null || amount === null || idempotencyKey === null || !isTransactionType(type)) return undefined
  if (!isDecimalString(amount) || parseQuantity(amount).isZero()) return undefined
  if (groupId !== null && !isUuid(groupId)) return undefined
  const expiresAt = text(fields['expires_at'])
  const expiresAtMs = expiresAt === null ? null : parseTimestamp(expiresAt)
  if (expiresAtMs === undefined) return undefined
  const metadata = fields['metadata'] ?? null
  const tokenId = text(fields['token_id']) ?? BASE_UNIT
  const classId = text(fields['class_id'])
  // What this version cannot honour in a money order it must not ignore. An asset is refused when it is looked for.
  const inBaseUnit = tokenId === BASE_UNIT && classId === null
  const single = (type === 'credit' || type === 'debit') && !('to_account_id' in fields) && !('receive' in fields)
  if (inBaseUnit && !single) return undefined
  return {
    accountId,
    amount,
    type,
    idempotencyKey,
    tokenId,
    groupId,
    metadata: metadata === null ? null : (metadata as JsonObject),
    termsHash: text(fields['terms_hash']),
    classId,
    ledgerId: text(fields['ledger_id']),
    expiresAtMs,
  }
}

function isTransactionType(value: Json | undefined): value is TransactionType {
  return TRANSACTION_TYPES.some((type) => type === value)
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
