/** The kinds of things with their own data key. */
export type KeyScope = 'account' | 'class' | 'attestation' | 'shard' | 'ledger'

/** Scope and reference of a data key as one string. */
export type KeyName = string & { readonly keyName: never }

/** Seals chain, balances, transactions, replies and holds. `accountRef`: see blind-index.ts. */
export function accountKeyName(accountRef: string): KeyName {
  return keyName('account', accountRef)
}

/** Seals the class, its instances and their history. */
export function classKeyName(classId: string): KeyName {
  return keyName('class', classId)
}

/** The row of the attestation carries this wrapped key; `data_keys` does not. */
export function attestationKeyName(attestationId: string): KeyName {
  return keyName('attestation', attestationId)
}

/** Seals the tokens, groups and exchanges of the shard, and the messages that it sends. */
export function shardKeyName(shardId: number): KeyName {
  return keyName('shard', String(shardId))
}

/** Seals rows without a shard. */
export const LEDGER_KEY_NAME = keyName('ledger', '')

function keyName(scope: KeyScope, ref: string): KeyName {
  return `${scope} ${ref}` as KeyName
}

export function partsOf(name: KeyName): { readonly scope: string; readonly ref: string } {
  const at = name.indexOf(' ')
  return { scope: name.slice(0, at), ref: name.slice(at + 1) }
}
