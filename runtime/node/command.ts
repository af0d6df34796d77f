/** Turns an item into a command of its account: time, ids and salt are given here, once (N1). */
import type { AccountCommand } from '../../actors/account/commands.ts'
import type { Item } from '../messages.ts'
import type { Random } from '../ports/random.ts'
import { readPayload, readSubmission } from '../submission.ts'

export interface Stamp {
  readonly atMs: number
  readonly ulid: string
}

/** undefined: the item is no command that this version understands; it is refused, not guessed at. */
export function commandOf(item: Item, stamp: Stamp, random: Random): AccountCommand | undefined {
  const { operation, accountId, caller, shardId } = item
  const common = { atMs: stamp.atMs, salt: random.hex(16), caller }
  switch (operation.kind) {
    case 'register':
      return {
        ...common,
        type: 'register',
        accountId,
        shardId,
        key: operation.key,
        registrationKey: operation.registrationKey,
      }
    case 'change_status': {
      const { status, incoming, reason } = operation
      return { ...common, type: 'change_status', accountId, status, incoming, reason }
    }
    case 'submit': {
      const payload = readPayload(operation.payload)
      const submission = payload === undefined ? undefined : readSubmission(payload.fields)
      if (payload === undefined || submission === undefined || submission.accountId !== accountId) return undefined
      return {
        ...common,
        type: 'submit',
        txnId: `txn_${stamp.ulid}`,
        submission,
        payload: operation.payload,
        payloadHash: payload.hash,
        signature: operation.signature,
        idempotencyKey: submission.idempotencyKey,
      }
    }
    case 'rotate_key': {
      const payload = readPayload(operation.payload)
      const idempotencyKey = payload?.fields['idempotency_key']
      if (payload === undefined || typeof idempotencyKey !== 'string') return undefined
      if (payload.fields['account_id'] !== accountId) return undefined
      return {
        ...common,
        type: 'rotate_key',
        accountId,
        newKey: operation.newKey,
        proof: operation.proof,
        payload: operation.payload,
        payloadHash: payload.hash,
        signature: operation.signature,
        idempotencyKey,
      }
    }
  }
}
