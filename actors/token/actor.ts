/** Token. Its home alone decides its name, supply, mints and burns. */
import { type Answer, refusal } from '../account/outcome.ts'
import { authorizeArrival, NOT_HELD } from '../arrival.ts'
import { defineActor, type Refusals } from '../define-actor.ts'
import { BASE_UNIT } from '../money.ts'
import { EXISTS, judgeGrowth } from './arrival.ts'
import type { TokenCommand } from './commands.ts'
import { tokenMachine } from './machine.ts'
import type { TokenState, TokenStatus } from './state.ts'

const TAKEN = { code: 'token_exists', detail: 'The symbol is taken.', field: 'symbol' } as const

const REFUSALS = {
  absent: { take_arrival: NOT_HELD },
  preparing: { register_token: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
  crediting: { register_token: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
  active: { register_token: TAKEN, take_arrival: NOT_HELD },
} as const satisfies Refusals<TokenState, TokenStatus, TokenCommand['type']>

function judge(token: TokenState | null, command: TokenCommand): Answer | undefined {
  if (command.type === 'hold_arrival' && token !== null) return judgeGrowth(token, command)
  if (command.type !== 'register_token' || command.tokenId.toUpperCase() !== BASE_UNIT) return undefined
  return refusal('token_exists', 'The symbol is reserved for the base unit of the ledger.', 'symbol')
}

export const tokenActor = defineActor<TokenState, TokenCommand, unknown>({
  kind: 'token',
  machine: tokenMachine,
  refusals: REFUSALS,
  authorize: authorizeArrival,
  judge,
})
