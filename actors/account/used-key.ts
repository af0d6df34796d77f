/**
 * Keys that an account used on the ledger that it came from: what was signed for them must not be applied again here. Only
 * hashes of them come along, under a salt that no third ledger knows.
 */
import { hash } from 'node:crypto'
import type { KeyedOperation } from './commands.ts'

/** Operations whose keys travel: those that a signature of the account covers. */
export type SignedOperation = Extract<KeyedOperation, 'transaction' | 'key_rotation' | 'mint'>

export function isSignedOperation(operation: KeyedOperation): operation is SignedOperation {
  return operation === 'transaction' || operation === 'key_rotation' || operation === 'mint'
}

export interface UsedKey {
  readonly operation: SignedOperation
  readonly idempotencyKey: string
}

/** 43 characters of base64url. `salt`: 32 hexadecimal digits, so that what is hashed can be read in one way only. */
export function usedKeyHash(salt: string, accountId: string, { operation, idempotencyKey }: UsedKey): string {
  return hash('sha256', `${salt}\n${accountId}\n${operation}\n${idempotencyKey}`, 'base64url')
}
