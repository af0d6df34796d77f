/**
 * Reads a submission out of the canonical payload that its signature covers, so that what is applied is what was
 * signed and nothing that an edge says beside it. The edge has checked the shape; here anything odd is no submission.
 */
import { sha256Hex } from '../actors/audit-chain.ts'
import type { Json, JsonObject } from '../actors/canonical-json.ts'
import { type Submission, TRANSACTION_TYPES, type TransactionType } from '../actors/account/commands.ts'
import { isAccountId, isUuid } from '../actors/identifiers.ts'
import type { ExchangeSide } from '../actors/message.ts'
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
  if (!isAmount(amount)) return undefined
  if (groupId !== null && !isUuid(groupId)) return undefined
  const expiresAt = text(fields['expires_at'])
  const expiresAtMs = expiresAt === null ? null : parseTimestamp(expiresAt)
  const receive = readReceive(fields['receive'])
  const termsHash = readTermsHash(fields['terms_hash'])
  if (expiresAtMs === undefined || receive === undefined || termsHash === undefined) return undefined
  const submission: Submission = {
    accountId,
    amount,
    type,
    idempotencyKey,
    tokenId: text(fields['token_id']) ?? BASE_UNIT,
    groupId,
    toAccountId: text(fields['to_account_id']),
    receive,
    metadata: (fields['metadata'] ?? null) as JsonObject | null,
    termsHash,
    classId: text(fields['class_id']) ?? classOf(fields['receive']),
    ledgerId: text(fields['ledger_id']),
    expiresAtMs,
  }
  return isWhole(submission) ? submission : undefined
}

/** What the fields demand of each other (D3, D5): a money order that could mean two things means none. */
function isWhole({ accountId, type, tokenId, classId, groupId, toAccountId, receive, termsHash }: Submission): boolean {
  if (termsHash !== null && groupId === null) return false
  if (toAccountId !== null && (toAccountId === accountId || !isAccountId(toAccountId))) return false
  if (toAccountId !== null && type !== 'transfer' && type !== 'exchange') return false
  if (receive !== null && (type !== 'exchange' || receive.tokenId === tokenId)) return false
  const inBaseUnit = tokenId === BASE_UNIT && classId === null
  switch (type) {
    case 'credit':
    case 'debit':
      return true
    case 'transfer':
      return toAccountId !== null || groupId !== null
    case 'exchange':
      return groupId !== null && !inBaseUnit && (toAccountId === null) === (receive === null)
    case 'mint':
    case 'burn':
      return !inBaseUnit
  }
}

function isAmount(amount: string): boolean {
  return isDecimalString(amount) && !parseQuantity(amount).isZero()
}

/** null: there is none; undefined: it is none that this version understands. */
function readReceive(value: Json | undefined): ExchangeSide | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value !== 'object' || Array.isArray(value)) return undefined
  const fields = value as JsonObject
  const amount = text(fields['amount'])
  const tokenId = text(fields['token_id'])
  if (amount === null || !isAmount(amount) || (tokenId === null) === (classOf(fields) === null)) return undefined
  return { tokenId: tokenId ?? '', amount }
}

/** A class is refused where it is looked for, not here. */
function classOf(value: Json | undefined): string | null {
  return value === null || typeof value !== 'object' ? null : text((value as JsonObject)['class_id'])
}

function readTermsHash(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null
  const match = typeof value === 'string' ? /^sha256:([0-9a-f]{64})$/.exec(value) : null
  return match?.[1]
}

function isTransactionType(value: Json | undefined): value is TransactionType {
  return TRANSACTION_TYPES.some((type) => type === value)
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
