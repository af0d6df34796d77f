/** An actor's machine in words and as a Mermaid diagram: read from the definition that runs. */
import type { ActorKind } from '../../actors/address.ts'
import { ABSENT } from '../../actors/define-actor.ts'
import { ACTORS } from '../../actors/step-actor.ts'

export interface DescribedTransition {
  readonly from: string
  readonly command: string
  readonly guard: string | null
  /** null: the state stays. */
  readonly to: string | null
  readonly action: string
}

export interface DescribedActor {
  readonly kind: ActorKind
  readonly states: readonly string[]
  readonly transitions: readonly DescribedTransition[]
  /** By state and command: the code with which a command is refused that no transition accepts. */
  readonly refusals: readonly { readonly state: string; readonly command: string }[]
}

interface Transition {
  readonly guard?: string
  readonly target?: string
  readonly actions: string
}

export function describeActor(kind: ActorKind): DescribedActor {
  const { machine, refusals } = ACTORS[kind]
  const states: Readonly<Record<string, { readonly on?: object }>> = machine.states
  const transitions = Object.entries(states).flatMap(([from, { on = {} }]) =>
    Object.entries(on as Readonly<Record<string, Transition | readonly Transition[]>>).flatMap(([command, taken]) =>
      [taken].flat().map(({ guard = null, target, actions }) => ({
        from,
        command,
        guard,
        to: target === undefined || target === from ? null : target,
        action: actions,
      })),
    ),
  )
  const refused = Object.entries(refusals as Readonly<Record<string, object>>).flatMap(([state, commands]) =>
    Object.keys(commands).map((command) => ({ state, command })),
  )
  return { kind, states: Object.keys(states), transitions, refusals: refused }
}

/** The effect of each command and the refusals, state by state. */
export function actorText({ kind, states, transitions, refusals }: DescribedActor): string {
  const lines = states.flatMap((state) => {
    const taken = transitions.filter(({ from }) => from === state)
    const refused = refusals.filter((refusal) => refusal.state === state).map(({ command }) => command)
    return [
      '',
      state,
      ...taken.map(({ command, guard, to, action }) => {
        const condition = guard === null ? '' : ` [${guard}]`
        return `  ${command}${condition}: ${action}${to === null ? '' : ` -> ${to}`}`
      }),
      ...(refused.length === 0 ? [] : [`  refused otherwise: ${refused.join(', ')}`]),
    ]
  })
  return `${kind}\n${lines.join('\n')}\n\n${mermaidOf({ kind, states, transitions, refusals })}`
}

/** The transitions that change the state. */
export function mermaidOf({ transitions }: DescribedActor): string {
  const arrows = new Map<string, string[]>()
  for (const { from, to, command, guard } of transitions) {
    if (to === null) continue
    const arrow = `${nodeOf(from)} --> ${nodeOf(to)}`
    const label = guard === null ? command : `${command} [${guard}]`
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), label])
  }
  const lines = [...arrows].map(([arrow, labels]) => `  ${arrow}: ${labels.join('\\n')}`)
  return `stateDiagram-v2\n${lines.join('\n')}\n`
}

function nodeOf(state: string): string {
  return state === ABSENT ? '[*]' : state
}
