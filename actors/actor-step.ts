/** What stepping an actor that is no account says. */
import type { Answer, Effect } from './account/outcome.ts'
import type { ActorState } from './actor-state.ts'
import type { Stamp } from './message.ts'

/** `deferred`: what was asked is under way; a later step of this actor concludes it. */
export type ActorAnswer = Answer | 'deferred'

export type ActorStepResult<State extends ActorState> =
  /** `state`: null where the actor is no more. `answer`: null where nobody asked. */
  | {
      readonly kind: 'stepped'
      readonly state: State | null
      readonly effects: readonly Effect[]
      readonly answer: ActorAnswer | null
    }
  /** Nothing changes: a refusal, a repeat, or a message that no longer matters. */
  | { readonly kind: 'answered'; readonly answer: ActorAnswer | null }

/** The time that an actor waits for has come. `dueAtMs`: the time that was meant. */
export interface DueCommand extends Stamp {
  readonly type: 'due'
  readonly dueAtMs: number
}

/** A message as an actor hears it. */
export type Heard<M extends { readonly type: string }> = M & Stamp
