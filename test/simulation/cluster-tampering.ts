/**
 * What no rule of the runtime speaks of, and only the rows show: what is read is not what was written, what is written is
 * not what was stepped, a step that is not pure. The row replay knows nothing of it and steps as production does.
 */
import { type AnyState, type StepActor, stepActor, type StepOutcome } from '../../actors/step-actor.ts'
import type { AccountState } from '../../actors/account/state.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import type { LedgerStore, LookUpAnswer, ShardBatch } from '../../runtime/ports/ledger-store.ts'

export interface Tampering {
  readonly store?: (store: LedgerStore) => LedgerStore
  /** Of each node that starts. */
  readonly step?: () => StepActor
}

export function tamperedStore(store: LedgerStore, tampering: Tampering | undefined): LedgerStore {
  return tampering?.store?.(store) ?? store
}

export function tamperedStep(tampering: Tampering | undefined): { readonly step?: StepActor } {
  return tampering?.step === undefined ? {} : { step: tampering.step() }
}

/** A codec that loses something when it reads. */
function reading(lossy: (answer: LookUpAnswer) => Partial<LookUpAnswer>): Tampering {
  return {
    store: (store) => ({
      ...store,
      lookUp: async (question) => {
        const answer = await store.lookUp(question)
        return { ...answer, ...lossy(answer) }
      },
    }),
  }
}

export function readingAccounts(lossy: (account: AccountState) => AccountState): Tampering {
  return reading(({ accounts }) => ({ accounts: changed(accounts, lossy) }))
}

export function readingActors(lossy: (state: ActorState) => ActorState): Tampering {
  return reading(({ actors }) => ({ actors: changed(actors, lossy) }))
}

export function writing(change: (batch: ShardBatch) => ShardBatch): Tampering {
  return { store: (store) => ({ ...store, commit: ({ shards }) => store.commit({ shards: shards.map(change) }) }) }
}

/** What comes of a step is changed; `count`: of the steps of this node so far, which no step may know. */
export function stepping(
  change: (outcome: StepOutcome, before: AnyState | null, count: number) => StepOutcome,
): Tampering {
  return {
    step: () => {
      let count = 0
      return (actor, state, command, evidence) => {
        count += 1
        return change(stepActor(actor, state, command, evidence), state, count)
      }
    },
  }
}

export function isAccountState(state: AnyState | null): state is AccountState {
  return state !== null && 'balances' in state
}

function changed<T>(found: ReadonlyMap<string, T>, change: (value: T) => T): ReadonlyMap<string, T> {
  return new Map([...found].map(([at, value]) => [at, change(value)]))
}
