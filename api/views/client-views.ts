/** Clients as administrators see them, without secrets. */
import { showOwnRate } from '../../actors/rate.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { ClientRecord } from '../../runtime/ports/access-store.ts'
import type { ReadPublicKey } from '../../runtime/ports/public-keys.ts'

export function clientMembers(client: ClientRecord, readPublicKey: ReadPublicKey): object {
  const { clientId, publicKey, role, boundary, accounts, rate, createdAtMs, revokedAtMs } = client
  return {
    client_id: clientId,
    key_id: publicKey === null ? null : (readPublicKey(publicKey)?.keyId ?? null),
    role,
    boundary,
    accounts,
    rate: showOwnRate(rate),
    created_at: isoTimestamp(createdAtMs),
    revoked_at: revokedAtMs === null ? null : isoTimestamp(revokedAtMs),
  }
}
