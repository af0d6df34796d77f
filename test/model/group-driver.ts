/** Walks a path at some ledger, and compares it with the model after every action. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Action, Answered, Scene, Seen } from './group-model.ts'
import type { GroupPath } from './group-paths.ts'

export interface PathStep<Does, Sees> {
  readonly action: Does
  readonly answer: Answered
  /** Once nothing more is under way. */
  readonly seen: Sees
}

/** A ledger in which the accounts of a path have their funds. */
export interface Stage<Does, Sees> {
  /** Does it and tells what was answered; what waits for a time returns when the time has come. */
  readonly act: (action: Does) => Promise<Answered>
  readonly seen: () => Promise<Sees>
  /** Lets what is under way go on for a moment. False when nothing is, or not in time. */
  readonly goOn: () => Promise<boolean>
}

/** With one scene set: those of its accounts that are missing are not there. */
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
