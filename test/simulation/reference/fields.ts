/** Reads a signed payload without any of the ledger's own code. */
import type { Operation } from '../../../runtime/protocol/messages.ts'

const SCALE = 18

/** Whole units of 10^-18. */
export function unitsOf(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}

export interface SignedFields {
  readonly accountId: string | null
  readonly idempotencyKey: string
  readonly type: string
  readonly amount: string
  readonly units: bigint
  readonly tokenId: string
  readonly ledgerId: string | null
  readonly groupId: string | null
  readonly toAccountId: string | null
  readonly refunds: string | null
  /** Of a capture, or of a release. */
  readonly holdId: string | null
  /** Of a mint only. */
  readonly owner: string | null
  readonly receive: { readonly tokenId: string; readonly units: bigint; readonly amount: string } | null
  /** 64 hexadecimal digits. */
  readonly termsHash: string | null
  readonly expiresAtMs: number | null
}

type Asset = { readonly token_id?: string; readonly class_id?: string; readonly instance_id?: string }
type Body = Asset & {
  readonly [field: string]: string | undefined | (Asset & { readonly amount: string })
}

/** `class/instance` for an NFT. */
export function assetOf({ token_id: tokenId, class_id: classId, instance_id: instanceId }: Asset): string {
  return classId === undefined ? (tokenId ?? 'BASE') : `${classId}/${instanceId}`
}

export function isNftAsset(assetId: string): boolean {
  return assetId.includes('/')
}

export function signedFields(payload: string): SignedFields {
  const body = JSON.parse(payload) as Body
  const text = (field: string): string | null => {
    const value = body[field]
    return typeof value === 'string' ? value : null
  }
  const amount = text('amount') ?? '0'
  const expiresAt = text('expires_at')
  const { receive } = body
  return {
    accountId: text('account_id'),
    idempotencyKey: text('idempotency_key') ?? '',
    type: text('type') ?? '',
    amount,
    units: unitsOf(amount),
    tokenId: assetOf(body),
    ledgerId: text('ledger_id'),
    groupId: text('group_id'),
    toAccountId: text('to_account_id'),
    refunds: text('refunds'),
    holdId: text('hold_id'),
    owner: text('owner'),
    receive:
      typeof receive === 'object'
        ? { tokenId: assetOf(receive), units: unitsOf(receive.amount), amount: receive.amount }
        : null,
    termsHash: text('terms_hash')?.slice('sha256:'.length) ?? null,
    expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt),
  }
}

/** A capture does not sign its asset, which is that of the hold. */
export function fieldsOf({ payload, tokenId }: { readonly payload: string; readonly tokenId?: string }): SignedFields {
  const fields = signedFields(payload)
  const isCapture = fields.holdId !== null && tokenId !== undefined
  return isCapture ? { ...fields, type: 'transfer', tokenId } : fields
}

/** Significant digits after the decimal point. */
export function decimalsOf(amount: string): number {
  const [, fraction = ''] = amount.split('.')
  return fraction.replace(/0+$/, '').length
}

/** Whether the request carries a value that the simulated store refuses. */
export function isPoisonous(operation: Operation): boolean {
  return 'payload' in operation && operation.payload.includes('\\u0000')
}
