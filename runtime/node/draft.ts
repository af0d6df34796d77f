/**
 * A batch being made: commands stepped one after another on top of committed memory and of what the batch itself
 * changed. Nothing of it touches memory: if its commit fails, it is thrown away and the commands are stepped again.
 * Each row is written once: what several commands do to an account is folded here.
 */
import { BrokenInvariant } from '../../actors/result.ts'
import { accountOf, payloadHashOf } from '../../actors/account/commands.ts'
import { type AccountSnapshot, snapshotOf } from '../../actors/account/machine.ts'
import { type Answer, type EarlierUse, type Effect, refusal, type Transaction } from '../../actors/account/outcome.ts'
import { balanceOf } from '../../actors/account/state.ts'
import { stepAccount, type StepResult } from '../../actors/account/step.ts'
import type { AccountKeyWrite, AuditEntryWrite, ShardBatch, TransactionWrite } from '../ports/ledger-store.ts'
import type { Incarnation } from './incarnation.ts'
import type { DecidedAnswer } from './output-gate.ts'
import { type Pending, verdictKey } from './pending.ts'

export interface StepSettings {
  readonly ledgerId: string
  readonly production: boolean
}

/** One shard's part of a batch. */
export interface ShardDraft {
  readonly incarnation: Incarnation
  /** Every command that was stepped, in order: to be settled, or stepped again. */
  readonly pendings: Pending[]
  readonly answers: DecidedAnswer[]
  readonly changed: Map<string, AccountSnapshot>
  readonly balances: Map<string, { readonly accountId: string; readonly tokenId: string }>
  readonly keys: AccountKeyWrite[]
  readonly entries: AuditEntryWrite[]
  readonly transactions: Transaction[]
  readonly operations: ShardBatch['operations'][number][]
  readonly keyUses: Map<string, EarlierUse>
}

export function createShardDraft(incarnation: Incarnation): ShardDraft {
  return {
    incarnation,
    pendings: [],
    answers: [],
    changed: new Map(),
    balances: new Map(),
    keys: [],
    entries: [],
    transactions: [],
    operations: [],
    keyUses: new Map(),
  }
}

export type DraftStep =
  | { readonly kind: 'taken'; readonly answer: Answer }
  | Extract<StepResult, { readonly kind: 'unverified' }>
  /** It may have been applied before, and has no key by which that could be told. */
  | { readonly kind: 'untold' }
  /** An invariant is broken: the shard must stop. */
  | { readonly kind: 'broken'; readonly detail: string }

/** Steps one command into the draft. */
export function stepInto(draft: ShardDraft, pending: Pending, settings: StepSettings): DraftStep {
  const result = judge(draft, pending, settings)
  if (isUntold(pending, result)) return { kind: 'untold' }
  if (result.kind === 'unverified' || result.kind === 'broken') return result
  draft.pendings.push(pending)
  draft.answers.push([pending, { kind: 'answered', answer: result.answer }])
  if (result.kind === 'stepped') fold(draft, pending, result)
  return { kind: 'taken', answer: result.answer }
}

/**
 * A change of status that may have been applied must not be applied on top of what came after it, and a registration
 * that is refused may be refused for what it did itself.
 */
function isUntold({ perhapsApplied, keyAddress, command }: Pending, result: { readonly kind: string }): boolean {
  if (!perhapsApplied || keyAddress !== null) return false
  if (command.type === 'change_status') return true
  return 'answer' in result && (result as { readonly answer: Answer }).answer.kind === 'refused'
}

function judge(
  draft: ShardDraft,
  pending: Pending,
  settings: StepSettings,
): StepResult | { readonly kind: 'broken'; readonly detail: string } {
  if (pending.forced !== null) return { kind: 'answered', answer: pending.forced }
  const { command, keyAddress } = pending
  const { resident } = pending
  if (resident === null) return { kind: 'broken', detail: 'A command was stepped without its account.' }
  const snapshot = draft.changed.get(accountOf(command)) ?? snapshotOf(resident.account)
  const { recentKeys } = pending.incarnation
  const earlier =
    keyAddress === null
      ? undefined
      : (draft.keyUses.get(keyAddress) ?? recentKeys.get(keyAddress)?.earlier ?? pending.earlier)
  try {
    return stepAccount(snapshot, command, {
      ...settings,
      earlier,
      verdict: (keyId, signature) => pending.verdicts.get(verdictKey(keyId, signature)),
    })
  } catch (error) {
    if (error instanceof BrokenInvariant) return { kind: 'broken', detail: error.message }
    return { kind: 'answered', answer: refusal('rejected', 'The ledger cannot process this request.') }
  }
}

function fold(draft: ShardDraft, pending: Pending, step: Extract<StepResult, { readonly kind: 'stepped' }>): void {
  const accountId = accountOf(pending.command)
  const before = draft.changed.get(accountId)?.context.account ?? pending.resident?.account
  draft.changed.set(accountId, step.snapshot)
  for (const effect of step.effects) foldEffect(draft, accountId, effect)
  const { command, keyAddress } = pending
  // A rotation is recorded under the key that ordered it, not the one it brought in.
  const key = before?.key ?? step.snapshot.context.account?.key
  if (keyAddress !== null && key !== null && key !== undefined) {
    draft.keyUses.set(keyAddress, { payloadHash: payloadHashOf(command), key, answer: step.answer })
  }
}

function foldEffect(draft: ShardDraft, accountId: string, effect: Effect): void {
  switch (effect.kind) {
    case 'entry_appended':
      draft.entries.push({ ...effect.entry, accountId })
      return
    case 'balance_changed':
      draft.balances.set(`${accountId} ${effect.tokenId}`, { accountId, tokenId: effect.tokenId })
      return
    case 'transaction_decided':
      draft.transactions.push(effect.transaction)
      return
    case 'key_registered':
      draft.keys.push({ accountId, key: effect.key, fromSequence: effect.fromSequence, atMs: effect.atMs })
      return
    case 'operation_recorded':
      draft.operations.push(effect.operation)
      return
  }
}

/** The rows of a draft; `signed` are its transactions with their receipts. */
export function rowsOf(draft: ShardDraft, signed: readonly TransactionWrite[]): ShardBatch {
  const { incarnation } = draft
  const accounts: ShardBatch['accounts'][number][] = []
  for (const [accountId, snapshot] of draft.changed) {
    const { account } = snapshot.context
    const previous = incarnation.residents.get(accountId)?.account
    if (account !== null) accounts.push({ previousVersion: previous?.version ?? 0, account })
  }
  const balances: ShardBatch['balances'][number][] = []
  for (const { accountId, tokenId } of draft.balances.values()) {
    const account = draft.changed.get(accountId)?.context.account
    if (account !== null && account !== undefined) {
      balances.push({ accountId, tokenId, balance: balanceOf(account, tokenId) })
    }
  }
  const { keys, entries, operations } = draft
  return { token: incarnation.token, accounts, balances, keys, entries, transactions: signed, operations }
}
