/** A scene in the interface's own words, with names that are its stage's alone. */
import type { LegFields } from './mini-clients.ts'
import type { Scene } from './group-model.ts'

/** The legs as a registration has them. `prefix`: of the accounts' names. */
export function legFieldsOf({ legs }: Scene, prefix: string): readonly LegFields[] {
  return legs.map(({ account, type, amount, to }) => ({
    account_id: `${prefix}.${account}`,
    type,
    amount: `${amount}`,
    ...(to === undefined ? {} : { to_account_id: `${prefix}.${to}` }),
  }))
}

/** The name that a party has in the scene. */
export function nameOf(accountId: string): string {
  return accountId.slice(accountId.lastIndexOf('.') + 1)
}
