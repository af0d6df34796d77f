/** Whether a command's key was used on the ledger that its account came from (V3 of actors/account/arrival.ts). */
import type { AccountState } from '../../../actors/account/state.ts'
import { isSignedOperation, usedKeyHash } from '../../../actors/account/used-key.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import { type KeyAddress, keyAddressOf, type LookUpAnswer } from '../../ports/ledger-store.ts'
import type { Pending } from '../pending-command.ts'

/** Under what it is noted; undefined where there is nothing to ask: the account came from nowhere, or nobody signed. */
export function elsewhereKeyOf({ keyUse }: Pending, state: AnyState | null | undefined): KeyAddress | undefined {
  if (keyUse === null) return undefined
  const { shardId, accountId, operation, idempotencyKey } = keyUse
  if (!isSignedOperation(operation)) return undefined
  const keySalt = isAccount(state) ? state.arrived?.keySalt : undefined
  if (keySalt === undefined || keySalt === null) return undefined
  const hash = usedKeyHash(keySalt, accountId, { operation, idempotencyKey })
  return { shardId, accountId, operation: 'elsewhere', idempotencyKey: hash }
}

/** undefined: its look-up did not ask, because the account had not come yet. */
export function usedElsewhere(
  pending: Pending,
  state: AnyState | null | undefined,
  { keys }: Pick<LookUpAnswer, 'keys'>,
): boolean | undefined {
  const key = elsewhereKeyOf(pending, state)
  const address = key === undefined ? null : keyAddressOf(key)
  return address === null || address !== pending.askedElsewhere ? undefined : keys.has(address)
}

function isAccount(state: AnyState | null | undefined): state is AccountState {
  return state?.kind === 'account'
}
