/**
 * The data keys of a ledger, from the table `data_keys` and a cache.
 *   K1. Other commits use a new key only after the commit that wrote it succeeded: then the caller calls `adopt`. A failed
 *       commit's key is dropped, and a retry creates another one.
 *   K2. A missing key was destroyed or deleted. Its texts are lost, and are never taken for unsealed texts.
 *   K3. The process that destroys a key drops it from its cache at once, other processes when its cache entry expires.
 *       Readers learn from rows, not from this cache, that an account was erased.
 */
import type postgres from 'postgres'
import { SealBroken } from '../keys/sealing.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { createKeyCache } from './key-cache.ts'
import { type KeyName, partsOf } from './key-name.ts'
import { type KeyWrapping, newDataKey, type WrappedKey } from './key-wrapping.ts'
import type { DataKey } from './sealed-text.ts'
import { prepared } from '../postgres/connection/prepared.ts'

const SWEEP_MS = 60_000

export interface DataKeys {
  /** From the cache; undefined if the key must be fetched or does not exist. */
  readonly known: (name: KeyName) => DataKey | undefined
  /** The names whose keys must be fetched before use. */
  readonly missing: (names: readonly KeyName[]) => readonly KeyName[]
  /**
   * Reads the missing keys in one statement. A key stays unknown if it does not exist, was damaged, or is wrapped under a
   * missing master key: then only its own rows are unreadable.
   */
  readonly fetch: (sql: postgres.ISql, names: readonly KeyName[]) => Promise<void>
  readonly make: (name: KeyName) => MadeKey
  readonly adopt: (made: MadeKey) => void
  /** For a destroyed key. */
  readonly forget: (name: KeyName) => void
  /** Unwraps a key that its row carries. It is not cached. Throws SealBroken and MasterKeyMissing. */
  readonly unwrap: (name: KeyName, wrapped: WrappedKey) => DataKey
}

export interface MadeKey {
  readonly name: KeyName
  readonly key: DataKey
  readonly wrapped: WrappedKey
}

export function createDataKeys(wrapping: KeyWrapping): DataKeys {
  const cache = createKeyCache()
  setInterval(cache.sweep, SWEEP_MS).unref()
  const missing = (names: readonly KeyName[]): readonly KeyName[] => names.filter((name) => !cache.holds(name))
  return {
    known: cache.get,
    missing,
    fetch: async (sql, names) => {
      const wanted = missing(names)
      if (wanted.length === 0) return
      for (const [name, wrapped] of await readWrapped(sql, wanted)) {
        const key = unwrapped(wrapping, name, wrapped)
        if (key !== undefined) cache.put(name, key)
      }
    },
    make: (name) => {
      const key = newDataKey()
      return { name, key, wrapped: wrapping.wrap(name, key) }
    },
    adopt: ({ name, key }) => cache.put(name, key),
    forget: cache.remove,
    unwrap: wrapping.unwrap,
  }
}

function unwrapped(wrapping: KeyWrapping, name: KeyName, wrapped: WrappedKey): DataKey | undefined {
  try {
    return wrapping.unwrap(name, wrapped)
  } catch (error) {
    if (error instanceof SealBroken || error instanceof MasterKeyMissing) return undefined
    throw error
  }
}

export const DATA_KEYS_LOOK_UP = `
SELECT k.scope, k.ref, k.master_key_id, k.wrapped
  FROM unnest($1::text[], $2::text[]) AS i (scope, ref)
  JOIN data_keys k ON k.scope = i.scope AND k.ref = i.ref`

async function readWrapped(sql: postgres.ISql, names: readonly KeyName[]): Promise<ReadonlyMap<KeyName, WrappedKey>> {
  const parts = [...new Set(names)].map(partsOf)
  const texts = (values: readonly string[]): string => arrayLiteral('text', values)
  const rows = await prepared<{
    readonly scope: string
    readonly ref: string
    readonly master_key_id: string
    readonly wrapped: Buffer
  }>(sql, DATA_KEYS_LOOK_UP, [texts(parts.map(({ scope }) => scope)), texts(parts.map(({ ref }) => ref))])
  return new Map(
    rows.map(({ scope, ref, master_key_id: masterKeyId, wrapped }) => [
      `${scope} ${ref}` as KeyName,
      { masterKeyId, wrapped },
    ]),
  )
}
