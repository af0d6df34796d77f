/** What an account should say of a rotation and of a change of its status, as of one of its states. */
import type { AccountStatus, IncomingPolicy, LegHold } from '../../actors/account/state.ts'
import type { RefusalCode } from '../../actors/refusal.ts'
import type { Operation } from '../../runtime/messages.ts'
import { type SignedFields, signedFields, unitsOf } from './reference-fields.ts'
import type { Expected, ModelSettings, ModelState } from './reference-model.ts'

/** What only the home of an NFT can say no with, and its owner through it. */
export const BY_NFT_HOME: ReadonlySet<RefusalCode> = new Set([
  'instance_exists',
  'account_closed',
  'account_refuses',
  'asset_limit',
])

const EFFECT = { kind: 'effect' } as const

export function isAs(state: ModelState, status: AccountStatus, incoming: IncomingPolicy): boolean {
  return state.status === status && state.incoming === incoming
}

export function judgeRotation(
  state: ModelState,
  operation: Extract<Operation, { kind: 'rotate_key' }>,
  verifies: ModelSettings['verifies'],
): Expected {
  const { proof, newKey, payload } = operation
  if (proof !== null && !verifies(newKey.publicKey, payload, proof)) return refusedFor('proof_mismatch')
  return state.status === 'active' ? EFFECT : refusedFor('account_not_active')
}

/** An account may decline only unsigned legs. A declined leg stays declined. */
export function judgeDecline(
  state: ModelState | undefined,
  { payload, signature }: Extract<Operation, { kind: 'decline_legs' }>,
  verifies: ModelSettings['verifies'],
): Expected {
  if (state === undefined) return refusedFor('account_not_found')
  if (state.status === 'closed' || state.status === 'erased') return refusedFor('account_closed')
  if (state.publicKey === '') return refusedFor('account_keyless')
  if (!verifies(state.publicKey, payload, signature)) return refusedFor('signature_mismatch')
  if (state.origin !== null) return refusedFor('wrong_ledger')
  const legs = state.legs.filter(({ groupId }) => groupId === signedFields(payload).groupId)
  if (legs.length === 0) return refusedFor('group_not_found')
  const unsigned = legs.some(({ state: of }) => of === 'expected' || of === 'declined')
  return unsigned ? { kind: 'declined' } : refusedFor('leg_signed')
}

export function judgeStatus(
  state: ModelState | undefined,
  wish: Extract<Operation, { kind: 'change_status' }>,
): readonly Expected[] {
  if (state === undefined) return [refusedFor('account_not_found')]
  if (state.status === 'closed' || state.status === 'erased') return [refusedFor('account_closed')]
  const status = wish.status ?? state.status
  if (isAs(state, status, wish.incoming ?? state.incoming)) return [{ kind: 'unchanged' }]
  if (status !== 'closed' || state.occupied === 'no') return [EFFECT]
  return state.occupied === 'yes' ? [refusedFor('account_not_empty')] : [refusedFor('account_not_empty'), EFFECT]
}

export function refusedFor(code: RefusalCode): Expected {
  return { kind: 'refused', code }
}

/** An import brought it into being and came to nothing: whoever comes first may have it. */
export function isNobodys({ registeredBy, origin, sequence, occupied }: ModelState): boolean {
  return registeredBy === '' && origin === null && sequence === 0 && occupied === 'no'
}

/** Whether a submission matches the agreed terms of the leg. */
export function isAgreed({ role, groupId, termsHash, terms }: LegHold, fields: SignedFields): boolean {
  return (
    role === 'own' &&
    groupId === fields.groupId &&
    termsHash === fields.termsHash &&
    terms.type === fields.type &&
    terms.tokenId === fields.tokenId &&
    terms.toAccountId === fields.toAccountId &&
    fields.receive === null &&
    unitsOf(terms.amount) === fields.units
  )
}

/** Whether one operation sends and the other credits, in the same group and asset. */
export function isSelfTransfer(one: string, other: string): boolean {
  const sends = (type: string): boolean => type === 'transfer' || type === 'exchange'
  return (one === 'credit' && sends(other)) || (other === 'credit' && sends(one))
}
