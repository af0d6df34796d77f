/** Walks a path at some ledger, and compares it with the model after every action. */
import { expect } from 'vitest'
import type { Answered } from './group-model.ts'

export interface PathStep<Does, Sees> {
  readonly action: Does
  readonly answer: Answered
  /** The state of the idle ledger. */
  readonly seen: Sees
}

/** A ledger in which the accounts of a path have their funds, and which is idle after each action. */
export interface Stage<Does, Sees> {
  readonly act: (action: Does) => Answered
  readonly seen: () => Sees
}

export function walk<Does, Sees>(steps: readonly PathStep<Does, Sees>[], stage: Stage<Does, Sees>): void {
  const done: Does[] = []
  for (const { action, answer, seen } of steps) {
    done.push(action)
    expect({ done, answer: stage.act(action) }).toEqual({ done, answer })
    expect({ done, seen: stage.seen() }).toEqual({ done, seen })
  }
}
