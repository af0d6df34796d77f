/**
 * The rows alone show the commits: a ledger that steps the same commands one at a time must reach the same rows
 * (invariants/rows.ts, W1 to W5). Each test breaks a rule that no other checker can see.
 */
import { describe, expect, test } from 'vitest'
import { Balances } from '../../actors/account/balances.ts'
import type { AccountState } from '../../actors/account/state.ts'
import { type AnyState, stepActor, type StepOutcome } from '../../actors/step-actor.ts'
import type { LookUpAnswer, ShardBatch } from '../../runtime/ports/ledger-store.ts'
import type { Breaks } from './breaks.ts'
import { runCluster } from './cluster/cluster.ts'
import { sealed } from './cluster/sealed.ts'
import { SimulationFailure } from './kernel/kernel.ts'
import { busy } from './mutation-list.ts'
import { type Plan, planOf } from './plan.ts'

interface Case {
  readonly what: string
  readonly breaks: Breaks
  /** Default: the seed's own plan. */
  readonly plan?: (seed: number) => Plan
  /** About three times the number needed. */
  readonly withinSeeds: number
  readonly foundAs: RegExp
}

/** A codec that loses a field on reading. */
function reading<Part extends 'accounts' | 'actors'>(
  part: Part,
  lossy: (state: LookUpAnswer[Part] extends ReadonlyMap<string, infer State> ? State : never) => unknown,
): Breaks {
  return {
    store: (store) => ({
      ...store,
      lookUp: async (question) => {
        const answer = await store.lookUp(question)
        return { ...answer, [part]: new Map([...answer[part]].map(([at, state]) => [at, lossy(state as never)])) }
      },
    }),
  }
}

function writing(change: (batch: ShardBatch) => ShardBatch): Breaks {
  return { store: (store) => ({ ...store, commit: ({ shards }) => store.commit({ shards: shards.map(change) }) }) }
}

/** Changes the outcome of steps; `count`: this node's steps so far, which a step must not depend on. */
function stepping(change: (outcome: StepOutcome, before: AnyState | null, count: number) => StepOutcome): Breaks {
  return {
    hiddenStep: () => {
      let count = 0
      return (actor, state, command, evidence) => {
        count += 1
        return change(stepActor(actor, state, command, evidence), state, count)
      }
    },
  }
}

function isAccount(state: AnyState | null): state is AccountState {
  return state?.kind === 'account'
}

const CASES: readonly Case[] = [
  {
    what: 'a count that is lost when an account is read',
    breaks: reading('accounts', (account) => ({ ...account, failedCount: 0 })),
    withinSeeds: 3,
    foundAs: /W1: .*failedCount/,
  },
  {
    what: 'a time of a balance that is lost when an account is read',
    breaks: reading('accounts', (account) => ({
      ...account,
      balances: Balances.of([...account.balances].map(([tokenId, held]) => [tokenId, { ...held, updatedAtMs: 0 }])),
    })),
    withinSeeds: 3,
    foundAs: /W1: .*updatedAtMs/,
  },
  {
    what: 'a failure that is lost when a group is read',
    breaks: reading('actors', (state) => (state.kind === 'group' ? { ...state, partialFailures: [] } : state)),
    plan: busy,
    withinSeeds: 6,
    foundAs: /W[12]: .*partialFailures/,
  },
  {
    what: 'a text that is lost when a transaction is written',
    breaks: writing((batch) => ({
      ...batch,
      transactions: batch.transactions.map(({ transaction, receipt }) => ({
        transaction: { ...transaction, metadata: null },
        receipt,
      })),
    })),
    withinSeeds: 3,
    foundAs: /W1: .*transaction .*metadata is written otherwise/,
  },
  {
    what: 'boundary value that is credited and debited in one row without an order',
    breaks: writing((batch) => {
      const boundary = [...batch.boundary, { tokenId: 'BASE', credited: '1', debited: '1' }]
      return batch.accounts.length === 0 || batch.boundary.length > 0 ? batch : { ...batch, boundary }
    }),
    withinSeeds: 3,
    foundAs: /W1: .*boundary BASE is written, and no command orders it/,
  },
  {
    what: 'an entry about an NFT that is not written',
    breaks: writing((batch) => ({ ...batch, nftEvents: batch.nftEvents.filter(({ event }) => event.number === 0) })),
    withinSeeds: 6,
    foundAs: /I9|W1: .*event \d+ of .* is not written/,
  },
  {
    what: 'a step that depends on the number of earlier steps',
    breaks: stepping((outcome, _, count) => {
      if (outcome.kind !== 'stepped' || !isAccount(outcome.state) || count % 50 !== 0) return outcome
      const { state } = outcome
      return { ...outcome, state: { ...state, failedCount: state.failedCount + 1 } }
    }),
    withinSeeds: 3,
    foundAs: /W1: .*failedCount/,
  },
  {
    what: 'a step that changes the state that it is given',
    breaks: stepping((outcome, before) => {
      if (outcome.kind === 'answered' && isAccount(before)) {
        Object.assign(before, { failedCount: before.failedCount + 1 })
      }
      return outcome
    }),
    withinSeeds: 3,
    foundAs: /W1: .*failedCount/,
  },
]

async function firstFinding({ breaks, plan = planOf, withinSeeds }: Case): Promise<string> {
  for (let seed = 1; seed <= withinSeeds; seed += 1) {
    try {
      await runCluster({ plan: plan(seed), breaks })
    } catch (error) {
      if (error instanceof SimulationFailure) return error.message
      throw error
    }
  }
  return 'nothing was found'
}

test.for(CASES)('the row replay finds $what', async (one) => {
  expect(await firstFinding(one)).toMatch(one.foundAs)
})

describe('W3: a state that is given to be read', () => {
  const state = () => sealed({ key: { keyId: 'k' }, holds: new Map([['h', { legs: [1] }]]), sum: 1n })

  test.for([
    ['a field', (given: ReturnType<typeof state>) => Object.assign(given, { key: null })],
    ['a field of a part', (given: ReturnType<typeof state>) => Object.assign(given.key, { keyId: '' })],
    ['an entry', (given: ReturnType<typeof state>) => given.holds.delete('h')],
    ['a list in an entry', (given: ReturnType<typeof state>) => given.holds.get('h')?.legs.push(2)],
  ] as const)('throws when %s of it is changed', ([, change]) => {
    expect(() => change(state())).toThrow(TypeError)
  })

  test('can still be read and computed with', () => {
    const { sum, holds } = state()
    expect(sum + 1n).toBe(2n)
    expect([...holds.keys()]).toEqual(['h'])
  })
})
