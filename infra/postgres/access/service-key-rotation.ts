/** Reseals the service's keys when the master key is rotated. Changes a row by compare-and-set. */
import type postgres from 'postgres'
import { invariant } from '../../../actors/result.ts'
import type { ServiceKeySeals, ServicePublicKey } from '../../keys/service-key-seals.ts'
import { PRIVATE_KEY_TABLES, purposeOf } from './service-key-table.ts'

interface SealedRow {
  readonly key: ServicePublicKey
  readonly tag: Buffer
  readonly sealed: Buffer
  readonly secret: Buffer
}

/** Keys with a member that is not sealed under the current master key. Throws MasterKeyMissing. */
export async function earlierServiceKeys(sql: postgres.Sql, seals: ServiceKeySeals): Promise<readonly SealedRow[]> {
  const rows = await sql<
    { keyId: string; purpose: string; x: string; y: string; tag: Buffer; sealed: Buffer | null }[]
  >`
    SELECT k.key_id AS "keyId", k.purpose, k.x, k.y, k.tag, coalesce(n.sealed, e.sealed) AS sealed
      FROM service_keys k
      LEFT JOIN node_private_keys n ON n.key_id = k.key_id
      LEFT JOIN edge_private_keys e ON e.key_id = k.key_id`
  return rows.flatMap(({ tag, sealed, ...row }) => {
    invariant(sealed !== null, 'every service key has its private key')
    const key = { ...row, purpose: purposeOf(row.purpose) }
    const { secret, under } = seals.open(key, sealed)
    return under === 0 && seals.check(key, tag) === 0 ? [] : [{ key, tag, sealed, secret }]
  })
}

/** Reseals under the current master key. Returns the number of keys. Throws MasterKeyMissing. */
export async function resealServiceKeys(sql: postgres.Sql, seals: ServiceKeySeals): Promise<number> {
  let done = 0
  for (const { key, tag, sealed, secret } of await earlierServiceKeys(sql, seals)) {
    const { keyId } = key
    const after = seals.seal(key, secret)
    secret.fill(0)
    await sql`UPDATE service_keys SET tag = ${seals.tag(key)} WHERE key_id = ${keyId} AND tag = ${tag}`
    // Last, so that two concurrent rotations count a key once.
    const resealed = await sql`
      UPDATE ${sql(PRIVATE_KEY_TABLES[key.purpose])} SET sealed = ${after} WHERE key_id = ${keyId} AND sealed = ${sealed}`
    done += resealed.count
  }
  return done
}
