/** What registrations of tokens and NFT classes have in common: the issuer is asked, and the name is free again if it refuses. */
import type { CommandBase } from './account/commands.ts'
import { refusal } from './account/outcome.ts'
import type { Change } from './define-actor.ts'
import type { Refused } from './message.ts'
import { invariant } from './result.ts'

export interface RegistrationCommand extends CommandBase {
  /** The canonical body, and the issuer's signature over it; empty where there is none. */
  readonly payload: string
  readonly signature: string
  /** Whether an issuer that has a key must have signed. */
  readonly consentNeeded: boolean
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

interface Registered {
  readonly clientId: string
  readonly registrationKey: string
}

interface IssuePrepared {
  readonly refused: Refused | null
}

/** Of a request that repeats a registration under the client's own key. */
export function isReplay({ registrationKey }: Pick<RegistrationCommand, 'registrationKey'>): boolean {
  return !registrationKey.startsWith('request ')
}

/** The issuer is asked for its consent. */
export function consentOf({ caller: { clientId }, consentNeeded, payload, signature }: RegistrationCommand) {
  return { clientId, consentNeeded, payload, signature }
}

export function registrationGuards<Register extends RegistrationCommand, Prepared extends IssuePrepared>() {
  return {
    isRepeat: ({ clientId, registrationKey }: Registered, command: Register) =>
      clientId === command.caller.clientId && registrationKey === command.registrationKey,
    isRefused: (_: object, { refused }: Prepared) => refused !== null,
  }
}

export function registrationActions<Prepared extends IssuePrepared>() {
  return {
    defer: <Data>(data: Data): Change<Data> => ({ data, answer: 'deferred' }),
    giveUp: (_: object, { refused }: Prepared): Change<never> => {
      invariant(refused !== null, 'an abandoned registration was refused')
      const { code, detail, keyId } = refused
      return { data: null, effects: [{ kind: 'concluded', answer: refusal(code, detail, 'issuer', keyId) }] }
    },
  }
}
