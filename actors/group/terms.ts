/**
 * The terms of a settlement group: its legs, and the time by which all must be submitted (D10).
 *   Legs net to zero per asset: a leg with a receiver counts for both sides; a `boundary` leg has an external account
 *   on the other side; mints and burns do not count.
 */
import { sha256Hex } from '../audit-chain.ts'
import { canonicalJson, type Json, type JsonObject } from '../canonical-json.ts'
import { isSelfTransfer, TRANSACTION_TYPES, withArticle } from '../account/commands.ts'
import { isAccountId, isUuid } from '../identifiers.ts'
import type { LegTerms } from '../message.ts'
import { BASE_UNIT, formatQuantity, isDecimalString, parseQuantity, type Quantity, ZERO } from '../money.ts'
import { NFT_AMOUNT, nftId } from '../nft-id.ts'
import { ok, refuse, type Result } from '../result.ts'

export const MIN_LEGS = 2
export const MAX_LEGS = 64
export const MAX_TIMEOUT_SECONDS = 86_400
export const DEFAULT_TIMEOUT_SECONDS = 900

export interface Terms {
  /** Lower case. */
  readonly groupId: string
  readonly legs: readonly LegTerms[]
  readonly timeoutSeconds: number
  /** 64 hexadecimal digits. */
  readonly termsHash: string
}

export type TermsRule =
  | 'group_id'
  | 'legs'
  | 'timeout'
  | 'account_id'
  | 'type'
  | 'amount'
  | 'asset'
  | 'class'
  | 'instance'
  | 'receiver'
  | 'self_transfer'
  | 'boundary'
  | 'net'

/** `field`: as `legs[0].amount`. */
export interface TermsProblem {
  readonly field: string
  readonly rule: TermsRule
  readonly message: string
}

const TOKEN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Reads {group_id, legs, timeout_seconds}; returns all problems at once. */
export function readTerms(fields: JsonObject): Result<Terms, readonly TermsProblem[]> {
  const problems: TermsProblem[] = []
  const { group_id: groupId, legs, timeout_seconds: timeout } = fields
  if (typeof groupId !== 'string' || !isUuid(groupId))
    problems.push({ field: 'group_id', rule: 'group_id', message: 'must be a UUID' })
  if (typeof timeout !== 'number' || !Number.isInteger(timeout) || timeout < 1 || timeout > MAX_TIMEOUT_SECONDS) {
    problems.push({
      field: 'timeout_seconds',
      rule: 'timeout',
      message: `must be a whole number from 1 to ${MAX_TIMEOUT_SECONDS}`,
    })
  }
  const read = readLegs(legs, problems)
  if (problems.length === 0) problems.push(...selfTransfers(read), ...unbalanced(read))
  if (problems.length > 0 || typeof groupId !== 'string' || typeof timeout !== 'number') return refuse(problems)
  const id = groupId.toLowerCase()
  return ok({ groupId: id, legs: read, timeoutSeconds: timeout, termsHash: termsHashOf(id, legs, timeout) })
}

/** Hash of the terms. Submissions of legs carry it, which binds them to this agreement. */
function termsHashOf(groupId: string, legs: Json | undefined, timeoutSeconds: number): string {
  return sha256Hex(canonicalJson({ group_id: groupId, legs: legs ?? null, timeout_seconds: timeoutSeconds }))
}

function readLegs(legs: Json | undefined, problems: TermsProblem[]): readonly LegTerms[] {
  if (!Array.isArray(legs) || legs.length < MIN_LEGS || legs.length > MAX_LEGS) {
    problems.push({ field: 'legs', rule: 'legs', message: `must be an array of ${MIN_LEGS} to ${MAX_LEGS} legs` })
    return []
  }
  return (legs as readonly Json[]).flatMap((leg, index) => {
    const read = readLeg(leg, `legs[${index}]`, problems)
    return read === undefined ? [] : [read]
  })
}

function readLeg(leg: Json, at: string, problems: TermsProblem[]): LegTerms | undefined {
  if (leg === null || typeof leg !== 'object' || Array.isArray(leg)) {
    problems.push({ field: at, rule: 'legs', message: 'must be an object' })
    return undefined
  }
  // The body is not signed: null counts as an absent field.
  const fields: JsonObject = Object.fromEntries(Object.entries<Json>(leg).filter(([, value]) => value !== null))
  const { account_id: accountId, amount, to_account_id: to, boundary = false } = fields
  const wrong = (field: string, rule: TermsRule, message: string): void =>
    void problems.push({ field: `${at}.${field}`, rule, message })
  const before = problems.length
  const type = TRANSACTION_TYPES.find((known) => known === fields['type'])
  if (typeof accountId !== 'string' || !isAccountId(accountId))
    wrong('account_id', 'account_id', 'must be an account ID')
  if (type === undefined) wrong('type', 'type', `must be one of ${TRANSACTION_TYPES.join(', ')}`)
  if (typeof amount !== 'string' || !isDecimalString(amount) || parseQuantity(amount) === 0n) {
    wrong('amount', 'amount', 'must be a positive decimal string of at most 18+18 digits')
  }
  if (typeof boundary !== 'boolean') wrong('boundary', 'boundary', 'must be true or false')
  else if (boundary && (type === 'mint' || type === 'burn' || to !== undefined)) {
    wrong('boundary', 'boundary', 'is only for legs with an external account on the other side')
  }
  readReceiver(fields, type, wrong)
  const tokenId = readAsset(fields, type, wrong)
  if (problems.length > before || type === undefined) return undefined
  if (typeof accountId !== 'string' || typeof amount !== 'string') return undefined
  return {
    accountId,
    type,
    amount,
    tokenId,
    toAccountId: typeof to === 'string' ? to : null,
    boundary: boundary === true,
  }
}

type Wrong = (field: string, rule: TermsRule, message: string) => void

function readReceiver(fields: JsonObject, type: LegTerms['type'] | undefined, wrong: Wrong): void {
  const { account_id: accountId, to_account_id: to } = fields
  if (to === undefined) return
  if (typeof to !== 'string' || !isAccountId(to)) wrong('to_account_id', 'receiver', 'must be an account ID')
  else if (type !== 'transfer') wrong('to_account_id', 'receiver', 'is only for transfers')
  else if (to === accountId) wrong('to_account_id', 'self_transfer', 'must differ from account_id')
}

function readAsset(fields: JsonObject, type: LegTerms['type'] | undefined, wrong: Wrong): string {
  if (fields['class_id'] !== undefined) return readNft(fields, type, wrong)
  const { token_id: tokenId = BASE_UNIT } = fields
  if (fields['instance_id'] !== undefined) wrong('class_id', 'class', 'is required with instance_id')
  if (typeof tokenId !== 'string' || !TOKEN_ID.test(tokenId)) {
    wrong('token_id', 'asset', 'must be the ID of a token')
    return BASE_UNIT
  }
  if (tokenId === BASE_UNIT && (type === 'mint' || type === 'burn' || type === 'exchange')) {
    wrong('token_id', 'asset', `${withArticle(type)} needs a token`)
  }
  return tokenId
}

/** An NFT leg is a transfer to a receiver or a burn: no other type nets to zero. */
function readNft(fields: JsonObject, type: LegTerms['type'] | undefined, wrong: Wrong): string {
  const { class_id: classId, instance_id: instanceId, amount } = fields
  if (type !== undefined && type !== 'transfer' && type !== 'burn')
    wrong('type', 'type', 'must be transfer or burn for an NFT')
  if (type === 'transfer' && fields['to_account_id'] === undefined) {
    wrong('to_account_id', 'receiver', 'is required for the transfer of an NFT')
  }
  if (fields['token_id'] !== undefined) wrong('token_id', 'asset', 'must be absent with class_id')
  if (fields['boundary'] === true) wrong('boundary', 'boundary', 'must be false or absent for an NFT')
  if (amount !== NFT_AMOUNT) wrong('amount', 'amount', `must be "${NFT_AMOUNT}" for an NFT`)
  if (typeof classId !== 'string' || classId === '') wrong('class_id', 'class', 'must be the ID of an NFT class')
  if (typeof instanceId !== 'string' || !isAccountId(instanceId)) {
    wrong('instance_id', 'instance', 'must be the ID of an instance')
  }
  return typeof classId === 'string' && typeof instanceId === 'string' ? nftId({ classId, instanceId }) : BASE_UNIT
}

/** D5: the second leg of an account that sends an asset and credits it in one group. */
function selfTransfers(legs: readonly LegTerms[]): readonly TermsProblem[] {
  return legs.flatMap(({ accountId, tokenId, type }, index) => {
    const opposite = legs
      .slice(0, index)
      .find((leg) => leg.accountId === accountId && leg.tokenId === tokenId && isSelfTransfer(leg.type, type))
    if (opposite === undefined) return []
    const message = `conflicts with ${withArticle(opposite.type)} of the same account and asset`
    return [{ field: `legs[${index}].type`, rule: 'self_transfer' as const, message }]
  })
}

/** The legs of each token must net to zero; external accounts, mints and burns aside. */
function unbalanced(legs: readonly LegTerms[]): readonly TermsProblem[] {
  const sums = new Map<string, Quantity>()
  for (const { type, tokenId, amount, toAccountId, boundary } of legs) {
    if (boundary || toAccountId !== null || type === 'mint' || type === 'burn') continue
    const quantity = parseQuantity(amount)
    const before = sums.get(tokenId) ?? ZERO
    sums.set(tokenId, type === 'credit' ? before + quantity : before - quantity)
  }
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .map(([tokenId, sum]) => ({
      field: 'legs',
      rule: 'net',
      message: `do not net to zero in ${tokenId}: ${formatQuantity(sum)} remains`,
    }))
}
