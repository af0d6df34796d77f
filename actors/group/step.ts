/**
 * Settlement group: one command, judged and applied.
 * Pure: time and ids arrive in the command, effects leave as data.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import { type AssetEvidence, mayCross, wrongQuantity } from '../account/submission.ts'
import type { ActorStepResult } from '../actor-step.ts'
import type { LegTerms } from '../message.ts'
import { invariant } from '../result.ts'
import type { GroupCommand, RegisterGroupCommand, RevertGroupCommand } from './commands.ts'
import { advanceGroup, groupSnapshotOf } from './machine.ts'
import { type GroupState, type GroupView, groupViewOf } from './state.ts'

export type GroupEvidence = AssetEvidence

/** Transactions that may be named under one linked group ID, over all requests. */
export const MAX_COMPENSATIONS = 1_000

export function stepGroup(
  group: GroupState | null,
  command: GroupCommand,
  evidence: GroupEvidence,
): ActorStepResult<GroupState> {
  switch (command.type) {
    case 'register_group':
      return register(group, command, evidence)
    case 'revert_group':
      return revert(group, command)
    case 'due':
      return due(group, command)
    default:
      return advanced(group, command, null)
  }
}

function answered(answer: Answer | 'deferred' | null): ActorStepResult<GroupState> {
  return { kind: 'answered', answer }
}

function register(
  group: GroupState | null,
  command: RegisterGroupCommand,
  evidence: GroupEvidence,
): ActorStepResult<GroupState> {
  if (group !== null) return again(group, command)
  const refused = refusesTerms(command, evidence)
  return refused === undefined ? advanced(null, command, 'deferred') : answered(refused)
}

function again(
  group: GroupState,
  { caller, registrationKey, terms }: RegisterGroupCommand,
): ActorStepResult<GroupState> {
  const sameClient = group.clientId === caller.clientId && group.status !== 'linked'
  const sameKey = sameClient && group.registrationKey === registrationKey
  if (!sameKey && !(sameClient && group.termsHash === terms.termsHash)) {
    return answered(refusal('group_exists', 'The group ID is in use.', 'group_id'))
  }
  const view = groupViewOf(group)
  if (view === undefined) return answered('deferred')
  return answered({
    kind: 'group_registered',
    group: sameKey ? asNew(group, view) : view,
    created: sameKey,
    replayed: sameKey && !registrationKey.startsWith('request '),
    mismatch: group.termsHash !== terms.termsHash,
  })
}

/** As it was when it was new. */
function asNew(group: GroupState, view: GroupView): GroupView {
  const legs = group.legs.map(({ terms }) => ({ ...terms, status: 'expected', txnId: null }) as const)
  return { ...view, status: 'open', legs, compensations: [], partialFailures: [], finishedAtMs: null, failure: null }
}

function refusesTerms({ terms, caller }: RegisterGroupCommand, evidence: GroupEvidence): Answer | undefined {
  for (const [index, leg] of terms.legs.entries()) {
    const refused = refusesLeg(leg, `legs[${index}]`, caller.boundary, evidence)
    if (refused !== undefined) return refused
  }
  return undefined
}

function refusesLeg(
  { type, tokenId, amount, accountId, boundary }: LegTerms,
  at: string,
  grant: boolean | readonly string[],
  evidence: GroupEvidence,
): Answer | undefined {
  const wrong = wrongQuantity(tokenId, amount, evidence, `${at}.`)
  if (wrong !== undefined) return wrong
  if (boundary && !mayCross(grant, tokenId)) {
    return refusal('boundary_not_granted', 'This client may not move value over the boundary.', `${at}.boundary`)
  }
  if (type === 'mint' && evidence.token(tokenId)?.issuer !== accountId) {
    return refusal('not_issuer', 'Only the issuer of the token may mint it.', `${at}.account_id`)
  }
  return undefined
}

function revert(group: GroupState | null, command: RevertGroupCommand): ActorStepResult<GroupState> {
  const { caller, transactions } = command
  const isAdmin = caller.role === 'admin'
  if (group === null && transactions.length === 0)
    return answered(refusal('group_not_found', 'There is no such group.'))
  if (group === null || group.status === 'linked') {
    if (!isAdmin)
      return answered(refusal('not_allowed', 'Reverting transactions of a linked group needs the role admin.'))
    if (transactions.length === 0) {
      return answered(refusal('transaction_not_found', 'Name what is to be undone.', 'txn_ids'))
    }
    const named = group?.compensationsAsked ?? {}
    const fresh = new Set(transactions.map(({ txnId }) => txnId).filter((txnId) => named[txnId] === undefined))
    if (Object.keys(named).length + fresh.size > MAX_COMPENSATIONS) {
      return answered(
        refusal('compensation_limit', 'Too many transactions of this group are being reverted.', 'txn_ids'),
      )
    }
    return reverting(advanced(group, command, null))
  }
  const view = groupViewOf(group)
  if (view === undefined) return answered(refusal('group_not_found', 'There is no such group.'))
  if (!isAdmin && caller.clientId !== group.clientId) {
    return answered(
      refusal('not_allowed', 'Only the client that registered the group, or one with the role admin, may revert it.'),
    )
  }
  switch (group.status) {
    case 'open':
      return reverting(advanced(group, command, null))
    case 'settling':
    case 'settled':
      return answered(refusal('group_settled', 'The group is settled.'))
    default:
      return answered({ kind: 'group_reverting', group: view })
  }
}

/** With the group as it is then. */
function reverting(result: ActorStepResult<GroupState>): ActorStepResult<GroupState> {
  if (result.kind !== 'stepped' || result.state === null) return result
  const view = groupViewOf(result.state)
  return view === undefined ? result : { ...result, answer: { kind: 'group_reverting', group: view } }
}

/** A time that has been overtaken says nothing. */
function due(
  group: GroupState | null,
  command: Extract<GroupCommand, { readonly type: 'due' }>,
): ActorStepResult<GroupState> {
  if (group?.dueAtMs !== command.dueAtMs || command.atMs < command.dueAtMs) return answered(null)
  return advanced(group, command, null)
}

function advanced(
  group: GroupState | null,
  command: GroupCommand,
  answer: 'deferred' | null,
): ActorStepResult<GroupState> {
  const before = groupSnapshotOf(group)
  const after = advanceGroup(before, command)
  invariant(after !== before, `a group that is ${before.value} cannot hear ${command.type}`)
  return { kind: 'stepped', state: after.context.group, effects: after.context.effects, answer }
}
