/** How far the encryption of a ledger has come: all of it, none, or that of the shards below a number. */
import type postgres from 'postgres'

export interface EncryptionProgress {
  readonly stage: 'off' | 'converting' | 'on'
  /** While it is converting: shards below this number are encrypted, others are not. */
  readonly shards: number
}

/** Of `ledger`. */
export interface ProgressRow {
  readonly encryption: EncryptionProgress['stage']
  readonly encrypted_shards: number
}

export function progressOf({ encryption, encrypted_shards: shards }: ProgressRow): EncryptionProgress {
  return { stage: encryption, shards }
}

export async function readEncryption(sql: postgres.ISql): Promise<EncryptionProgress> {
  const [row] = await sql.unsafe<ProgressRow[]>('SELECT encryption, encrypted_shards FROM ledger')
  if (row === undefined) throw new Error('the database has no ledger')
  return progressOf(row)
}

const STAGES = ['off', 'converting', 'on'] as const

/** It never goes back: of two looks the one that saw more is the later one. */
export function furtherOf(one: EncryptionProgress, other: EncryptionProgress): EncryptionProgress {
  const [first, second] = [STAGES.indexOf(one.stage), STAGES.indexOf(other.stage)]
  if (first !== second) return first > second ? one : other
  return one.shards >= other.shards ? one : other
}
