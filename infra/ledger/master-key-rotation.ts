/**
 * Rotates the master key: rewraps and reseals all keys and secrets under the current one. Does not touch data.
 *   R1. Several processes may rotate at once, be interrupted and run again: each step changes a value only if it still
 *       equals the value that was read (W1).
 *   R2. Nothing changes while a key or secret is under a master key that is not given.
 *   R3. The shard secret is resealed first, the index secret last. Every part opens both at its start. So during the whole
 *       rotation a part with only one of the two keys fails at its start, not at the first unreadable row.
 *   R4. While the ledger runs, nodes and edges create keys under their own current master key. A part that does not have
 *       the new key keeps creating keys under the earlier one: then the rotation throws RotationUnfinished.
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

/** One kind of secret under the master key. */
interface SecretKind {
  readonly kind: string
  /** Throws MasterKeyMissing. */
  readonly left: (sql: Sql) => Promise<number>
  /** Returns the number of rotated secrets. Some may be left, if other processes changed them. */
  readonly rotate: (sql: Sql, left: number, onBatch: (done: number) => void) => Promise<number>
}

/** In the order of the rotation (R3). */
function secretKinds(masterKeys: KeyRing): readonly SecretKind[] {
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

/** Number of secrets by kind, in the order of the rotation. */
export type Counts = Readonly<Record<string, number>>

export interface RotationProgress {
  readonly kind: string
  readonly done: number
  readonly of: number
}

export interface RotationOptions {
  readonly onProgress?: (progress: RotationProgress) => void
  /** Between two rounds. */
  readonly pauseMs?: number
}

/** A running part creates keys under an earlier master key (R4). */
export class RotationUnfinished extends Error {
  override readonly name = 'RotationUnfinished'
}

const MOST_ROUNDS = 20
const DEFAULT_PAUSE_MS = 500

/** The number of secrets under an earlier master key. Throws MasterKeyMissing if one is under a key that is not given. */
export async function countLeft(sql: Sql, masterKeys: KeyRing): Promise<Counts> {
  const counts: [string, number][] = []
  for (const { kind, left } of secretKinds(masterKeys)) counts.push([kind, await left(sql)])
  return Object.fromEntries(counts)
}

/** Returns the number of rotated secrets. Throws MasterKeyMissing (R2) and RotationUnfinished. */
export async function rotateMasterKey(
  sql: Sql,
  masterKeys: KeyRing,
  { onProgress = () => undefined, pauseMs = DEFAULT_PAUSE_MS }: RotationOptions = {},
): Promise<Counts> {
  await countLeft(sql, masterKeys)
  const counts: [string, number][] = []
  for (const kind of secretKinds(masterKeys)) {
    counts.push([kind.kind, await untilNoneLeft(sql, kind, onProgress, pauseMs)])
  }
  for (const [kind, left] of Object.entries(await countLeft(sql, masterKeys))) {
    if (left > 0) throw new RotationUnfinished(unfinished(kind, left))
  }
  return Object.fromEntries(counts)
}

async function untilNoneLeft(
  sql: Sql,
  { kind, left, rotate }: SecretKind,
  onProgress: (progress: RotationProgress) => void,
  pauseMs: number,
): Promise<number> {
  let changed = 0
  for (let round = 1; ; round += 1) {
    const open = await left(sql)
    if (open === 0) return changed
    if (round > MOST_ROUNDS) throw new RotationUnfinished(unfinished(kind, open))
    if (round > 1) await pause(pauseMs)
    const before = changed
    changed += await rotate(sql, open, (done) => onProgress({ kind, done: before + done, of: before + open }))
  }
}

function unfinished(kind: string, left: number): string {
  return `${left} ${kind} were created under an earlier master key meanwhile: a running part does not have the new key`
}

function wrappedKeys(kind: string, keys: WrappedKeys, wrapping: KeyWrapping): SecretKind {
  return {
    kind,
    left: async (sql) => {
      let left = 0
      for (const [masterKeyId, count] of await countWrapped(sql, keys)) {
        if (!wrapping.knows(masterKeyId)) {
          throw new MasterKeyMissing(`${count} ${kind} are wrapped under master key ${masterKeyId}, which is not given`)
        }
        if (masterKeyId !== wrapping.masterKeyId) left += count
      }
      return left
    },
    rotate: (sql, left, onBatch) => rewrapAll(sql, keys, wrapping, left, onBatch),
  }
}

function serviceKeys(masterKeys: KeyRing): SecretKind {
  const seals = createServiceKeySeals(masterKeys)
  return {
    kind: 'service_keys',
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

function ledgerSecret(kind: string, name: LedgerSecretName, column: SealedColumn, masterKeys: KeyRing): SecretKind {
  return {
    kind,
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
