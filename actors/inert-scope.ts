/** A scope for `machine.transition` that executes nothing: a step's effects are data. */
import { type AnyStateMachine, createActor } from 'xstate'

type Scope<Machine extends AnyStateMachine> = Parameters<Machine['transition']>[2]

/** One for each machine, made once: it costs as much as a whole actor. */
export function inertScope<Machine extends AnyStateMachine>(machine: Machine): Scope<Machine> {
  const inert = createActor(machine)
  const scope: unknown = {
    self: inert,
    system: inert.system,
    id: inert.id,
    sessionId: inert.sessionId,
    logger: () => undefined,
    defer: () => undefined,
    emit: () => undefined,
    stopChild: () => undefined,
    actionExecutor: () => undefined,
  }
  return scope as Scope<Machine>
}
