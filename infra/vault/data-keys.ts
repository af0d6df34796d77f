/**
 * The data keys of a ledger, in `data_keys` and, for a while, in memory.
 *   K1. A key that was made is used by others only after the commit that wrote it: `adopt` follows the answer. What a
 *       commit made that failed is forgotten; made again, it is another.
 *   K2. A key that is not there was destroyed, or somebody deleted it: what it sealed is lost either way, and is never
 *       taken for something that was not sealed.
 *   K3. What is destroyed is forgotten at once where that is known, and elsewhere when it has been kept long enough. Who
 *       reads asks rows whether an account was erased, not this.
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
  /** From memory; undefined when it must be fetched, or is not there. */
  readonly known: (name: KeyName) => DataKey | undefined
  /** Those of them that must be fetched before they are used. */
  readonly missing: (names: readonly KeyName[]) => readonly KeyName[]
  /**
   * Reads those that are missing, in one statement. Those that are not there, whose wrapped bytes were changed, or that a
   * master key wrapped which is not given here stay unknown: that is the trouble of their rows alone.
   */
  readonly fetch: (sql: postgres.ISql, names: readonly KeyName[]) => Promise<void>
  readonly make: (name: KeyName) => MadeKey
  readonly adopt: (made: MadeKey) => void
  /** It was destroyed. */
  readonly forget: (name: KeyName) => void
  /** A key that stands in the row that it is for; it is kept nowhere. Throws when it does not open. */
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
