/**
 * Token: one command, judged and applied. Its home alone decides its name, its supply, its mints and burns.
 * Pure: time and ids arrive in the command, effects leave as data.
 */
import { refusal } from '../account/outcome.ts'
import type { ActorAnswer, ActorStepResult } from '../actor-step.ts'
import { arrivalAnswer, ofAdministrators } from '../arrival.ts'
import { BASE_UNIT } from '../money.ts'
import { invariant } from '../result.ts'
import { judgeTokenArrival } from './arrival.ts'
import type { RegisterTokenCommand, TokenCommand } from './commands.ts'
import { advanceToken, tokenSnapshotOf } from './machine.ts'
import type { TokenState } from './state.ts'
import { registeredAnswer } from './supply.ts'

export function stepToken(token: TokenState | null, command: TokenCommand): ActorStepResult<TokenState> {
  if (command.type === 'register_token') return register(token, command)
  if (command.type === 'hold_arrival' || command.type === 'take_arrival' || command.type === 'drop_arrival') {
    const known = ofAdministrators(command) ?? judgeTokenArrival(token, command)
    return known === undefined ? advanced(token, command, arrivalAnswer(command)) : { kind: 'answered', answer: known }
  }
  return advanced(token, command, null)
}

function register(token: TokenState | null, command: RegisterTokenCommand): ActorStepResult<TokenState> {
  if (command.tokenId.toUpperCase() === BASE_UNIT) {
    return { kind: 'answered', answer: refusal('token_exists', 'The symbol is that of the ledger itself.', 'symbol') }
  }
  if (token === null) return advanced(token, command, 'deferred')
  const same = token.clientId === command.caller.clientId && token.registrationKey === command.registrationKey
  if (!same) return { kind: 'answered', answer: refusal('token_exists', 'The symbol is taken.', 'symbol') }
  if (token.status !== 'active') return { kind: 'answered', answer: 'deferred' }
  const replayed = !command.registrationKey.startsWith('request ')
  return { kind: 'answered', answer: registeredAnswer(token, { replayed, mismatch: asksForAnother(token, command) }) }
}

/** Whether it is registered otherwise than is asked now. */
function asksForAnother(token: TokenState, { tokenId, decimals, issuer, totalSupply }: RegisterTokenCommand): boolean {
  return (
    token.tokenId !== tokenId ||
    token.decimals !== decimals ||
    token.issuer !== issuer ||
    token.initialSupply !== totalSupply
  )
}

function advanced(
  token: TokenState | null,
  command: TokenCommand,
  answer: ActorAnswer | null,
): ActorStepResult<TokenState> {
  const before = tokenSnapshotOf(token)
  const after = advanceToken(before, command)
  invariant(after !== before, `a token that is ${before.value} cannot hear ${command.type}`)
  return { kind: 'stepped', state: after.context.token, effects: after.context.effects, answer }
}
