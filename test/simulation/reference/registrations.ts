/** The public keys of an account's registrations, by client and registration key (D7). */
import type { Caller } from '../../../actors/account/commands.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'

type Registration = Extract<Operation, { readonly kind: 'register' }>

export class Registrations {
  private readonly publicKeys = new Map<string, string>()

  /** `use`: client and key. */
  note(use: string, publicKey: string): void {
    this.publicKeys.set(use, publicKey)
  }

  repeats(caller: Caller, operation: Registration): boolean {
    return this.publicKeyUnder(caller, operation) !== undefined
  }

  /** Whether it repeats a registration that had another public key. */
  differs({ caller, operation }: { readonly caller: Caller; readonly operation: Operation }): boolean {
    if (operation.kind !== 'register') return false
    const publicKey = this.publicKeyUnder(caller, operation)
    return publicKey !== undefined && publicKey !== operation.key.publicKey
  }

  private publicKeyUnder({ clientId }: Caller, { registrationKey }: Registration): string | undefined {
    return registrationKey === null ? undefined : this.publicKeys.get(`${clientId} ${registrationKey}`)
  }
}
