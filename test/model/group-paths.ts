/**
 * All paths through the life of a group (group-model.ts): the actions of its parties, each with its reply and the state
 * that is seen after it.
 */
import { getSimplePaths } from 'xstate/graph'
import type { PathStep } from './group-driver.ts'
import {
  type Action,
  answerTo,
  labelOf,
  type Scene,
  sceneMachine,
  seenIn,
  type Seen,
  type SceneSnapshot,
} from './group-model.ts'

export interface GroupPath {
  /** Its actions, in words. */
  readonly title: string
  readonly steps: readonly PathStep<Action, Seen>[]
}

export function allPaths(scene: Scene): readonly GroupPath[] {
  const machine = sceneMachine(scene)
  const events = eventsOf(scene)
  const paths = getSimplePaths(machine, {
    events,
    serializeState: stateName,
    // If an account was missing, the new part ends with the registration.
    ...(scene.missing.length === 0 ? {} : { stopWhen: ({ value }: SceneSnapshot) => value === 'open' }),
  }).map(({ steps }) => steps.filter(({ event }) => events.includes(event)))
  const walked = paths.map((steps) => pathOf(scene, machine.resolveState(initialOf(scene)), steps))
  const prefixes = new Set(walked.flatMap(({ steps }) => steps.map((_, length) => titleOf(steps.slice(0, length)))))
  return walked.filter(({ title }) => !prefixes.has(title))
}

function initialOf({ missing, legs }: Scene) {
  return {
    value: 'absent',
    context: { opened: missing.length === 0, legs: legs.map(() => 'expected' as const), odd: null },
  } as const
}

/** Every action of every party; the model accepts those that apply in its state. */
function eventsOf({ legs }: Scene): readonly Action[] {
  const each = legs.map((_, leg) => leg)
  return [
    { type: 'register' },
    { type: 'open_missing' },
    ...each.map((leg) => ({ type: 'take', leg }) as const),
    ...each.map((leg) => ({ type: 'fail', leg }) as const),
    { type: 'time_out' },
    { type: 'revert' },
    ...each.map((leg) => ({ type: 'take_again', leg }) as const),
    { type: 'revert_again' },
    { type: 'register_again' },
  ]
}

function stateName({ value, context }: SceneSnapshot): string {
  return JSON.stringify([value, context])
}

function pathOf(
  scene: Scene,
  initial: SceneSnapshot,
  walked: readonly { readonly event: Action; readonly state: SceneSnapshot }[],
): GroupPath {
  let before = initial
  const steps: PathStep<Action, Seen>[] = []
  for (const { event: action, state } of walked) {
    steps.push({ action, answer: answerTo(action, before), seen: seenIn(scene, state) })
    before = state
  }
  return { title: titleOf(steps), steps }
}

function titleOf(steps: readonly PathStep<Action, Seen>[]): string {
  return steps.map(({ action }) => labelOf(action)).join(', ')
}
