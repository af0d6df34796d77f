/** Transitions of the exchanges of one group ID; the offers and pairs that pairing.ts leaves choose the next state. */
import { ABSENT, defineActor, IGNORED, type MachineDefinition, type StepContext } from '../define-actor.ts'
import { exchanged, outcomeOf, timeOf } from './pairing.ts'
import type { ExchangeCommand, ExchangeData, ExchangeState, ExchangeStatus } from './state.ts'

type Context = StepContext<ExchangeStatus, unknown>

const GUARDS = {
  isEarly: (exchange: ExchangeData, command: ExchangeCommand) =>
    exchange.dueAtMs === null || exchange.dueAtMs > timeOf(exchange, command),
  leavesOffers: (exchange: ExchangeData | null, command: ExchangeCommand, { id }: Context) => {
    const { offers, pairs } = outcomeOf(exchange, command, id)
    return offers.length + pairs.length > 0
  },
  leavesExpired: (exchange: ExchangeData | null, command: ExchangeCommand, { id }: Context) =>
    outcomeOf(exchange, command, id).expired.length > 0,
}

const ACTIONS = {
  pair: (exchange: ExchangeData, command: ExchangeCommand, { id }: Context) => exchanged(exchange, command, id),
}

const CREATIONS = {
  begin: (command: ExchangeCommand, { id }: Context) => exchanged(null, command, id),
}

const FORGOTTEN = [
  { guard: 'leavesExpired', target: 'expired', actions: 'pair' },
  { target: ABSENT, actions: 'pair' },
] as const
const PAIRED = [{ guard: 'leavesOffers', target: 'waiting', actions: 'pair' }, ...FORGOTTEN] as const

const exchangeMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        offer_exchange: [
          { guard: 'leavesOffers', target: 'waiting', actions: 'begin' },
          { guard: 'leavesExpired', target: 'expired', actions: 'begin' },
          { actions: 'begin' },
        ],
        due: IGNORED,
      },
    },
    waiting: {
      on: {
        offer_exchange: PAIRED,
        nft_delivered: PAIRED,
        due: [{ guard: 'isEarly', ...IGNORED }, ...PAIRED],
      },
    },
    expired: { on: { offer_exchange: PAIRED, due: [{ guard: 'isEarly', ...IGNORED }, ...FORGOTTEN] } },
  },
} as const satisfies MachineDefinition<ExchangeData, ExchangeStatus, ExchangeCommand, unknown>

export const exchangeActor = defineActor<ExchangeState, ExchangeCommand, unknown>({
  kind: 'exchange',
  machine: exchangeMachine,
  refusals: { absent: {}, waiting: {}, expired: {} },
})
