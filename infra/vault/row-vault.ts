/**
 * Seals and opens rows of the ledger under data keys.
 *   V1. Unsealed texts are refused, so that a writer of rows cannot choose their content.
 *   V2. Sealed texts are padded (padding.ts).
 *   V3. A text that does not open throws. It is never taken for an empty or a missing text.
 */
import { hash } from 'node:crypto'
import { type BlindIndex, createBlindIndex } from './blind-index.ts'
import { magnitudeOf, magnitudesBetween } from './amount-magnitude.ts'
import type { DataKeys, MadeKey } from './data-keys.ts'
import type { KeyName } from './key-name.ts'
import type { WrappedKey } from './key-wrapping.ts'
import type { Place } from './place.ts'
import { unpadded } from './padding.ts'
import { type Base64Text, type DataKey, openSealed, sealBytes, sealPadded } from './sealed-text.ts'
import { UnreadableRow } from './unreadable-row.ts'

/** The data key was not fetched or does not exist. */
export class DataKeyMissing extends Error {
  override readonly name = 'DataKeyMissing'

  constructor(name: KeyName) {
    super(`no data key: ${name}`)
  }
}

/** New keys of the commit that is being prepared (K1 of data-keys.ts). */
export type MadeKeys = ReadonlyMap<KeyName, MadeKey>

export interface Fingerprints {
  readonly key: DataKey
  /** 32 bytes. */
  readonly of: (text: string) => Uint8Array
}

export interface RowVault extends Omit<BlindIndex, 'bucketOf'> {
  readonly keys: DataKeys
  /** Keyed hash of the amount's magnitude for rows of the account; 0 if there is no index of amounts. */
  readonly amountBucket: (accountId: string, amount: string) => number
  /**
   * The buckets of the amounts from `least` to `most`; null: no bound. `accountId` null: of all accounts. Returns undefined if
   * they may be in any bucket.
   */
  readonly amountBuckets: (
    accountId: string | null,
    least: string | null,
    most: string | null,
  ) => readonly number[] | undefined
  /** Throws DataKeyMissing if the key is neither in `made` nor in the cache. */
  readonly sealBase64: (name: KeyName, place: Place, text: string, made?: MadeKeys) => Base64Text
  /** The same, in hexadecimal digits. */
  readonly seal: (name: KeyName, place: Place, text: string, made?: MadeKeys) => string
  /** Without padding, for bytes whose length reveals nothing. */
  readonly sealBytes: (name: KeyName, place: Place, bytes: Uint8Array, made?: MadeKeys) => Base64Text
  /** Throws UnreadableRow. */
  readonly openBytes: (name: KeyName, place: Place, sealed: Uint8Array) => Buffer
  /** Keyed hashes that are stored only inside sealed texts. Throws DataKeyMissing. */
  readonly fingerprints: (name: KeyName, made?: MadeKeys) => Fingerprints
  /** `own`: the key that the row carries; default: the cached one. Throws UnreadableRow. */
  readonly open: (name: KeyName, place: Place, bytes: Uint8Array, own?: WrappedKey) => string
}

/**
 * The key for the hashes of magnitudes: one for each account, or one for the ledger, so that rows of different accounts have
 * equal hashes. `off`: rows have no hash.
 */
export const AMOUNT_INDEXES = ['account', 'ledger', 'off'] as const
export type AmountIndex = (typeof AMOUNT_INDEXES)[number]

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
  const { bucketOf, ...index } = createBlindIndex(indexSecret, cachedAccounts)
  const bucketIn = (accountId: string, magnitude: number): number =>
    bucketOf(amountIndex === 'ledger' ? null : accountId, magnitude)
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
        throw new UnreadableRow(
          place,
          'its data key does not exist, or is under a master key that this process does not have',
        )
      return openSealed(key, place, sealed)
    } catch (cause) {
      throw cause instanceof UnreadableRow ? cause : new UnreadableRow(place, 'it does not open', { cause })
    }
  }
  return {
    keys,
    ...index,
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
