/** Exchanges of one group ID. Only other actors and its own timer send it commands. */
import { defineActor } from '../define-actor.ts'
import type { ExchangeCommand } from './commands.ts'
import { exchangeMachine } from './machine.ts'
import type { ExchangeState } from './state.ts'

export const exchangeActor = defineActor<ExchangeState, ExchangeCommand, unknown>({
  kind: 'exchange',
  machine: exchangeMachine,
  refusals: { absent: {}, waiting: {}, expired: {} },
})
