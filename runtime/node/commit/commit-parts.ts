/** Dependencies of the group commit, and properties of its commands, drafts and results. */
import type { Verdict } from '../../messages.ts'
import type { CommitVerdict, FailedCause } from '../../ports/ledger-store.ts'
import type { CommitResult } from '../../ports/metrics.ts'
import type { CommitHealth } from './commit-health.ts'
import type { Contain, Fault } from '../recovery/containment.ts'
import type { ShardDraft, StepSurroundings } from './draft.ts'
import type { Incarnation } from '../incarnation.ts'
import type { NodeContext } from '../node-context.ts'
import type { Pending } from '../pending-command.ts'

export interface CommitLaneDependencies extends NodeContext {
  readonly health: Pick<CommitHealth, 'sent' | 'answered' | 'refused'>
  readonly settings: CommitLimits
  readonly surroundings: StepSurroundings
  /** The shards that the node serves, in any order. */
  readonly incarnations: () => Iterable<Incarnation>
  /** The fence rejected these: another transaction locks the shard, or another node owns it. */
  readonly onSkipped: (incarnations: readonly Incarnation[]) => void
  /** The commit outcome of these is unknown: none of their commands is stepped until they are replaced. */
  readonly onUnknown: (incarnations: readonly Incarnation[]) => void
  readonly contain: Contain
  /** `pending`: the command that caused the fault, if known. */
  readonly onBroken: (incarnation: Incarnation, fault: Fault, pending?: Pending) => void
  /** The parts of these shards are durable: updates memory, and sends replies and messages. */
  readonly onApplied: (applied: readonly ShardDraft[]) => void
  /** Called before each commit with its drafts. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

export interface CommitLimits {
  /** Commands in one batch. */
  readonly maxBatchSize: number
  /** Bytes of rows in one batch, approximate. */
  readonly maxBatchBytes: number
}

export type NarrowedCause = Exclude<FailedCause, 'unsent'>

const ROW_BYTES = 1_500

/** A signing failure may be temporary; a failure to make rows is permanent. */
export function causeOf({ stage, breaksInvariant }: Fault): NarrowedCause {
  return stage === 'signing' && !breaksInvariant ? 'transient' : 'data'
}

export function resultOf(drafts: readonly ShardDraft[], verdict: CommitVerdict): CommitResult {
  if (verdict.kind !== 'answered') return verdict.kind
  const passed = drafts.every(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
  return passed ? 'applied' : 'held_back'
}

export function isRefusal(verdict: Verdict): boolean {
  return verdict.kind === 'answered' && verdict.answer.kind === 'refused'
}

/** A draft of refusals and replays alone writes no row: its commit only checks the fence and succeeds on a full disk. */
export function writesRows({ changed, marks }: ShardDraft): boolean {
  return changed.size > 0 || marks.size > 0
}

/** Bytes of a command's rows, approximate: they contain the payload twice, beside fields of bounded size. */
export function sizeOf({ command }: Pending): number {
  return ROW_BYTES + ('payload' in command ? 2 * command.payload.length : 0)
}
