/** `ledger actors describe KIND`: prints the state machine of a kind of actor, read from the definition that runs. */
import { Argument } from 'commander'
import { ACTOR_KINDS, type ActorKind } from '../../actors/address.ts'
import { ABSENT } from '../../actors/define-actor.ts'
import { ACTORS } from '../../actors/step-actor.ts'
import { appendTo } from '../../runtime/common/append-to.ts'
import type { CommandSetup } from './common/command.ts'

export const actorsCommand: CommandSetup = (command, io) => {
  command.description('Shows the state machines of actors.')
  command
    .command('describe')
    .summary('print the state machine of a kind of actor')
    .description(
      `Prints the action of an actor for each command in each state, and a Mermaid diagram of the states:

  command [guard]: action -> state

The first line of a command whose guard holds applies. Without an arrow the state stays.`,
    )
    .addArgument(new Argument('<kind>', 'the kind of actor').choices(ACTOR_KINDS))
    .action((kind: ActorKind) => io.out(actorText(kind)))
}

export interface DescribedTransition {
  readonly from: string
  readonly command: string
  readonly guard: string | null
  /** null: the state stays. */
  readonly to: string | null
  readonly action: string
}

interface Transition {
  readonly guard?: string
  readonly target?: string
  readonly actions: string
}

export function statesOf(kind: ActorKind): readonly string[] {
  return Object.keys(ACTORS[kind].machine.states)
}

export function transitionsOf(kind: ActorKind): readonly DescribedTransition[] {
  const states: Readonly<Record<string, { readonly on?: object }>> = ACTORS[kind].machine.states
  return Object.entries(states).flatMap(([from, { on = {} }]) =>
    Object.entries(on as Readonly<Record<string, Transition | readonly Transition[]>>).flatMap(([command, one]) =>
      [one].flat().map(({ guard = null, target, actions }) => ({
        from,
        command,
        guard,
        to: target === undefined || target === from ? null : target,
        action: actions,
      })),
    ),
  )
}

/** The commands that the state refuses when no transition accepts them. */
export function refusedIn(kind: ActorKind, state: string): readonly string[] {
  const refusals: Readonly<Record<string, object>> = ACTORS[kind].refusals
  return Object.keys(refusals[state] ?? {})
}

function actorText(kind: ActorKind): string {
  const transitions = transitionsOf(kind)
  const lines = statesOf(kind).flatMap((state) => {
    const refused = refusedIn(kind, state)
    return [
      '',
      state,
      ...transitions
        .filter(({ from }) => from === state)
        .map(({ to, action, ...transition }) => {
          return `  ${labelOf(transition)}: ${action}${to === null ? '' : ` -> ${to}`}`
        }),
      ...(refused.length === 0 ? [] : [`  refused otherwise: ${refused.join(', ')}`]),
    ]
  })
  return `${kind}\n${lines.join('\n')}\n\n${mermaidOf(transitions)}`
}

/** A diagram of the transitions that change the state. */
export function mermaidOf(transitions: readonly DescribedTransition[]): string {
  const arrows = new Map<string, string[]>()
  for (const { from, to, ...transition } of transitions) {
    if (to === null) continue
    appendTo(arrows, `${nodeOf(from)} --> ${nodeOf(to)}`, labelOf(transition))
  }
  const lines = [...arrows].map(([arrow, labels]) => `  ${arrow}: ${labels.join('\\n')}`)
  return `stateDiagram-v2\n${lines.join('\n')}\n`
}

function labelOf({ command, guard }: Pick<DescribedTransition, 'command' | 'guard'>): string {
  return guard === null ? command : `${command} [${guard}]`
}

function nodeOf(state: string): string {
  return state === ABSENT ? '[*]' : state
}
