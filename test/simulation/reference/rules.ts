/** An account's expected answers to rotations and status changes in one of its states. */
import type { AccountStatus, IncomingPolicy, LegHold } from '../../../actors/account/state.ts'
import type { RefusalCode } from '../../../actors/refusal.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { type SignedFields, signedFields, unitsOf } from './fields.ts'
import type { Registrations } from './registrations.ts'
import type { Expected, ModelFacts, ModelRequest, ModelSettings, ModelState, Window } from './model.ts'

/** Refusals that only the home of an NFT gives, or the owner on its behalf. */
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
  const { proof, payload } = operation
  const { public_key: publicKey } = JSON.parse(payload) as { readonly public_key: string }
  if (proof !== null && !verifies(publicKey, payload, proof)) return refusedFor('proof_mismatch')
  return state.status === 'active' ? EFFECT : refusedFor('account_not_active')
}

export function judgeRegistration(
  state: ModelState | undefined,
  { caller }: ModelRequest,
  operation: Extract<Operation, { kind: 'register' }>,
  registrations: Registrations,
): Expected {
  if (state === undefined) return EFFECT
  if (state.status === 'erased') return refusedFor('public_key_conflict')
  if (registrations.repeats(caller, operation)) return { kind: 'registered', created: true }
  if (state.keyId === '') {
    const mayClaim = caller.role === 'admin' || caller.clientId === state.registeredBy || isUnclaimed(state)
    return mayClaim && state.status !== 'closed' && state.held === null ? EFFECT : refusedFor('public_key_conflict')
  }
  if (operation.key.keyId !== state.keyId) return refusedFor('public_key_conflict')
  return { kind: 'registered', created: false }
}

/** The NFT's own home decides whether the NFT is created. */
export function judgeMint(
  state: ModelState,
  { accountId, operation }: ModelRequest,
  { owner, tokenId }: SignedFields,
  { fromMs }: Window,
  facts: Pick<ModelFacts, 'nftClass' | 'openSince'>,
): readonly Expected[] {
  const found = facts.nftClass(tokenId.slice(0, tokenId.indexOf('/')))
  const doubts: Expected[] = []
  if (found === undefined || found.fromMs >= fromMs) doubts.push(refusedFor('class_not_found'))
  if (found === undefined) return doubts
  if (found.issuer !== accountId) return [...doubts, refusedFor('not_issuer')]
  if (operation.kind === 'mint' && operation.metadataVerdict === 'invalid') {
    return [...doubts, refusedFor('metadata_invalid')]
  }
  const ownedSince = owner === null ? -Infinity : facts.openSince(owner)
  if (ownedSince === undefined || ownedSince >= fromMs) doubts.push(refusedFor('owner_not_found'))
  if (ownedSince === undefined) return doubts
  if (state.status !== 'active') return [...doubts, refusedFor('account_not_active')]
  return [...doubts, state.paused ? refusedFor('account_paused') : EFFECT]
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

/** The answer shows the account in its current state. */
export function judgePause(
  state: ModelState | undefined,
  { kind }: Extract<Operation, { kind: 'pause' | 'resume' | 'show_actor' }>,
): Expected {
  if (state === undefined) return refusedFor('account_not_found')
  const isClosed = state.status === 'closed' || state.status === 'erased'
  return isClosed && kind !== 'show_actor' ? refusedFor('account_closed') : EFFECT
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

/** An import that was dropped created the account: any client may register it. */
export function isUnclaimed({ registeredBy, origin, sequence, occupied }: ModelState): boolean {
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
