/** Holds as the interface shows them. */
import type { HoldView } from '../../actors/hold/state.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { notFound, type Problem } from '../http/problem.ts'

export function holdMembers(hold: HoldView): object {
  return {
    hold_id: hold.holdId,
    status: hold.status,
    account_id: hold.accountId,
    to_account_id: hold.toAccountId,
    token_id: hold.tokenId,
    amount: hold.amount,
    captured: hold.captured,
    remaining: hold.remaining,
    ...(hold.metadata === null ? undefined : { metadata: hold.metadata }),
    expires_at: isoTimestamp(hold.expiresAtMs),
    created_at: isoTimestamp(hold.createdAtMs),
    ...(hold.endedAtMs === null ? undefined : { ended_at: isoTimestamp(hold.endedAtMs) }),
  }
}

export function noSuchHold(): Problem {
  return notFound('There is no such hold.')
}
