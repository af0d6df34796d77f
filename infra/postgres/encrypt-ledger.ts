/**
 * Turns a ledger without encryption into one with it, while it runs: shard after shard, then what belongs to none.
 *   G1. It may be cut short at any moment and run again: a shard is encrypted whole or not at all, in order, and the next
 *       run goes on after the last that was.
 *   G2. One at a time: whoever runs holds a lock.
 *   G3. Every part of the ledger looks often whether the encryption has begun. Nothing is sealed before they had the time.
 */
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { invariant } from '../../actors/result.ts'
import { createDataKeys } from '../vault/data-keys.ts'
import { readEncryption } from '../vault/encryption-progress.ts'
import { createFirstKeys } from '../vault/first-keys.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import { createRowVault } from '../vault/row-vault.ts'
import type { Sql } from './connection.ts'
import { encryptRest, refusePlainRows } from './encrypt-rest.ts'
import type { EncryptionKeys } from './encrypt-sealer.ts'
import { encryptShard } from './encrypt-shard.ts'

export interface EncryptionOptions extends EncryptionKeys {
  readonly shardCount: number
  /** As the secret of a ledger that is encrypted. */
  readonly sealIndexSecret: (secret: Buffer) => Buffer
  readonly onProgress?: (progress: { readonly shards: number; readonly of: number; readonly rows: number }) => void
  /** G3, milliseconds. */
  readonly noticeMs?: number
}

/** The connection must have a `lock_timeout`. */
export const ENCRYPTION_SETTINGS = { lock_timeout: '5s' }

/** Another process is encrypting the ledger. */
export class EncryptionUnderWay extends Error {
  override readonly name = 'EncryptionUnderWay'
}

/** 'ledger encryption' in a key of 64 bits that no session's hash is made from. */
const LOCK = '7810198402634810716'
/** Of what looks every second (follow-encryption.ts). */
const DEFAULT_NOTICE_MS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'
const LOCK_TRIES = 20

/** Returns how many rows were sealed; undefined: it is encrypted already. Throws EncryptionUnderWay. */
export async function encryptLedger(sql: Sql, options: EncryptionOptions): Promise<number | undefined> {
  const { shardCount, wrapping, onProgress, noticeMs = DEFAULT_NOTICE_MS } = options
  const [lock] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${LOCK}::bigint) AS taken`
  if (lock?.taken !== true) throw new EncryptionUnderWay('another process is encrypting this ledger')
  const found = await readEncryption(sql)
  if (found.stage === 'on') return undefined
  await sql.begin(async (transaction) => {
    await createFirstKeys(transaction, wrapping, shardCount)
    await transaction`UPDATE ledger SET encryption = 'converting' WHERE encryption = 'off'`
  })
  if (found.shards === 0) await pause(noticeMs)
  let rows = 0
  for (let shardId = found.shards; shardId < shardCount; shardId += 1) {
    let ofShard = 0
    const tell = (count: number): void => {
      ofShard += count
      onProgress?.({ shards: shardId, of: shardCount, rows: rows + ofShard })
    }
    await withLock(() => {
      ofShard = 0
      return encryptShard(sql, shardId, options, tell)
    })
    rows += ofShard
  }
  onProgress?.({ shards: shardCount, of: shardCount, rows })
  return rows + (await encryptBeyondShards(sql, options))
}

async function encryptBeyondShards(
  sql: Sql,
  { wrapping, indexSecret, sealIndexSecret }: EncryptionOptions,
): Promise<number> {
  const vault = createRowVault(createDataKeys(wrapping), indexSecret)
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  const rows = await encryptRest(sql, vault)
  return withLock(() =>
    sql.begin(async (transaction) => {
      await transaction`LOCK TABLE attestations, clients, audit_progress IN SHARE ROW EXCLUSIVE MODE`
      const late = await encryptRest(transaction, vault)
      await refusePlainRows(transaction)
      const { count } = await transaction`
        UPDATE ledger SET encryption = 'on', sealed_index_secret = ${sealIndexSecret(indexSecret)}
         WHERE encryption = 'converting'`
      invariant(count === 1, 'the ledger is being encrypted')
      return rows + late
    }),
  )
}

/** Nothing has changed where a lock was not there in time. */
async function withLock<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const locked = error instanceof postgres.PostgresError && error.code === LOCK_NOT_AVAILABLE
      if (!locked || tries === LOCK_TRIES) throw error
    }
  }
}
