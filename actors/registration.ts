/** Registration of tokens and NFT classes: the issuer must consent. A refusal frees the name. */
import type { CommandBase } from './account/commands.ts'
import { type Answer, FIRST, refusal, type Repeatable } from './account/outcome.ts'
import { type Change, written } from './define-actor.ts'
import type { Stamp } from './message.ts'
import type { Refusal } from './refusal.ts'
import { invariant } from './result.ts'

export interface RegistrationCommand extends CommandBase {
  /** The canonical body, and the issuer's signature of it or an empty text. */
  readonly payload: string
  readonly signature: string
  /** Whether an issuer with a key must have signed. */
  readonly consentNeeded: boolean
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

interface Registration {
  readonly clientId: string
  readonly registrationKey: string
}

interface IssuePrepared {
  readonly refused: Refusal | null
}

/** Whether the client gave the key itself. */
function isReplay({ registrationKey }: Pick<RegistrationCommand, 'registrationKey'>): boolean {
  return !registrationKey.startsWith('request ')
}

/** Members of the message that requests the issuer's consent. */
export function consentOf({ caller: { clientId }, consentNeeded, payload, signature }: RegistrationCommand) {
  return { clientId, consentNeeded, payload, signature }
}

export function registrationGuards<Register extends RegistrationCommand, Prepared extends IssuePrepared>() {
  return {
    isRepeat: ({ clientId, registrationKey }: Registration, command: Register) =>
      clientId === command.caller.clientId && registrationKey === command.registrationKey,
    isRefused: (_: object, { refused }: Prepared) => refused !== null,
  }
}

/** `answerOf`: shows the asset as registered; `isSame`: whether it was registered with the fields of the command. */
export function registrationActions<
  Data extends { readonly version: number; readonly lastTimeMs: number },
  Register extends RegistrationCommand,
  Prepared extends IssuePrepared,
>(answerOf: (data: Data, repeated: Repeatable) => Answer, isSame: (data: Data, command: Register) => boolean) {
  return {
    showRegistered: (data: Data, command: Register): Change<Data> => ({
      data,
      answer: answerOf(data, { replayed: isReplay(command), mismatch: !isSame(data, command) }),
    }),
    activate: (before: Data, stamp: Stamp): Change<Data> => {
      const data = written(before, stamp)
      return { data, effects: [{ kind: 'concluded', answer: answerOf(data, FIRST) }] }
    },
    defer: (data: Data): Change<Data> => ({ data, answer: 'deferred' }),
    giveUp: (_: object, { refused }: Prepared): Change<never> => {
      invariant(refused !== null, 'an abandoned registration has a refusal')
      const { code, detail, keyId } = refused
      return { data: null, effects: [{ kind: 'concluded', answer: refusal(code, detail, 'issuer', keyId) }] }
    },
  }
}
