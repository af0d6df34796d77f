/** An idempotent operation that is no transaction, as it is sealed: what was sent, and the whole original answer. */
import type { RecordedOperation } from '../../../actors/account/outcome.ts'

export type OperationDocument = Pick<RecordedOperation, 'idempotencyKey' | 'payloadHash' | 'keyId' | 'answer'>

export function operationText({ idempotencyKey, payloadHash, keyId, answer }: RecordedOperation): string {
  return JSON.stringify({ idempotencyKey, payloadHash, keyId, answer })
}

export function operationFrom(text: string): OperationDocument {
  return JSON.parse(text) as OperationDocument
}
