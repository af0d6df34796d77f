/** Lists, from the machines of actors, every machine without one target, guard or transition. */
import { ACTOR_KINDS, type ActorKind } from '../../actors/address.ts'
import { type ActorDefinition, defineActor } from '../../actors/define-actor.ts'
import { ACTORS, type StepActor, stepActor } from '../../actors/step-actor.ts'

export interface MachineMutation {
  readonly kind: ActorKind
  readonly state: string
  readonly command: string
  /** Of the transitions of the command in the state. */
  readonly index: number
  readonly without: 'target' | 'guard' | 'transition'
}

interface Transition {
  readonly guard?: string
  readonly target?: string
  readonly actions: string
}

type States = Readonly<Record<string, { readonly on?: Readonly<Record<string, Transition | readonly Transition[]>> }>>
type AnyDefinition = ActorDefinition<{ readonly status: string }, { readonly type: string }, unknown>

function statesOf(kind: ActorKind): States {
  return ACTORS[kind].machine.states
}

export function nameOf({ kind, state, command, index, without }: MachineMutation): string {
  return `${kind}.${state}.${command}.${index}.${without}`
}

/** Without these transitions, another one of the state takes the command with the same effect. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'account.active.change_status.4.transition',
  'account.frozen.change_status.3.transition',
  'account.frozen.take_arrival.1.transition',
])

export function machineMutations(): readonly MachineMutation[] {
  return everyMutation().filter((mutation) => !WITHOUT_EFFECT.has(nameOf(mutation)))
}

function everyMutation(): readonly MachineMutation[] {
  return ACTOR_KINDS.flatMap((kind) =>
    Object.entries(statesOf(kind)).flatMap(([state, { on = {} }]) =>
      Object.entries(on).flatMap(([command, transitions]) =>
        [transitions].flat().flatMap(({ guard, target }, index) => {
          const at = { kind, state, command, index }
          return [
            ...(target === undefined || target === state ? [] : [{ ...at, without: 'target' } as const]),
            ...(guard === undefined ? [] : [{ ...at, without: 'guard' } as const]),
            { ...at, without: 'transition' } as const,
          ]
        }),
      ),
    ),
  )
}

export function mutationNamed(name: string): MachineMutation {
  const found = machineMutations().find((mutation) => nameOf(mutation) === name)
  if (found === undefined) throw new Error(`There is no mutation ${name}.`)
  return found
}

/** Steps every actor as it is, but those of one kind by the machine that lacks something. */
export function brokenStep(mutation: MachineMutation): StepActor {
  const { step } = brokenActor(mutation)
  return (actor, state, command, evidence) =>
    actor.kind === mutation.kind
      ? (step(actor.id, state, command, evidence) as ReturnType<StepActor>)
      : stepActor(actor, state, command, evidence)
}

export function brokenActor({ kind, state, command, index, without }: MachineMutation) {
  // The kinds differ in what they take; a definition is only changed and made anew here.
  const actor: object = ACTORS[kind]
  const definition = actor as AnyDefinition
  const states = statesOf(kind)
  const { on = {} } = states[state] ?? {}
  const transitions = [on[command] ?? []].flat().flatMap((transition, at) => {
    if (at !== index) return [transition]
    if (without === 'transition') return []
    const { [without]: _, ...rest } = transition
    return [rest]
  })
  const { [command]: _, ...others } = on
  const changed = transitions.length === 0 ? others : { ...others, [command]: transitions }
  const machine = { ...definition.machine, states: { ...states, [state]: { on: changed } } }
  return defineActor({ ...definition, machine })
}
