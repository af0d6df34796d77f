/**
 * The rotation of the master key: what an earlier one protects is protected by the current one instead. Data is not touched.
 *   R1. It may be cut short, run again, and run by several at once: each step changes only what it read, and only if that is
 *       still there (W1).
 *   R2. Nothing is changed while anything is protected by a master key that is not given.
 *   R3. The secret of shards is resealed first, the secret of references last, after everything else. Every part opens both
 *       at its start. So during the whole rotation a part with only one of the two keys is refused at its start, not at the
 *       first unreadable row.
 *   R4. While the ledger runs, nodes and edges make keys under the master key that is current for them. One that was not
 *       given the new key yet would make more and more under the earlier one: the rotation does not end then, and says so.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type LedgerSecretName, openLedgerSecret, sealLedgerSecret } from '../keys/ledger-seals.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { createServiceKeySeals } from '../keys/service-key-seals.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { earlierServiceKeys, resealServiceKeys } from '../postgres/access/service-key-rotation.ts'
import { createKeyWrapping, type KeyWrapping } from '../vault/key-wrapping.ts'
import { ATTESTATION_KEYS, countWrapped, DATA_KEYS, rewrapAll, type WrappedKeys } from '../vault/wrapped-keys.ts'

/** One kind of what the master key protects. */
interface Protected {
  readonly what: string
  /** Throws MasterKeyMissing. */
  readonly left: (sql: Sql) => Promise<number>
  /** Once over what is `left`; some may still be, where others were at work. Returns how many it changed. */
  readonly rotate: (sql: Sql, left: number, onBatch: (done: number) => void) => Promise<number>
}

/** Everything that the master key protects, in the order in which it is rotated (R3). */
function everything(masterKeys: KeyRing): readonly Protected[] {
  const wrapping = createKeyWrapping(masterKeys)
  return [
    ledgerSecret('shard_secret', 'shard-secret', 'sealed_shard_secret', masterKeys),
    ledgerSecret('root_secret', 'root-secret', 'sealed_root_secret', masterKeys),
    ledgerSecret('message_secret', 'message-secret', 'sealed_message_secret', masterKeys),
    serviceKeys(masterKeys),
    wrappedKeys('data_keys', DATA_KEYS, wrapping),
    wrappedKeys('attestation_keys', ATTESTATION_KEYS, wrapping),
    ledgerSecret('index_secret', 'index-secret', 'sealed_index_secret', masterKeys),
  ]
}

/** By kind: how many of it, in the order of the rotation. */
export type Counts = Readonly<Record<string, number>>

export interface RotationProgress {
  readonly what: string
  readonly done: number
  readonly of: number
}

export interface RotationOptions {
  readonly onProgress?: (progress: RotationProgress) => void
  /** Between two rounds over what others were at work on, or made meanwhile. */
  readonly pauseMs?: number
}

/** Keys come into being under an earlier master key while it runs (R4). */
export class RotationUnfinished extends Error {
  override readonly name = 'RotationUnfinished'
}

const MOST_ROUNDS = 20
const DEFAULT_PAUSE_MS = 500

/** What is not under the current master key. Throws MasterKeyMissing when something is under one that is not given. */
export async function countLeft(sql: Sql, masterKeys: KeyRing): Promise<Counts> {
  const counts: [string, number][] = []
  for (const kind of everything(masterKeys)) counts.push([kind.what, await kind.left(sql)])
  return Object.fromEntries(counts)
}

/** Returns how many of each were rotated. Throws MasterKeyMissing (R2) and RotationUnfinished. */
export async function rotateMasterKey(
  sql: Sql,
  masterKeys: KeyRing,
  { onProgress = () => undefined, pauseMs = DEFAULT_PAUSE_MS }: RotationOptions = {},
): Promise<Counts> {
  await countLeft(sql, masterKeys)
  const counts: [string, number][] = []
  for (const kind of everything(masterKeys))
    counts.push([kind.what, await untilNoneLeft(sql, kind, onProgress, pauseMs)])
  for (const [what, left] of Object.entries(await countLeft(sql, masterKeys))) {
    if (left > 0) throw new RotationUnfinished(unfinished(what, left))
  }
  return Object.fromEntries(counts)
}

async function untilNoneLeft(
  sql: Sql,
  { what, left, rotate }: Protected,
  onProgress: (progress: RotationProgress) => void,
  pauseMs: number,
): Promise<number> {
  let changed = 0
  for (let round = 1; ; round += 1) {
    const open = await left(sql)
    if (open === 0) return changed
    if (round > MOST_ROUNDS) throw new RotationUnfinished(unfinished(what, open))
    if (round > 1) await pause(pauseMs)
    const before = changed
    changed += await rotate(sql, open, (done) => onProgress({ what, done: before + done, of: before + open }))
  }
}

function unfinished(what: string, left: number): string {
  return `${left} of ${what} came under an earlier master key meanwhile: a part runs that was not given the new one`
}

function wrappedKeys(what: string, keys: WrappedKeys, wrapping: KeyWrapping): Protected {
  return {
    what,
    left: async (sql) => {
      let left = 0
      for (const [masterKeyId, count] of await countWrapped(sql, keys)) {
        if (!wrapping.knows(masterKeyId)) {
          throw new MasterKeyMissing(
            `${count} of ${what} are wrapped under master key ${masterKeyId}, which is not given`,
          )
        }
        if (masterKeyId !== wrapping.masterKeyId) left += count
      }
      return left
    },
    rotate: (sql, left, onBatch) => rewrapAll(sql, keys, wrapping, left, onBatch),
  }
}

function serviceKeys(masterKeys: KeyRing): Protected {
  const seals = createServiceKeySeals(masterKeys)
  return {
    what: 'service_keys',
    left: async (sql) => (await earlierServiceKeys(sql, seals)).length,
    rotate: (sql) => resealServiceKeys(sql, seals),
  }
}

type SealedColumn = 'sealed_shard_secret' | 'sealed_root_secret' | 'sealed_message_secret' | 'sealed_index_secret'

async function readSealed(sql: Sql, column: SealedColumn): Promise<Buffer> {
  const [row] = await sql<{ sealed: Buffer }[]>`SELECT ${sql(column)} AS sealed FROM ledger`
  if (row === undefined) throw new Error('the database has no ledger')
  return row.sealed
}

function ledgerSecret(what: string, name: LedgerSecretName, column: SealedColumn, masterKeys: KeyRing): Protected {
  return {
    what,
    left: async (sql) => (openLedgerSecret(masterKeys, name, await readSealed(sql, column)).under === 0 ? 0 : 1),
    rotate: async (sql) => {
      const before = await readSealed(sql, column)
      const { secret, under } = openLedgerSecret(masterKeys, name, before)
      if (under === 0) return 0
      const after = sealLedgerSecret(masterKeys, name, secret)
      const { count } = await sql`UPDATE ledger SET ${sql(column)} = ${after} WHERE ${sql(column)} = ${before}`
      return count
    },
  }
}
