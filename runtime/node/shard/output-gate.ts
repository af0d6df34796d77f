/**
 * I10: a reply leaves only after the commit that it reports; refusals and replays leave only after a later fence check.
 * So every reply is part of a batch, with or without rows, and leaves when its shard's part is committed.
 */
import type { Verdict } from '../../protocol/messages.ts'
import { type Pending, sendVerdicts } from './pending-command.ts'

export type DecidedAnswer = readonly [Pending, Verdict]

export interface OutputGate {
  /** Called when a verdict is decided. */
  readonly decided: (answer: DecidedAnswer) => void
  /** Called when the verdicts' shards are committed. */
  readonly committed: (answers: readonly DecidedAnswer[]) => void
}

export const outputGate: OutputGate = {
  decided: () => undefined,
  committed: sendVerdicts,
}
