/**
 * Seals and opens rows of the ledger under data keys.
 *   V1. A text that is not sealed is refused: a writer of rows must not be able to choose their content.
 *   V2. Sealed texts have one of few lengths (padding.ts).
 *   V3. A text that does not open is never taken for an empty one or for one that is not there: it throws.
 */
import { hash } from 'node:crypto'
import { createBlindIndex } from './blind-index.ts'
import { magnitudeOf, magnitudesBetween } from './amount-magnitude.ts'
import type { DataKeys, MadeKey } from './data-keys.ts'
import type { KeyName } from './key-name.ts'
import type { WrappedKey } from './key-wrapping.ts'
import type { Place } from './place.ts'
import { unpadded } from './padding.ts'
import { type Base64Text, type DataKey, openSealed, sealBytes, sealPadded } from './sealed-text.ts'
import { UnreadableRow } from './unreadable-row.ts'

/** What is to be sealed has no key: it was not fetched, or it is not there. */
export class DataKeyMissing extends Error {
  override readonly name = 'DataKeyMissing'

  constructor(name: KeyName) {
    super(`no data key: ${name}`)
  }
}

/** Keys that the commit makes for which a text is sealed: nobody else has them yet. */
export type MadeKeys = ReadonlyMap<KeyName, MadeKey>

export interface Fingerprints {
  readonly key: DataKey
  /** 32 bytes. */
  readonly of: (text: string) => Uint8Array
}

export interface RowVault {
  readonly keys: DataKeys
  /** What stands for the account in tables. */
  readonly accountRef: (accountId: string) => string
  /** The name of the account's data key. */
  readonly accountKeyName: (accountId: string) => KeyName
  /** What stands for an idempotency key of an account, or of a client. */
  readonly keyRef: (owner: string, idempotencyKey: string) => string
  /** Keyed hash of a group ID for rows of the account, as a UUID. */
  readonly groupRef: (accountId: string, groupId: string) => string
  /** Every reference that rows of the group may have. */
  readonly groupRefs: (groupId: string) => readonly string[]
  /** Keyed hash of the amount's magnitude for rows of the account; 0 if there is no index of amounts. */
  readonly amountBucket: (accountId: string, amount: string) => number
  /**
   * The buckets that amounts from `least` to `most` may be in; null: no bound. `accountId` null: the amounts of all accounts.
   * undefined: they may be in any bucket.
   */
  readonly amountBuckets: (
    accountId: string | null,
    least: string | null,
    most: string | null,
  ) => readonly number[] | undefined
  /** Throws DataKeyMissing when the key is neither among those just made nor in memory. */
  readonly sealBase64: (name: KeyName, place: Place, text: string, made?: MadeKeys) => Base64Text
  /** The same in hexadecimal digits. */
  readonly seal: (name: KeyName, place: Place, text: string, made?: MadeKeys) => string
  /** Without padding: for bytes whose length reveals nothing. */
  readonly sealBytes: (name: KeyName, place: Place, bytes: Uint8Array, made?: MadeKeys) => Base64Text
  /** Throws UnreadableRow. */
  readonly openBytes: (name: KeyName, place: Place, sealed: Uint8Array) => Buffer
  /** Keyed hashes, stored only inside sealed texts. Throws DataKeyMissing. */
  readonly fingerprints: (name: KeyName, made?: MadeKeys) => Fingerprints
  /** `own`: the key that the row itself carries, else the one in memory is taken. Throws UnreadableRow. */
  readonly open: (name: KeyName, place: Place, bytes: Uint8Array, own?: WrappedKey) => string
}

/**
 * How magnitudes of amounts are hashed: under a key for each account, or under one for the ledger, so that rows of different
 * accounts share hashes. `off`: rows carry no hash.
 */
export const AMOUNT_INDEXES = ['account', 'ledger', 'off'] as const
export type AmountIndex = (typeof AMOUNT_INDEXES)[number]

/** Of every amount where there is no index of amounts. */
const NO_BUCKET = 0

export interface RowVaultOptions {
  readonly amountIndex: AmountIndex
  /** Number of cached references; the default suits an edge or a node. */
  readonly cachedAccounts?: number
}

export function createRowVault(
  keys: DataKeys,
  indexSecret: Buffer,
  { amountIndex, cachedAccounts }: RowVaultOptions,
): RowVault {
  const index = createBlindIndex(indexSecret, cachedAccounts)
  const bucketIn = (accountId: string, magnitude: number): number =>
    index.bucketOf(amountIndex === 'ledger' ? null : accountId, magnitude)
  const keyOf = (name: KeyName, made: MadeKeys | undefined): DataKey => {
    const key = made?.get(name)?.key ?? keys.known(name)
    if (key === undefined) throw new DataKeyMissing(name)
    return key
  }
  /** `own`: as for `open`. */
  const opened = (name: KeyName, place: Place, sealed: Uint8Array, own?: WrappedKey): Buffer => {
    try {
      const key = own === undefined ? keys.known(name) : keys.unwrap(name, own)
      if (key === undefined)
        throw new UnreadableRow(place, 'its data key is not there, or under a master key that is not given here')
      return openSealed(key, place, sealed)
    } catch (cause) {
      throw cause instanceof UnreadableRow ? cause : new UnreadableRow(place, 'it does not open', { cause })
    }
  }
  return {
    keys,
    accountRef: index.accountRef,
    accountKeyName: index.accountKeyName,
    keyRef: index.keyRef,
    groupRef: index.groupRef,
    groupRefs: index.groupRefs,
    amountBucket: (accountId, amount) => (amountIndex === 'off' ? NO_BUCKET : bucketIn(accountId, magnitudeOf(amount))),
    amountBuckets: (accountId, least, most) => {
      if (amountIndex === 'off' || (amountIndex === 'account' && accountId === null)) return undefined
      return magnitudesBetween(least, most).map((magnitude) => bucketIn(accountId ?? '', magnitude))
    },
    sealBase64: (name, place, text, made) => sealPadded(keyOf(name, made), place, text, 'base64') as Base64Text,
    seal: (name, place, text, made) => sealPadded(keyOf(name, made), place, text, 'hex'),
    fingerprints: (name, made) => {
      const key = keyOf(name, made)
      const prefix = `${key.toString('hex')}\u001f`
      return { key, of: (text) => Buffer.from(hash('sha256', prefix + text, 'binary'), 'latin1') }
    },
    sealBytes: (name, place, bytes, made) =>
      sealBytes(keyOf(name, made), place, bytes).toString('base64') as Base64Text,
    openBytes: opened,
    open: (name, place, bytes, own) => unpadded(opened(name, place, bytes, own).toString('utf8')),
  }
}
