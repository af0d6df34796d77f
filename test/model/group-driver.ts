/** Walks a path at some ledger, and compares it with the model after every action. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Action, Answered, Scene, Seen } from './group-model.ts'
import type { GroupPath } from './group-paths.ts'

/** A ledger in which one scene is set: its accounts have their funds, those that are missing aside. */
export interface GroupStage {
  /** Does it and tells what was answered; `time_out` returns when the time has come. */
  readonly act: (action: Action) => Promise<Answered>
  readonly seen: () => Promise<Seen>
  /** Lets what is under way go on for a moment. False when nothing is, or not in time. */
  readonly goOn: () => Promise<boolean>
}

/** `timesOut`: whether the path waits for the group's time to pass. */
export type SetStage = (scene: Scene, timesOut: boolean) => Promise<GroupStage>

export async function follow({ scene, steps }: GroupPath, setStage: SetStage): Promise<void> {
  const stage = await setStage(
    scene,
    steps.some(({ action }) => action.type === 'time_out'),
  )
  const done: Action[] = []
  for (const { action, answer, seen } of steps) {
    done.push(action)
    expect({ done, answer: await stage.act(action) }).toEqual({ done, answer })
    expect({ done, seen: await seenAtLast(stage, seen) }).toEqual({ done, seen })
  }
}

/** What is seen once it is what is expected, or once nothing goes on any more. */
async function seenAtLast(stage: GroupStage, expected: Seen): Promise<Seen> {
  for (;;) {
    const seen = await stage.seen()
    if (isDeepStrictEqual(seen, expected) || !(await stage.goOn())) return seen
  }
}
