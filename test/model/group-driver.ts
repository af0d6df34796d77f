/** Walks a path at some ledger, and compares it with the model after every action. */
import { expect } from 'vitest'
import type { Action, Answered, Scene, Seen } from './group-model.ts'
import type { GroupPath } from './group-paths.ts'

/** A ledger in which one scene is set: its accounts have their funds, those that are missing aside. */
export interface GroupStage {
  /** Does it, delivers all that follows, and tells what was answered. */
  readonly act: (action: Action) => Answered
  readonly seen: () => Seen
}

export function follow({ scene, steps }: GroupPath, setStage: (scene: Scene) => GroupStage): void {
  const stage = setStage(scene)
  const done: Action[] = []
  for (const { action, answer, seen } of steps) {
    done.push(action)
    expect({ done, answer: stage.act(action) }).toEqual({ done, answer })
    expect({ done, seen: stage.seen() }).toEqual({ done, seen })
  }
}
