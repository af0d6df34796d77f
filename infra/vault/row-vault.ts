/**
 * How rows of the ledger are written and read: sealed under data keys, or plain where a ledger was made without encryption.
 * What goes in and what comes out is the same either way, so nothing else knows of the difference.
 *   V1. Of a ledger with encryption a plain text is refused: whoever can write rows must not be able to switch it off.
 *   V2. Sealed texts have one of few lengths (padding.ts).
 *   V3. A text that does not open is never taken for an empty one or for one that is not there: it throws.
 */
import { hash } from 'node:crypto'
import type postgres from 'postgres'
import { type BlindIndex, createBlindIndex } from './blind-index.ts'
import { magnitudeOf, magnitudesBetween } from './amount-magnitude.ts'
import type { DataKeys, MadeKey } from './data-keys.ts'
import { accountKeyName, type KeyName } from './key-name.ts'
import type { WrappedKey } from './key-wrapping.ts'
import type { Place } from './place.ts'
import { unpadded } from './padding.ts'
import { type Base64Text, type DataKey, openText, sealPadded } from './sealed-text.ts'
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
  /** Whether anything may be sealed: keys are of use then. */
  readonly encrypts: boolean
  /** Whether there may be plain texts beside sealed ones: of a ledger that is being encrypted. */
  readonly mixes: boolean
  /** Whether what is written of this shard is sealed; null: of what belongs to no shard. */
  readonly seals: (shardId: number | null) => boolean
  /** Looks how far the encryption of the ledger has come; left out where that never changes. */
  readonly follow?: (sql: postgres.ISql) => Promise<void>
  readonly keys: DataKeys
  /** What stands for the account in tables. */
  readonly accountRef: (accountId: string) => string
  /** The name of the account's data key. */
  readonly accountKeyName: (accountId: string) => KeyName
  /** What stands for an idempotency key of an account, or of a client. */
  readonly keyRef: (owner: string, idempotencyKey: string) => string
  readonly amountBucket: (amount: string) => number
  /** The buckets that amounts from `least` to `most` may be in; null: no bound. */
  readonly amountBuckets: (least: string | null, most: string | null) => readonly number[]
  /** Throws DataKeyMissing when the key is neither among those just made nor in memory. */
  readonly sealBase64: (name: KeyName, place: Place, text: string, made?: MadeKeys) => Base64Text
  /** The same in hexadecimal digits. */
  readonly seal: (name: KeyName, place: Place, text: string, made?: MadeKeys) => string
  /** Keyed hashes that are written nowhere but inside sealed texts; undefined of a ledger without encryption. */
  readonly fingerprints: (name: KeyName, made?: MadeKeys) => Fingerprints | undefined
  /** `own`: the key that the row itself carries, else the one in memory is taken. Throws UnreadableRow. */
  readonly open: (name: KeyName, place: Place, bytes: Uint8Array, own?: WrappedKey) => string
}

/** `indexSecret`: null of a ledger without encryption. */
export function createRowVault(keys: DataKeys, indexSecret: Buffer | null): RowVault {
  return indexSecret === null ? plainVault(keys) : sealingVault(keys, createBlindIndex(indexSecret))
}

export function sealingVault(keys: DataKeys, index: BlindIndex): RowVault {
  const keyOf = (name: KeyName, made: MadeKeys | undefined): DataKey => {
    const key = made?.get(name)?.key ?? keys.known(name)
    if (key === undefined) throw new DataKeyMissing(name)
    return key
  }
  return {
    encrypts: true,
    mixes: false,
    seals: () => true,
    keys,
    accountRef: index.accountRef,
    accountKeyName: index.accountKeyName,
    keyRef: index.keyRef,
    amountBucket: (amount) => index.bucketOf(magnitudeOf(amount)),
    amountBuckets: (least, most) => magnitudesBetween(least, most).map(index.bucketOf),
    sealBase64: (name, place, text, made) => sealPadded(keyOf(name, made), place, text, 'base64') as Base64Text,
    seal: (name, place, text, made) => sealPadded(keyOf(name, made), place, text, 'hex'),
    fingerprints: (name, made) => {
      const key = keyOf(name, made)
      const prefix = `${key.toString('hex')}\u001f`
      return { key, of: (text) => Buffer.from(hash('sha256', prefix + text, 'binary'), 'latin1') }
    },
    open: (name, place, bytes, own) => {
      try {
        const key = own === undefined ? keys.known(name) : keys.unwrap(name, own)
        if (key === undefined)
          throw new UnreadableRow(place, 'its data key is not there, or under a master key that is not given here')
        return unpadded(openText(key, place, bytes))
      } catch (cause) {
        throw cause instanceof UnreadableRow ? cause : new UnreadableRow(place, 'it does not open', { cause })
      }
    },
  }
}

function plainVault(keys: DataKeys): RowVault {
  return {
    encrypts: false,
    mixes: false,
    seals: () => false,
    keys,
    accountRef: (accountId) => accountId,
    accountKeyName,
    keyRef: (_owner, idempotencyKey) => idempotencyKey,
    amountBucket: magnitudeOf,
    amountBuckets: magnitudesBetween,
    fingerprints: () => undefined,
    sealBase64: (_name, _place, text) => plainBase64(text),
    seal: (_name, _place, text) => plainHex(text),
    open: (_name, _place, bytes) => plainText(bytes),
  }
}

/** A text that is not sealed. */
export function plainBase64(text: string): Base64Text {
  return Buffer.from(text, 'utf8').toString('base64') as Base64Text
}

/** The same in hexadecimal digits. */
export function plainHex(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex')
}

export function plainText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
