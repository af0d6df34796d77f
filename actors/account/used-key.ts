/**
 * Keys used on the source ledger, whose commands must not be applied again here. Only salted hashes of them are
 * imported.
 */
import { hash } from 'node:crypto'
import type { KeyedOperation } from './commands.ts'

/** Operations whose used keys are exported: those that the account signs. */
export type SignedOperation = Extract<KeyedOperation, 'transaction' | 'key_rotation' | 'mint' | 'hold'>

export function isSignedOperation(operation: KeyedOperation): operation is SignedOperation {
  return operation === 'transaction' || operation === 'key_rotation' || operation === 'mint' || operation === 'hold'
}

export interface UsedKey {
  readonly operation: SignedOperation
  readonly idempotencyKey: string
}

/** 43 characters of base64url. `salt`: 32 hexadecimal digits; its fixed length makes the hashed text unambiguous. */
export function usedKeyHash(salt: string, accountId: string, { operation, idempotencyKey }: UsedKey): string {
  return hash('sha256', `${salt}\n${accountId}\n${operation}\n${idempotencyKey}`, 'base64url')
}
