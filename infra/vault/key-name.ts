/** What has a data key of its own. */
export type KeyScope = 'account' | 'class' | 'attestation' | 'shard' | 'ledger'

/** One string for a data key: its scope and what it belongs to. */
export type KeyName = string & { readonly keyName: never }

/** Of an account, by its reference (blind-index.ts): chain, balances, transactions, answers, holds. */
export function accountKeyName(accountRef: string): KeyName {
  return keyName('account', accountRef)
}

/** Of an NFT class, by its ID: the class, its instances and their history. */
export function classKeyName(classId: string): KeyName {
  return keyName('class', classId)
}

/** Of an attestation, by its ID. The key stands, wrapped, in the attestation's own row and not among the data keys. */
export function attestationKeyName(attestationId: string): KeyName {
  return keyName('attestation', attestationId)
}

/** Of a shard: tokens, groups and exchanges whose home it is, and the messages that it sends. */
export function shardKeyName(shardId: number): KeyName {
  return keyName('shard', String(shardId))
}

/** Of what belongs to no shard. */
export const LEDGER_KEY_NAME = keyName('ledger', '')

function keyName(scope: KeyScope, ref: string): KeyName {
  return `${scope} ${ref}` as KeyName
}

export function partsOf(name: KeyName): { readonly scope: string; readonly ref: string } {
  const at = name.indexOf(' ')
  return { scope: name.slice(0, at), ref: name.slice(at + 1) }
}
