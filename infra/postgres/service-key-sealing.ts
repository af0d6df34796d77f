/** The private parts of the service's signing keys at rest: PKCS #8 (DER), sealed under the master key for their own row. */
import type postgres from 'postgres'
import type { MasterSeal } from '../keys/master-seal.ts'
import type { SealingContext } from '../keys/sealing.ts'

export function serviceKeyContext(purpose: string, keyId: string): SealingContext {
  return ['service-key', purpose, keyId]
}

export interface SealedServiceKey {
  readonly key_id: string
  readonly purpose: string
  readonly sealed_private_key: Buffer
}

/** Those that are not sealed under the current master key, with what was sealed. Throws MasterKeyMissing. */
export async function earlierServiceKeys(
  sql: postgres.Sql,
  sealing: MasterSeal,
): Promise<readonly (SealedServiceKey & { readonly secret: Buffer })[]> {
  const rows = await sql<SealedServiceKey[]>`SELECT key_id, purpose, sealed_private_key FROM service_keys`
  return rows.flatMap((row) => {
    const { secret, under } = sealing.open(serviceKeyContext(row.purpose, row.key_id), row.sealed_private_key)
    return under === 0 ? [] : [{ ...row, secret }]
  })
}

/** Under the current master key. Returns how many. Throws MasterKeyMissing. */
export async function resealServiceKeys(sql: postgres.Sql, sealing: MasterSeal): Promise<number> {
  let done = 0
  for (const { key_id: keyId, purpose, sealed_private_key: before, secret } of await earlierServiceKeys(sql, sealing)) {
    const after = sealing.seal(serviceKeyContext(purpose, keyId), secret)
    secret.fill(0)
    const changed = await sql`
      UPDATE service_keys SET sealed_private_key = ${after} WHERE key_id = ${keyId} AND sealed_private_key = ${before}`
    done += changed.count
  }
  return done
}
