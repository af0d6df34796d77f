/**
 * I10: no answer leaves before the commit that it tells of, and refusals and repeats leave only after a fence check
 * that began after they were decided. So every answer rides in a batch, rows or none, and leaves when its shard's part
 * is committed.
 */
import type { Verdict } from '../../protocol/messages.ts'
import { type Pending, sendVerdicts } from './pending-command.ts'

export type DecidedAnswer = readonly [Pending, Verdict]

export interface OutputGate {
  /** Called as soon as an answer is decided. */
  readonly decided: (answer: DecidedAnswer) => void
  /** Called when the answers' shards are committed. */
  readonly committed: (answers: readonly DecidedAnswer[]) => void
}

export const outputGate: OutputGate = {
  decided: () => undefined,
  committed: sendVerdicts,
}
