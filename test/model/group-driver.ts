/** Walks a path at some ledger, and compares it with the model after every action. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Action, Answered, Scene, Seen } from './group-model.ts'
import type { GroupPath } from './group-paths.ts'

export interface PathStep<Does, Sees> {
  readonly action: Does
  readonly answer: Answered
  /** The state of the idle ledger. */
  readonly seen: Sees
}

/** A ledger in which the accounts of a path have their funds. */
export interface Stage<Does, Sees> {
  /** Performs the action and returns the reply; an action that waits for a time returns at that time. */
  readonly act: (action: Does) => Promise<Answered>
  readonly seen: () => Promise<Sees>
  /** Delivers pending messages for a moment. False if there are none, or on a timeout. */
  readonly goOn: () => Promise<boolean>
}

/** Sets up one scene; its missing accounts do not exist. */
export type GroupStage = Stage<Action, Seen>

/** `timesOut`: whether the path waits for the group's time to pass. */
export type SetStage = (scene: Scene, timesOut: boolean) => Promise<GroupStage>

export async function follow({ scene, steps }: GroupPath, setStage: SetStage): Promise<void> {
  const timesOut = steps.some(({ action }) => action.type === 'time_out')
  await walk(steps, await setStage(scene, timesOut))
}

export async function walk<Does, Sees>(
  steps: readonly PathStep<Does, Sees>[],
  stage: Stage<Does, Sees>,
): Promise<void> {
  const done: Does[] = []
  for (const { action, answer, seen } of steps) {
    done.push(action)
    expect({ done, answer: await stage.act(action) }).toEqual({ done, answer })
    expect({ done, seen: await seenAtLast(stage, seen) }).toEqual({ done, seen })
  }
}

/** The observed state, once it is the expected one or the ledger is idle. */
async function seenAtLast<Does, Sees>(stage: Stage<Does, Sees>, expected: Sees): Promise<Sees> {
  for (;;) {
    const seen = await stage.seen()
    if (isDeepStrictEqual(seen, expected) || !(await stage.goOn())) return seen
  }
}
